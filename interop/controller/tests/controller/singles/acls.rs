//! ACLs.

use std::collections::BTreeSet;

use fastrand::Rng;
use klamm_controller::{ControllerConfig, CreateAcls, DeleteAcls, View};
use klamm_java_peer::{Value, json};
use klamm_metadata::{Image, Record};
use klamm_protocol::Uuid;
use klamm_protocol::data::metadata::AccessControlEntryRecord;
use klamm_protocol::messages::{create_acls, delete_acls};

use super::{Asked, apply, choice, text};

fn random_acl(rng: &mut Rng) -> AccessControlEntryRecord {
    AccessControlEntryRecord {
        id: Uuid::from_bytes([rng.u8(1..=255); 16]),
        resource_type: choice(rng, &[2, 2, 3]),
        resource_name: choice(rng, &["t", "te", "team", "*"]).into(),
        pattern_type: choice(rng, &[3, 4]),
        principal: choice(rng, &["User:alice", "User:bob", "User:*"]).into(),
        host: choice(rng, &["*", "1.2.3.4", "10.0.0.0/8"]).into(),
        operation: choice(rng, &[2, 3, 4]),
        permission_type: choice(rng, &[2, 3]),
        ..Default::default()
    }
}

/// A few ACLs, each with an id of its own.
fn stored_acls(rng: &mut Rng, image: &mut Image) -> Vec<Value> {
    let mut ids = BTreeSet::new();
    let acls: Vec<_> = (0..rng.usize(..12)).map(|_| random_acl(rng)).collect();
    let mut stored = Vec::new();
    let mut known = BTreeSet::new();
    for acl in acls {
        let said = said_acl(&acl);
        let mut without_id = said.clone();
        without_id.as_object_mut().unwrap().remove("id");
        if ids.insert(acl.id) && known.insert(without_id.to_string()) {
            stored.push(json!([18, said]));
            apply(image, acl);
        }
    }
    stored
}

fn said_acl(record: &AccessControlEntryRecord) -> Value {
    json!({
        "id": record.id.to_string(), "resourceType": record.resource_type,
        "resourceName": record.resource_name.to_string(), "patternType": record.pattern_type,
        "principal": record.principal.to_string(), "host": record.host.to_string(),
        "operation": record.operation, "permissionType": record.permission_type,
    })
}

pub(super) fn created_acls(rng: &mut Rng, image: &mut Image, config: &ControllerConfig) -> Asked {
    let stored = stored_acls(rng, image);
    let creations = (0..rng.usize(1..4)).map(|_| {
        let acl = random_acl(rng);
        let mut creation = create_acls::AclCreation {
            resource_type: acl.resource_type,
            resource_name: acl.resource_name,
            resource_pattern_type: acl.pattern_type,
            principal: acl.principal,
            host: acl.host,
            operation: acl.operation,
            permission_type: acl.permission_type,
            ..Default::default()
        };
        match rng.u8(..12) {
            0 => creation.resource_type = 0,
            1 => creation.operation = 99,
            2 => creation.permission_type = 0,
            3 => creation.principal = choice(rng, &["alice", "", ":"]).into(),
            4 => {
                let hosts = ["", "10.0.0.0/33", "x/8", "::/129", "::1/64", "1.2.3.4/"];
                creation.host = choice(rng, &hosts).into();
            }
            5 => creation.resource_pattern_type = 0,
            _ => {}
        }
        creation
    });
    let request = create_acls::CreateAclsRequest {
        creations: creations.collect(),
        ..Default::default()
    };
    let asked = CreateAcls {
        request: &request,
        is_enabled: true,
    };
    let view = View::new(image, config).unwrap();
    let decision = asked.decide(&view, || Uuid::from_bytes(rng.u128(..).to_be_bytes()));
    let results = decision.response.results.iter();
    let results = results.map(|result| {
        // No error is an empty text on the wire, and none in Apache Kafka's own classes.
        let said = text(&result.error_message).filter(|_| result.error_code != 0);
        json!([result.error_code, said])
    });
    let records = decision.records.iter().map(|record| match record {
        Record::AccessControlEntry(record) => said_acl(record),
        other => panic!("{other:?}"),
    });
    let creations = request.creations.iter().map(|creation| {
        json!({
            "resourceType": creation.resource_type,
            "resourceName": creation.resource_name.to_string(),
            "resourcePatternType": creation.resource_pattern_type,
            "principal": creation.principal.to_string(), "host": creation.host.to_string(),
            "operation": creation.operation, "permissionType": creation.permission_type,
        })
    });
    let asked = json!({ "creations": creations.collect::<Vec<_>>() });
    Asked {
        what: "create_acls",
        stored,
        request: asked,
        results: results.collect(),
        records: records.collect(),
    }
}

pub(super) fn deleted_acls(rng: &mut Rng, image: &mut Image, config: &ControllerConfig) -> Asked {
    let stored = stored_acls(rng, image);
    let filters = (0..rng.usize(1..4)).map(|_| {
        let of = |rng: &mut Rng, names: &[&str]| rng.bool().then(|| choice(rng, names).into());
        delete_acls::DeleteAclsFilter {
            resource_type_filter: choice(rng, &[1, 2, 3]),
            resource_name_filter: of(rng, &["t", "team", "team-a", "*"]),
            pattern_type_filter: rng.i8(1..5),
            principal_filter: of(rng, &["User:alice", "User:*"]),
            host_filter: of(rng, &["*", "1.2.3.4"]),
            operation: choice(rng, &[1, 1, 2, 3]),
            permission_type: choice(rng, &[1, 1, 2]),
            ..Default::default()
        }
    });
    let request = delete_acls::DeleteAclsRequest {
        filters: filters.collect(),
        ..Default::default()
    };
    let asked = DeleteAcls {
        request: &request,
        is_enabled: true,
    };
    let decision = asked.decide(&View::new(image, config).unwrap());
    let results = decision.response.filter_results.iter();
    let results = results.map(|result| Value::from(result.matching_acls.len()));
    // Both name the ACLs to remove by the ids that they had.
    let records = decision.records.iter().map(|record| match record {
        Record::RemoveAccessControlEntry(_) => json!({}),
        other => panic!("{other:?}"),
    });
    let filters = request.filters.iter().map(|filter| {
        json!({
            "resourceTypeFilter": filter.resource_type_filter,
            "resourceNameFilter": text(&filter.resource_name_filter),
            "patternTypeFilter": filter.pattern_type_filter,
            "principalFilter": text(&filter.principal_filter),
            "hostFilter": text(&filter.host_filter),
            "operation": filter.operation, "permissionType": filter.permission_type,
        })
    });
    let asked = json!({ "filters": filters.collect::<Vec<_>>() });
    Asked {
        what: "delete_acls",
        stored,
        request: asked,
        results: results.collect(),
        records: records.collect(),
    }
}
