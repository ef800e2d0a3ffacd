use klamm_protocol::ApiKey;

use super::Look;
use super::table::Table;
use crate::{Direction, about, message_schema};

/// Every API, a line each.
pub fn list(look: Look) -> String {
    let mut table = Table::new(
        &[
            "KEY",
            "NAME",
            "VERSIONS",
            "FLEXIBLE",
            "LISTENERS",
            "PURPOSE",
        ],
        &[0],
    );
    for key in ApiKey::all() {
        let Some(schema) = message_schema(key, Direction::Request) else {
            continue;
        };
        let versions = match schema.valid_versions {
            valid if valid.is_empty() => "none any more".to_owned(),
            valid if schema.latest_version_unstable => format!("{valid} ({} unstable)", valid.max),
            valid => valid.to_string(),
        };
        let listeners: Vec<&str> = key
            .listeners()
            .iter()
            .map(|listener| crate::json::listener(*listener))
            .collect();
        table.row(vec![
            (key.0.to_string(), "2"),
            (key.name().unwrap_or_default().to_owned(), ""),
            (versions, ""),
            (schema.flexible_versions.to_string(), "2"),
            (listeners.join(", "), "2"),
            (
                about::message(&schema.name).unwrap_or_default().to_owned(),
                "",
            ),
        ]);
    }
    table.render(look)
}
