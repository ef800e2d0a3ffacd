use std::collections::BTreeSet;

use klamm_explain::{Place, about, schema};
use klamm_protocol::schemas;

#[test]
fn every_field_has_a_meaning() {
    let mut missing = Vec::new();
    for text in schemas::ALL {
        let schema = schema(text.name).unwrap();
        for owner in [&schema.root].into_iter().chain(&schema.structs) {
            for field in &owner.fields {
                let place = Place {
                    message: &schema.name,
                    owner: &owner.name,
                    field: &field.name,
                };
                if about::field(place).is_none_or(str::is_empty) {
                    missing.push(format!("{}.{}.{}", schema.name, owner.name, field.name));
                }
            }
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
}
