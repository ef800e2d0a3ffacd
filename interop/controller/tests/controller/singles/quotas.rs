//! Quotas of clients.

use std::collections::BTreeSet;

use fastrand::Rng;
use klamm_controller::{ControllerConfig, View, alter_client_quotas};
use klamm_java_peer::{Value, json};
use klamm_metadata::{Image, Record};
use klamm_protocol::data::metadata::ClientQuotaRecord;
use klamm_protocol::data::metadata::client_quota_record::EntityData;
use klamm_protocol::messages::alter_client_quotas as quotas;

use super::{Asked, apply, choice, text};

pub(super) fn altered_quotas(rng: &mut Rng, image: &mut Image, config: &ControllerConfig) -> Asked {
    const KEYS: &[&str] = &[
        "consumer_byte_rate",
        "producer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
        "no.such",
    ];
    const VALUES: &[f64] = &[
        -1.0,
        0.0,
        0.5,
        1.0,
        5.0,
        5.000_000_1,
        2_147_483_647.0,
        2_147_483_648.0,
        9.3e18,
        1e300,
    ];
    let mut stored = Vec::new();
    for (kind, name) in [
        ("user", Some("alice")),
        ("client-id", None),
        ("ip", Some("1.2.3.4")),
    ] {
        let key = if kind == "ip" {
            KEYS[4]
        } else {
            KEYS[rng.usize(..4)]
        };
        if rng.bool() {
            let record = ClientQuotaRecord {
                entity: vec![EntityData {
                    entity_type: kind.into(),
                    entity_name: name.map(Into::into),
                    ..Default::default()
                }],
                key: key.into(),
                value: 5.0,
                ..Default::default()
            };
            stored.push(json!([14, said_quota(&record)]));
            apply(image, record);
        }
    }
    let mut entities = BTreeSet::new();
    let mut request = quotas::AlterClientQuotasRequest::default();
    for _ in 0..rng.usize(1..4) {
        let mut parts = Vec::new();
        for (kind, name) in [
            ("user", "alice"),
            ("client-id", "c"),
            ("ip", "1.2.3.4"),
            ("group", "g"),
        ] {
            if rng.u8(..3) == 0 {
                let names = [Some(name), Some(name), None, Some("")];
                parts.push(quotas::RequestEntityData {
                    entity_type: kind.into(),
                    entity_name: choice(rng, &names).map(Into::into),
                    ..Default::default()
                });
            }
        }
        // What is wrong in two ways may be refused for either.
        let is_wrong = |part: &quotas::RequestEntityData| {
            *part.entity_type == *"group" || part.entity_name.as_deref() == Some("")
        };
        let wrong = parts.iter().filter(|part| is_wrong(part)).count();
        if wrong > 1 || !entities.insert(format!("{parts:?}")) {
            continue;
        }
        let key = choice(rng, KEYS);
        let op = quotas::OpData {
            key: key.into(),
            value: choice(rng, VALUES),
            remove: rng.u8(..4) == 0,
            ..Default::default()
        };
        request.entries.push(quotas::RequestEntryData {
            entity: parts,
            ops: vec![op],
            ..Default::default()
        });
    }
    let decision = alter_client_quotas(&View::new(image, config).unwrap(), &request);
    let entries: Vec<Value> = request
        .entries
        .iter()
        .map(|entry| {
            let entity = entry.entity.iter().map(|part| {
                let (kind, name) = (part.entity_type.to_string(), text(&part.entity_name));
                json!({ "entityType": kind, "entityName": name })
            });
            let ops = entry.ops.iter().map(
                |op| json!({ "key": op.key.to_string(), "value": op.value, "remove": op.remove }),
            );
            json!({
                "entity": entity.collect::<Vec<_>>(), "ops": ops.collect::<Vec<_>>(),
            })
        })
        .collect();
    let results = decision.response.entries.iter().map(|entry| {
        let entity = entry.entity.iter().map(|part| {
            let (kind, name) = (part.entity_type.to_string(), text(&part.entity_name));
            json!({ "entityType": kind, "entityName": name })
        });
        json!({
            "errorCode": entry.error_code, "errorMessage": text(&entry.error_message),
            "entity": entity.collect::<Vec<_>>(),
        })
    });
    let records = decision.records.iter().map(|record| match record {
        Record::ClientQuota(record) => said_quota(record),
        other => panic!("{other:?}"),
    });
    let request = json!({ "entries": entries, "validateOnly": false });
    Asked {
        what: "quotas",
        stored,
        request,
        results: results.collect(),
        records: records.collect(),
    }
}

fn said_quota(record: &ClientQuotaRecord) -> Value {
    let entity = record.entity.iter().map(|part| {
        let (kind, name) = (part.entity_type.to_string(), text(&part.entity_name));
        json!({ "entityType": kind, "entityName": name })
    });
    json!({
        "entity": entity.collect::<Vec<_>>(), "key": record.key.to_string(),
        "value": record.value, "remove": record.remove,
    })
}
