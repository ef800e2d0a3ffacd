use std::collections::BTreeSet;

use klamm_explain::{Place, about, schema};
use klamm_protocol::{ErrorCode, schemas};

#[test]
fn everything_that_has_a_name_has_a_meaning() {
    let mut missing = Vec::new();
    for text in schemas::ALL {
        let schema = schema(text.name).unwrap();
        if about::message(&schema.name).is_none_or(str::is_empty) {
            missing.push(schema.name.clone());
        }
        for owner in &schema.structs {
            let place = Place::Struct {
                message: &schema.name,
                name: &owner.name,
            };
            if about::find(place).is_none_or(str::is_empty) {
                missing.push(format!("{}.{}", schema.name, owner.name));
            }
        }
        for owner in [&schema.root].into_iter().chain(&schema.structs) {
            for field in &owner.fields {
                let place = Place::Field {
                    message: &schema.name,
                    owner: &owner.name,
                    name: &field.name,
                };
                if about::find(place).is_none_or(str::is_empty) {
                    missing.push(format!("{}.{}.{}", schema.name, owner.name, field.name));
                }
            }
        }
    }
    for code in ErrorCode::all() {
        if about::error(code).is_none_or(|text| text.meaning.is_empty()) {
            missing.push(code.to_string());
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_row_is_used() {
    let mut known = BTreeSet::new();
    for text in schemas::ALL {
        let schema = schema(text.name).unwrap();
        for owner in [&schema.root].into_iter().chain(&schema.structs) {
            for field in &owner.fields {
                known.insert(format!("{}.{}.{}", schema.name, owner.name, field.name));
                known.insert(format!("{}.{}", owner.name, field.name));
                known.insert(field.name.clone());
            }
        }
    }
    let rows = include_str!("../../about/fields.tsv").lines().skip(1);
    for key in rows.map(|row| row.split('\t').next().unwrap()) {
        assert!(known.contains(key), "{key} is no field");
    }
    let messages = include_str!("../../about/messages.tsv").lines().skip(1);
    for name in messages.map(|row| row.split('\t').next().unwrap()) {
        let is_api =
            klamm_protocol::ApiKey::from_name(name).is_some_and(|key| key.name() == Some(name));
        assert!(is_api || schema(name).is_some(), "{name} is no message");
    }
}
