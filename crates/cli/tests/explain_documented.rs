use std::collections::BTreeSet;

use crate::explain::CAPTURE;
use crate::explain_flags::log_of;
use crate::support::klamm;

/// The names of a value's fields, at any depth; those of Kafka's own converters are Kafka's.
fn keys(value: &serde_json::Value, found: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key.clone());
                if !["header", "body", "fields"].contains(&key.as_str()) {
                    keys(value, found);
                }
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_key_of_json_is_documented() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explain.md");
    let documented = std::fs::read_to_string(path).expect("it is in the repository");
    let mut found = BTreeSet::new();
    for words in [
        "--list",
        "--list --records",
        "--errors",
        "--error 84",
        "Fetch",
        "ElectLeaders --diff 0 2",
        "TopicRecord",
        "--hex 00",
        &format!("--file {CAPTURE}"),
        &format!("--as log --hex {}", log_of(2)),
        &format!("--as log --hex {} --tree", log_of(2)),
        "--as log --hex 0001",
        &format!("--as log --hex {}", "ff".repeat(40)),
        "--as index --hex 0000000000000000",
        "--as timeindex --hex 000000000000000000000000",
        &format!("--as txnindex --hex {}", "0".repeat(2 * 34)),
        "--as text --hex 61",
    ] {
        let finished = klamm(&format!("explain {words} --output json")).await;
        assert!(!finished.stdout.is_empty(), "{words}: {finished}");
        for line in finished.stdout.lines() {
            keys(&serde_json::from_str(line).expect("JSON"), &mut found);
        }
    }
    assert!(found.contains("tree") && found.contains("is_sound") && found.contains("stopped"));
    found.retain(|key| !documented.contains(&format!("`{key}`")));
    assert!(found.is_empty(), "not in docs/explain.md: {found:?}");
}
