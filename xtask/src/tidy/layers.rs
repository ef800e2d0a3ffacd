use std::collections::BTreeMap;

use serde_json::Value;

use super::Finding;
use super::source::Source;

/// What each crate may use: itself, what its row names, and whatever those may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("klamm-schema", &[]),
    ("klamm-protocol", &["klamm-schema"]),
    ("klamm-config", &[]),
    ("klamm-metadata", &["klamm-protocol"]),
    ("klamm-controller", &["klamm-metadata"]),
    ("klamm-raft", &["klamm-protocol"]),
    ("klamm-replica", &["klamm-metadata"]),
    ("klamm-log", &["klamm-protocol", "klamm-config"]),
    ("klamm-explain", &["klamm-metadata"]),
    ("klamm-plan", &["klamm-metadata"]),
    ("klamm-net", &["klamm-protocol"]),
    ("klamm-client", &["klamm-net", "klamm-config"]),
    (
        "klamm-server",
        &[
            "klamm-client",
            "klamm-controller",
            "klamm-raft",
            "klamm-replica",
            "klamm-log",
        ],
    ),
    (
        "klamm-sim",
        &["klamm-controller", "klamm-raft", "klamm-replica"],
    ),
    (
        "klamm-cli",
        &[
            "klamm-server",
            "klamm-client",
            "klamm-explain",
            "klamm-plan",
        ],
    ),
    ("xtask", &["klamm-schema"]),
];

/// Who may use tokio.
const ASYNC: &[&str] = &["klamm-net", "klamm-server", "klamm-client", "klamm-cli"];

/// Compares the dependencies of the workspace's crates, as `cargo metadata` has them, with the layers.
pub(super) fn check(metadata: &Value, sources: &[Source], findings: &mut Vec<Finding>) {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let path = manifest(name);
        let mut find = |text| {
            findings.push(Finding {
                path: path.clone(),
                line: 0,
                rule: "layers",
                text,
            });
        };
        let Some(below) = below(name) else {
            find(format!(
                "{name} has no row among the layers; add it to them"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let used = dependency["name"].as_str().unwrap_or_default();
            let is_member = used.starts_with("klamm-") || used == "xtask";
            if is_member && used != name && !below.contains_key(used) {
                find(format!("{name} may not use {used}, which is not below it"));
            }
            if used == "tokio" && !ASYNC.contains(&name) {
                find(format!(
                    "{name} may not use tokio; only {} may",
                    ASYNC.join(", ")
                ));
            }
        }
    }
    // Every crate takes over its workspace's lints.
    for source in sources
        .iter()
        .filter(|source| source.name() == "Cargo.toml")
    {
        let is_package = source.text.contains("[package]");
        let has_lints = source.text.contains("[lints]\nworkspace = true")
            || source.text.contains("unsafe_code = \"forbid\"");
        if is_package && !has_lints {
            findings.push(Finding {
                path: source.path.clone(),
                line: 0,
                rule: "lints",
                text: "takes over no lints; add `[lints]` with `workspace = true`".into(),
            });
        }
    }
}

fn manifest(name: &str) -> String {
    match name.strip_prefix("klamm-") {
        Some(folder) => format!("crates/{folder}/Cargo.toml"),
        None => format!("{name}/Cargo.toml"),
    }
}

/// Everything below a crate; `None` for a crate without a row.
fn below(name: &str) -> Option<BTreeMap<&'static str, ()>> {
    let rows: BTreeMap<&str, &[&str]> = LAYERS.iter().copied().collect();
    let mut below = BTreeMap::new();
    let mut open: Vec<&str> = rows.get(name)?.to_vec();
    while let Some(next) = open.pop() {
        if below.insert(next, ()).is_none() {
            open.extend(rows.get(next).copied().unwrap_or_default());
        }
    }
    Some(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, dependencies: &[&str]) -> Vec<String> {
        let dependencies: Vec<Value> = dependencies
            .iter()
            .map(|name| serde_json::json!({ "name": name, "kind": null }))
            .collect();
        let metadata = serde_json::json!({
            "packages": [{ "name": name, "dependencies": dependencies }]
        });
        let mut findings = Vec::new();
        check(&metadata, &[], &mut findings);
        findings.into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn nothing_points_up() {
        assert!(texts("klamm-client", &["klamm-net", "klamm-protocol", "tokio"]).is_empty());
        assert_eq!(
            texts("klamm-net", &["klamm-client"]),
            ["klamm-net may not use klamm-client, which is not below it"]
        );
        assert_eq!(texts("klamm-config", &["tokio"]).len(), 1);
        assert_eq!(texts("klamm-news", &[]).len(), 1);
    }

    #[test]
    fn no_row_names_a_crate_above_it() {
        for (name, _) in LAYERS {
            assert!(
                !below(name).unwrap().contains_key(name),
                "{name} is below itself"
            );
        }
    }
}
