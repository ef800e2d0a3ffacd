//! Access control lists, and what they allow: the rules of Apache Kafka's `StandardAuthorizer`.

use core::net::IpAddr;
use std::collections::{BTreeMap, BTreeSet};

use klamm_protocol::Uuid;
use klamm_protocol::data::metadata::{AccessControlEntryRecord, RemoveAccessControlEntryRecord};

use crate::{ApplyError, Record};

mod authorizer;
mod filter;
#[cfg(test)]
mod tests;

pub use authorizer::Authorizer;
pub use filter::{AclFilter, UnknownFilter, WireFilter};

macro_rules! codes {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $code:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant = $code,)+
        }

        impl $name {
            /// The code on the wire.
            pub fn from_wire(code: i8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The code on the wire.
            pub fn to_wire(self) -> i8 {
                self as i8
            }
        }
    };
}

codes! {
    /// The kind of a resource that ACLs protect.
    ResourceType {
        /// A topic.
        Topic = 2,
        /// A group.
        Group = 3,
        /// The cluster.
        Cluster = 4,
        /// A transactional id.
        TransactionalId = 5,
        /// A delegation token.
        DelegationToken = 6,
        /// A user, for tokens of others.
        User = 7,
    }
}

codes! {
    /// How an ACL's resource name is compared.
    PatternType {
        /// The name itself, or `*` for every name.
        Literal = 3,
        /// Every name that begins with it.
        Prefixed = 4,
    }
}

codes! {
    /// What is done to a resource.
    Operation {
        /// Everything; in ACLs only.
        All = 2,
        /// Read.
        Read = 3,
        /// Write.
        Write = 4,
        /// Create.
        Create = 5,
        /// Delete.
        Delete = 6,
        /// Alter.
        Alter = 7,
        /// Describe.
        Describe = 8,
        /// What brokers ask of each other.
        ClusterAction = 9,
        /// Read configs.
        DescribeConfigs = 10,
        /// Change configs.
        AlterConfigs = 11,
        /// Write with a producer id.
        IdempotentWrite = 12,
        /// Make a token for another user.
        CreateTokens = 13,
        /// See another user's tokens.
        DescribeTokens = 14,
        /// Take part in two-phase commit.
        TwoPhaseCommit = 15,
    }
}

codes! {
    /// Whether an ACL allows or denies.
    Permission {
        /// Denies, whatever others allow.
        Deny = 2,
        /// Allows.
        Allow = 3,
    }
}

/// The name of the cluster as a resource.
pub const CLUSTER_NAME: &str = "kafka-cluster";

const WILDCARD: &str = "*";
const WILDCARD_PRINCIPAL: &str = "User:*";

/// An access control entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Acl {
    /// The kind of resource.
    pub resource_type: ResourceType,
    /// The resource's name, a prefix of it, or `*`.
    pub resource_name: Box<str>,
    /// How the name is compared.
    pub pattern: PatternType,
    /// Whom it is about, such as `User:alice`; `User:*` is everybody.
    pub principal: Box<str>,
    /// The address it is about, a range of addresses such as `10.0.0.0/8`, or `*`.
    pub host: Box<str>,
    /// What it is about.
    pub operation: Operation,
    /// Whether it allows or denies.
    pub permission: Permission,
}

/// Who asks for what.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// The client's principal, such as `User:alice`.
    pub principal: &'a str,
    /// The client's address.
    pub host: IpAddr,
    /// What it wants to do.
    pub operation: Operation,
    /// The kind of resource.
    pub resource_type: ResourceType,
    /// The resource's name.
    pub resource_name: &'a str,
}

/// What holds beside the ACLs: keys of the node's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthorizerConfig {
    /// `super.users`: principals that may do everything.
    pub super_users: BTreeSet<String>,
    /// `allow.everyone.if.no.acl.found`: whether a resource that no ACL is about is open to all.
    pub allow_everyone_if_no_acl_found: bool,
}

/// The ACLs of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acls {
    by_id: BTreeMap<Uuid, Acl>,
    by_pattern: BTreeMap<(ResourceType, PatternType, Box<str>), BTreeSet<Uuid>>,
}

impl Acls {
    /// The ACL with this id.
    pub fn by_id(&self, id: Uuid) -> Option<&Acl> {
        self.by_id.get(&id)
    }

    /// Every ACL with its id, in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (Uuid, &Acl)> {
        self.by_id.iter().map(|(id, acl)| (*id, acl))
    }

    /// Whether the action is allowed: super users may do everything; an ACL that denies wins over
    /// those that allow; where no ACL is about the resource, the configuration decides.
    pub fn allow(&self, action: &Action<'_>, config: &AuthorizerConfig) -> bool {
        if config.super_users.contains(action.principal) {
            return true;
        }
        let mut is_about_resource = false;
        let mut allowed = false;
        for acl in self.about(action.resource_type, action.resource_name) {
            is_about_resource = true;
            if acl.matches(action) {
                match acl.permission {
                    Permission::Deny => return false,
                    Permission::Allow => allowed = true,
                }
            }
        }
        allowed || !is_about_resource && config.allow_everyone_if_no_acl_found
    }

    /// The ACLs whose pattern matches a resource.
    fn about(&self, kind: ResourceType, name: &str) -> impl Iterator<Item = &Acl> {
        let literal = |name: &str| (kind, PatternType::Literal, Box::from(name));
        let mut sets = Vec::new();
        sets.extend(self.by_pattern.get(&literal(name)));
        if name != WILDCARD {
            sets.extend(self.by_pattern.get(&literal(WILDCARD)));
        }
        // Prefixes of the name sort before it, longer ones later. From the name on backwards, the
        // next pattern is a prefix, or no pattern longer than what it shares with the name is one.
        let mut end = name;
        loop {
            let last = (kind, PatternType::Prefixed, Box::from(end));
            let mut before = self.by_pattern.range(..=last).rev();
            let Some(((next_kind, PatternType::Prefixed, prefix), set)) = before.next() else {
                break;
            };
            if *next_kind != kind {
                break;
            }
            let shared = shared_prefix(end, prefix);
            if shared == prefix.len() {
                sets.push(set);
                // The empty prefix is the last one.
                let Some((shorter, _)) = prefix.char_indices().next_back() else {
                    break;
                };
                end = &end[..shorter];
            } else {
                end = &end[..shared];
            }
        }
        sets.into_iter()
            .flatten()
            .filter_map(|id| self.by_id.get(id))
    }

    pub(crate) fn add(&mut self, record: &AccessControlEntryRecord) -> Result<(), ApplyError> {
        let acl = Acl::from_record(record).ok_or(ApplyError::UnknownAclCode(record.id))?;
        if let Some(old) = self.by_id.insert(record.id, acl.clone()) {
            self.forget(&old, record.id);
        }
        self.by_pattern
            .entry(acl.key())
            .or_default()
            .insert(record.id);
        Ok(())
    }

    pub(crate) fn remove(
        &mut self,
        record: &RemoveAccessControlEntryRecord,
    ) -> Result<(), ApplyError> {
        let acl = self
            .by_id
            .remove(&record.id)
            .ok_or(ApplyError::UnknownAcl(record.id))?;
        self.forget(&acl, record.id);
        Ok(())
    }

    fn forget(&mut self, acl: &Acl, id: Uuid) {
        let key = acl.key();
        if let Some(ids) = self.by_pattern.get_mut(&key) {
            ids.remove(&id);
            if ids.is_empty() {
                self.by_pattern.remove(&key);
            }
        }
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.iter().map(|(id, acl)| acl.to_record(id).into())
    }
}

impl Acl {
    fn key(&self) -> (ResourceType, PatternType, Box<str>) {
        (self.resource_type, self.pattern, self.resource_name.clone())
    }

    fn from_record(record: &AccessControlEntryRecord) -> Option<Self> {
        Some(Self {
            resource_type: ResourceType::from_wire(record.resource_type)?,
            resource_name: Box::from(&*record.resource_name),
            pattern: PatternType::from_wire(record.pattern_type)?,
            principal: Box::from(&*record.principal),
            host: Box::from(&*record.host),
            operation: Operation::from_wire(record.operation)?,
            permission: Permission::from_wire(record.permission_type)?,
        })
    }

    /// The record that adds this ACL under an id.
    pub fn to_record(&self, id: Uuid) -> AccessControlEntryRecord {
        AccessControlEntryRecord {
            id,
            resource_type: self.resource_type.to_wire(),
            resource_name: (&*self.resource_name).into(),
            pattern_type: self.pattern.to_wire(),
            principal: (&*self.principal).into(),
            host: (&*self.host).into(),
            operation: self.operation.to_wire(),
            permission_type: self.permission.to_wire(),
            ..Default::default()
        }
    }

    /// Whether it is about the client and the operation; its resource is known to match.
    fn matches(&self, action: &Action<'_>) -> bool {
        let principal = &*self.principal;
        (principal == WILDCARD_PRINCIPAL || principal == action.principal)
            && is_host(&self.host, action.host)
            && self.is_operation(action.operation)
    }

    /// Who may read, write, delete or alter may describe; who may alter configs may see them. Only
    /// what allows implies more than it says.
    fn is_operation(&self, wanted: Operation) -> bool {
        use Operation::*;
        if self.operation == All || self.operation == wanted {
            return true;
        }
        self.permission == Permission::Allow
            && match wanted {
                Describe => matches!(self.operation, Read | Write | Delete | Alter),
                DescribeConfigs => self.operation == AlterConfigs,
                _ => false,
            }
    }
}

fn is_host(host: &str, client: IpAddr) -> bool {
    host == WILDCARD
        || host.parse() == Ok(client)
        || host
            .split_once('/')
            .is_some_and(|(network, len)| is_in_range(network, len, client))
}

fn is_in_range(network: &str, len: &str, client: IpAddr) -> bool {
    let (Ok(network), Ok(len)) = (network.parse(), len.parse::<u32>()) else {
        return false;
    };
    let (network, client, bits) = match (network, client) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    // A shift by all 128 bits is none: everything is in a range of length 0.
    len <= bits && (network ^ client).checked_shr(bits - len).unwrap_or(0) == 0
}

/// How many bytes two texts begin with in common, up to the border of a character.
fn shared_prefix(a: &str, b: &str) -> usize {
    let pairs = a.char_indices().zip(b.chars());
    let differs = pairs.into_iter().find(|((_, a), b)| a != b);
    differs.map_or(a.len().min(b.len()), |((at, _), _)| at)
}
