use super::{Acl, Operation, PatternType, Permission, ResourceType, WILDCARD};

/// The code that stands for everything in a filter.
const ANY: i8 = 1;
/// The code of patterns that match a name.
const MATCH: i8 = 2;

/// Which ACLs a client means. `None` means every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclFilter<'a> {
    resource_type: Option<ResourceType>,
    resource_name: Option<&'a str>,
    pattern: PatternFilter,
    principal: Option<&'a str>,
    host: Option<&'a str>,
    operation: Option<Operation>,
    permission: Option<Permission>,
}

/// How a filter's resource name is compared with that of an ACL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternFilter {
    /// Both are the same, whatever the pattern.
    Any,
    /// The ACL is about the resource with the filter's name.
    Match,
    /// Both are the same, and the pattern is this one.
    Only(PatternType),
}

/// The part of a filter that has a code which nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownFilter {
    /// What it says of resources.
    Pattern,
    /// What it says of clients and operations.
    Entry,
}

/// A filter as it is on the wire.
#[derive(Clone, Copy, Debug)]
pub struct WireFilter<'a> {
    /// The kind of resource, or 1 for any.
    pub resource_type: i8,
    /// The resource's name.
    pub resource_name: Option<&'a str>,
    /// The kind of pattern, or 1 for any, or 2 for those that match the name.
    pub pattern_type: i8,
    /// Whom it is about.
    pub principal: Option<&'a str>,
    /// The host that it is about.
    pub host: Option<&'a str>,
    /// The operation, or 1 for any.
    pub operation: i8,
    /// Whether it allows or denies, or 1 for any.
    pub permission: i8,
}

impl<'a> AclFilter<'a> {
    /// Reads a filter.
    pub fn from_wire(wire: WireFilter<'a>) -> Result<Self, UnknownFilter> {
        let resource_type = any_or(wire.resource_type, ResourceType::from_wire);
        let pattern = match wire.pattern_type {
            ANY => Some(PatternFilter::Any),
            MATCH => Some(PatternFilter::Match),
            code => PatternType::from_wire(code).map(PatternFilter::Only),
        };
        let (Some(resource_type), Some(pattern)) = (resource_type, pattern) else {
            return Err(UnknownFilter::Pattern);
        };
        let operation = any_or(wire.operation, Operation::from_wire);
        let permission = any_or(wire.permission, Permission::from_wire);
        let (Some(operation), Some(permission)) = (operation, permission) else {
            return Err(UnknownFilter::Entry);
        };
        Ok(Self {
            resource_type,
            resource_name: wire.resource_name,
            pattern,
            principal: wire.principal,
            host: wire.host,
            operation,
            permission,
        })
    }

    /// Whether the client means an ACL.
    pub fn matches(&self, acl: &Acl) -> bool {
        self.resource_type
            .is_none_or(|kind| kind == acl.resource_type)
            && self.matches_pattern(acl)
            && self
                .principal
                .is_none_or(|principal| *principal == *acl.principal)
            && self.host.is_none_or(|host| *host == *acl.host)
            && self
                .operation
                .is_none_or(|operation| operation == acl.operation)
            && self
                .permission
                .is_none_or(|permission| permission == acl.permission)
    }

    fn matches_pattern(&self, acl: &Acl) -> bool {
        let is_same = self
            .resource_name
            .is_none_or(|name| *name == *acl.resource_name);
        match self.pattern {
            PatternFilter::Any => is_same,
            PatternFilter::Only(pattern) => pattern == acl.pattern && is_same,
            PatternFilter::Match => self.resource_name.is_none_or(|name| match acl.pattern {
                PatternType::Literal => is_same || *acl.resource_name == *WILDCARD,
                PatternType::Prefixed => name.starts_with(&*acl.resource_name),
            }),
        }
    }
}

fn any_or<T>(code: i8, known: impl Fn(i8) -> Option<T>) -> Option<Option<T>> {
    match code {
        ANY => Some(None),
        code => known(code).map(Some),
    }
}
