use super::{Acls, Action, AuthorizerConfig};

/// Who may do what, as one node decides it: by the cluster's ACLs and the node's configuration.
#[derive(Clone, Copy, Debug)]
pub struct Authorizer<'a> {
    acls: &'a Acls,
    config: Option<&'a AuthorizerConfig>,
}

impl<'a> Authorizer<'a> {
    /// An authorizer; a node that has no configuration for one lets everybody do everything.
    pub fn new(acls: &'a Acls, config: Option<&'a AuthorizerConfig>) -> Self {
        Self { acls, config }
    }

    /// Whether there is one: ACLs are made and looked at only where they are of use.
    pub fn is_enabled(&self) -> bool {
        self.config.is_some()
    }

    /// Whether an action is allowed.
    pub fn allows(&self, action: &Action<'_>) -> bool {
        self.config
            .is_none_or(|config| self.acls.allow(action, config))
    }
}
