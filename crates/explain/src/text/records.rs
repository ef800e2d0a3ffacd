use super::page::{facts_table, paragraph};
use super::table::Table;
use super::{Look, layout, schema_text};
use crate::{NoSuchRecord, RecordType, Tree, about, smallest_record};

/// The page of a type of record in a version: facts, and the smallest instance byte by byte.
pub fn record_page(
    kind: &'static RecordType,
    version: i16,
    look: Look,
) -> Result<String, NoSuchRecord> {
    let record = smallest_record(kind, version).ok_or(NoSuchRecord {
        name: kind.name,
        version,
    })?;
    let mut out = format!("{}\n", look.bold(&format!("{} ({})", kind.name, kind.code)));
    if let Some(text) = about::message(&kind.value.name) {
        paragraph(text, look, &mut out);
    }
    out.push('\n');
    let size = |tree: &Tree| crate::words::bytes(tree.bytes.len());
    facts_table(
        &[
            ("type", kind.code.to_string()),
            (
                "topic",
                kind.contents.topic().unwrap_or_default().to_owned(),
            ),
            ("version", version.to_string()),
            ("versions", kind.value.valid_versions.to_string()),
            (
                "flexible versions",
                kind.value.flexible_versions.to_string(),
            ),
            (
                "smallest key",
                record.key.as_ref().map_or("none".to_owned(), size),
            ),
            ("smallest value", size(&record.value)),
        ],
        look,
        &mut out,
    );
    let key = kind.key.zip(record.key.as_ref());
    for (schema, tree) in key.into_iter().chain([(kind.value, &record.value)]) {
        let shown = tree.subject.message_version.unwrap_or(version);
        let title = format!("{} v{shown}", schema.name);
        out.push_str(&format!("\n{}: {}\n", look.bold(&title), size(tree)));
        if schema.name != kind.value.name
            && let Some(text) = about::message(&schema.name)
        {
            paragraph(text, look, &mut out);
        }
        out.push('\n');
        out.push_str(&layout(tree, look));
        out.push('\n');
        out.push_str(&super::tree(tree, look));
        out.push_str(&format!("\n{}\n", look.bold("Schema")));
        out.push_str(&schema_text(schema, shown, look));
    }
    Ok(out)
}

/// Every type of record, a line each.
pub fn record_list(look: Look) -> String {
    let headings = ["TYPE", "NAME", "VERSIONS", "FLEXIBLE", "TOPIC", "PURPOSE"];
    let mut table = Table::new(&headings, &[0]);
    for kind in RecordType::all() {
        table.row(vec![
            (kind.code.to_string(), "2"),
            (kind.name.to_owned(), ""),
            (kind.value.valid_versions.to_string(), ""),
            (kind.value.flexible_versions.to_string(), "2"),
            (kind.contents.topic().unwrap_or_default().to_owned(), "2"),
            (
                about::message(&kind.value.name)
                    .unwrap_or_default()
                    .to_owned(),
                "",
            ),
        ]);
    }
    table.render(look)
}
