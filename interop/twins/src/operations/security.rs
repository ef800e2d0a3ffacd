//! Who may do what, and how much.

use bytes::Bytes;
use fastrand::Rng;
use klamm_protocol::messages::alter_client_quotas::{
    AlterClientQuotasRequest, OpData, RequestEntityData, RequestEntryData,
};
use klamm_protocol::messages::alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, ScramCredentialDeletion, ScramCredentialUpsertion,
};
use klamm_protocol::messages::create_acls::{AclCreation, CreateAclsRequest};
use klamm_protocol::messages::delete_acls::{DeleteAclsFilter, DeleteAclsRequest};
use klamm_protocol::messages::describe_acls::DescribeAclsRequest;

use super::{How, Operation, TOPICS, once_in, pick};
use crate::acls::ANY;
use crate::side::Side;
use crate::wire::Said;

const TOPIC: i8 = 2;
const CLUSTER: i8 = 4;

#[derive(Clone, Debug)]
struct Acl {
    kind: i8,
    name: &'static str,
    pattern: i8,
    principal: &'static str,
    host: &'static str,
    operation: i8,
    permission: i8,
}

fn acl(rng: &mut Rng) -> Acl {
    let (kind, name) = match rng.u8(..10) {
        0..5 => (CLUSTER, "kafka-cluster"),
        9 => (
            pick(rng, &[3, 5, 6, 7, CLUSTER]),
            pick(rng, &["x", "*", ""]),
        ),
        _ => (
            TOPIC,
            if once_in(rng, 4) {
                "*"
            } else {
                pick(rng, &TOPICS)
            },
        ),
    };
    Acl {
        kind,
        name,
        pattern: if once_in(rng, 6) { 4 } else { 3 },
        principal: pick(rng, &["User:alice", "User:bob", "User:*", "User:carol"]),
        host: pick(rng, &["*", "*", "127.0.0.1", "10.0.0.1"]),
        // From ALL to DESCRIBE_TOKENS; wrong ones are in the table of differences.
        operation: rng.i8(2..=14),
        permission: if once_in(rng, 4) { 2 } else { 3 },
    }
}

#[derive(Debug)]
struct CreateAcls(Vec<Acl>);
#[derive(Debug)]
struct DeleteAcls(Acl);
#[derive(Debug)]
struct DescribeAcls(Acl);

pub(super) fn acls(rng: &mut Rng) -> Box<dyn Operation> {
    let mut filter = acl(rng);
    for part in [&mut filter.operation, &mut filter.kind, &mut filter.pattern] {
        if rng.bool() {
            *part = ANY;
        }
    }
    if rng.bool() {
        filter.permission = ANY;
    }
    match rng.u8(..5) {
        0..3 => {
            let count = rng.u8(1..=3);
            Box::new(CreateAcls((0..count).map(|_| acl(rng)).collect()))
        }
        3 => Box::new(DeleteAcls(filter)),
        _ => Box::new(DescribeAcls(filter)),
    }
}

impl Operation for CreateAcls {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let creations = self.0.iter().map(|acl| AclCreation {
            resource_type: acl.kind,
            resource_name: acl.name.into(),
            resource_pattern_type: acl.pattern,
            principal: acl.principal.into(),
            host: acl.host.into(),
            operation: acl.operation,
            permission_type: acl.permission,
            ..Default::default()
        });
        let request = CreateAclsRequest {
            creations: creations.collect(),
            ..Default::default()
        };
        side.ask(how, &request)
    }
}

/// A filter means any with a text that is empty.
fn or_any(text: &'static str) -> Option<klamm_protocol::SmallString> {
    Some(text).filter(|text| !text.is_empty()).map(Into::into)
}

impl Operation for DeleteAcls {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let Self(acl) = self;
        let request = DeleteAclsRequest {
            filters: vec![DeleteAclsFilter {
                resource_type_filter: acl.kind,
                resource_name_filter: or_any(acl.name),
                pattern_type_filter: acl.pattern,
                principal_filter: or_any(acl.principal),
                host_filter: or_any(acl.host),
                operation: acl.operation,
                permission_type: acl.permission,
                ..Default::default()
            }],
            ..Default::default()
        };
        side.ask(how, &request)
    }
}

impl Operation for DescribeAcls {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let Self(acl) = self;
        let request = DescribeAclsRequest {
            resource_type_filter: acl.kind,
            resource_name_filter: or_any(acl.name),
            pattern_type_filter: acl.pattern,
            principal_filter: or_any(acl.principal),
            host_filter: or_any(acl.host),
            operation: acl.operation,
            permission_type: acl.permission,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}

#[derive(Debug)]
struct Quotas {
    entity: Vec<(&'static str, Option<&'static str>)>,
    key: &'static str,
    value: f64,
    remove: bool,
    validate_only: bool,
}

pub(super) fn quotas(rng: &mut Rng) -> Box<dyn Operation> {
    let name = pick(rng, &[Some("alice"), Some("bob"), None]);
    let entity = match rng.u8(..5) {
        0 => vec![("user", name), ("client-id", Some("c"))],
        1 => vec![("ip", Some("10.0.0.1"))],
        2 => vec![("client-id", name)],
        3 if once_in(rng, 4) => vec![("nothing", name)],
        _ => vec![("user", name)],
    };
    let keys = [
        "producer_byte_rate",
        "request_percentage",
        "connection_creation_rate",
    ];
    Box::new(Quotas {
        entity,
        key: if once_in(rng, 15) {
            "x"
        } else {
            pick(rng, &keys)
        },
        value: pick(rng, &[1.0, 1.5, 1024.0, -1.0, 0.0]),
        remove: rng.bool(),
        validate_only: once_in(rng, 6),
    })
}

impl Operation for Quotas {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let entity = self.entity.iter().map(|(kind, name)| RequestEntityData {
            entity_type: (*kind).into(),
            entity_name: name.map(Into::into),
            ..Default::default()
        });
        let request = AlterClientQuotasRequest {
            entries: vec![RequestEntryData {
                entity: entity.collect(),
                ops: vec![OpData {
                    key: self.key.into(),
                    value: self.value,
                    remove: self.remove,
                    ..Default::default()
                }],
                ..Default::default()
            }],
            validate_only: self.validate_only,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}

#[derive(Debug)]
struct Scram {
    user: &'static str,
    mechanism: i8,
    iterations: i32,
    delete: bool,
    also_upsert: bool,
}

pub(super) fn scram(rng: &mut Rng) -> Box<dyn Operation> {
    let delete = rng.bool();
    Box::new(Scram {
        user: pick(rng, &["alice", "bob", ""]),
        mechanism: rng.i8(0..=3),
        iterations: pick(rng, &[4096, 8192, 4095, 20_000]),
        delete,
        also_upsert: !delete || once_in(rng, 8),
    })
}

impl Operation for Scram {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let deletion = self.delete.then(|| ScramCredentialDeletion {
            name: self.user.into(),
            mechanism: self.mechanism,
            ..Default::default()
        });
        let upsertion = self.also_upsert.then(|| ScramCredentialUpsertion {
            name: self.user.into(),
            mechanism: self.mechanism,
            iterations: self.iterations,
            salt: Bytes::from_static(b"salt"),
            salted_password: Bytes::from_static(&[7; 32]),
            ..Default::default()
        });
        let request = AlterUserScramCredentialsRequest {
            deletions: deletion.into_iter().collect(),
            upsertions: upsertion.into_iter().collect(),
            ..Default::default()
        };
        side.ask(how, &request)
    }
}
