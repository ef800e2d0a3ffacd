//! Who asks, and what it may do.

use std::net::IpAddr;

use klamm_metadata::{Action, Authorizer, AuthorizerConfig, Image, Operation, ResourceType};

/// The principal of everybody on a listener without authentication.
const ANONYMOUS: &str = "User:ANONYMOUS";

/// Who asks, for authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// The principal, as `User:alice`.
    pub(crate) principal: String,
    /// The address that the client has.
    pub(crate) host: IpAddr,
    /// Whether a delegation token is all that it has shown.
    pub(crate) by_token: bool,
}

impl Client {
    /// A client of a listener that asks nobody who it is.
    pub(crate) fn anonymous(host: IpAddr) -> Self {
        Self {
            principal: ANONYMOUS.into(),
            host,
            by_token: false,
        }
    }
}

/// Whether a client may do something, where there is an authorizer at all.
pub(crate) fn allows(
    image: &Image,
    authorizer: Option<&AuthorizerConfig>,
    client: &Client,
    operation: Operation,
    kind: ResourceType,
    name: &str,
) -> bool {
    let action = Action {
        principal: &client.principal,
        host: client.host,
        operation,
        resource_type: kind,
        resource_name: name,
    };
    Authorizer::new(image.acls(), authorizer).allows(&action)
}
