use klamm_schema::Schema;

use super::Look;
use super::table::Table;
use crate::fields::fields;

/// The fields of a message in a version, with those of its structs below them.
pub fn schema_text(schema: &'static Schema, version: i16, look: Look) -> String {
    let mut table = Table::new(&["FIELD", "TYPE", "VERSIONS", "NOTES"], &[]);
    for row in fields(schema, version) {
        table.row(vec![
            (format!("{}{}", "  ".repeat(row.depth), row.name), ""),
            (row.ty, "2"),
            (row.versions, "2"),
            (row.notes, "2"),
        ]);
    }
    table.render(look)
}
