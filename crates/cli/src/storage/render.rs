use std::collections::BTreeMap;

use klamm_metadata::MetadataVersion;
use klamm_server::format::{Beginning, DirectoryState, Inspected, Plan, PlannedDirectory, Voter};
use serde::Serialize;

use crate::args::Format;
use crate::table::{Align, Cell, Look, Style, Table, closing, plural, printable, word};

/// What was formatted for what.
pub(super) fn formatted(plan: &Plan, format: Format, look: Look) -> String {
    match format {
        Format::Table => formatted_table(plan, look),
        Format::Json => json(&FormattedDocument::new(plan)),
        Format::Plain => {
            let version = plan.beginning.as_ref();
            let version = version.map(|beginning| beginning.metadata_version.to_string());
            let line = |dir: &PlannedDirectory| {
                format!(
                    "directory={} kind={} directory_id={} result={} cluster={} node={} \
                     metadata_version={}\n",
                    word(&dir.path.display().to_string()),
                    kind_word(dir),
                    id_or(dir, "none"),
                    result(dir),
                    word(&plan.cluster_id),
                    plan.node_id,
                    version.as_deref().unwrap_or("-")
                )
            };
            plan.directories.iter().map(line).collect()
        }
    }
}

fn formatted_table(plan: &Plan, look: Look) -> String {
    let mut table = Table::new(&[
        ("DIRECTORY", Align::Text),
        ("RESULT", Align::Left),
        ("KIND", Align::Left),
        ("DIRECTORY ID", Align::Left),
    ]);
    for dir in &plan.directories {
        let (result, style) = match dir.is_formatted {
            true => ("formatted already", Style::Dim),
            false => ("formatted", Style::Good),
        };
        table.row(vec![
            dir.path.display().into(),
            Cell::new(result, style),
            dir.kind.into(),
            id_or(dir, "none").into(),
        ]);
    }
    let mut text = table.render(look);
    text.push('\n');
    let Some(beginning) = &plan.beginning else {
        let line = match plan.is_done() {
            true => "All directories are formatted already".to_owned(),
            false => format!("{}: formatted", whose(plan)),
        };
        text.push_str(&closing(&line, Style::Good, look));
        return text;
    };
    text.push_str(&first_state(beginning));
    let version = beginning.metadata_version;
    let line = format!("{}: formatted with metadata.version {version}", whose(plan));
    text.push_str(&closing(&line, Style::Good, look));
    text
}

fn whose(plan: &Plan) -> String {
    format!(
        "Cluster {}, node {}",
        printable(&plan.cluster_id),
        plan.node_id
    )
}

fn first_state(beginning: &Beginning) -> String {
    let mut text = String::new();
    let features = beginning.features.iter();
    let features: Vec<String> = features
        .map(|(name, level)| format!("{name}={level}"))
        .collect();
    if !features.is_empty() {
        text.push_str(&format!("Features: {}\n", features.join(" ")));
    }
    for voter in beginning.voters.iter().flat_map(|voters| voters.iter()) {
        let endpoints: Vec<String> = voter
            .endpoints
            .iter()
            .map(|(name, endpoint)| format!("{name}://{endpoint}"))
            .collect();
        let endpoints = printable(&endpoints.join(" ")).into_owned();
        text.push_str(&format!("Voter {} at {endpoints}\n", voter.key.id));
    }
    text
}

fn result(dir: &PlannedDirectory) -> &'static str {
    if dir.is_formatted {
        "formatted_already"
    } else {
        "formatted"
    }
}

fn kind_word(dir: &PlannedDirectory) -> String {
    let kind = dir.kind.to_string();
    kind.trim_end_matches(" directory").replace(' ', "_")
}

fn id_or(dir: &PlannedDirectory, without: &str) -> String {
    dir.id.map_or(without.to_owned(), |id| id.to_string())
}

#[derive(Serialize)]
struct FormattedDocument<'a> {
    cluster_id: &'a str,
    node_id: i32,
    directories: Vec<DirectoryDocument>,
    beginning: Option<BeginningDocument<'a>>,
}

#[derive(Serialize)]
struct BeginningDocument<'a> {
    metadata_version: String,
    features: BTreeMap<&'a str, i16>,
    dynamic_voters: bool,
    voters: Vec<VoterDocument<'a>>,
}

#[derive(Serialize)]
struct VoterDocument<'a> {
    node_id: i32,
    directory_id: Option<String>,
    endpoints: Vec<EndpointDocument<'a>>,
}

#[derive(Serialize)]
struct EndpointDocument<'a> {
    listener: &'a str,
    host: &'a str,
    port: u16,
}

#[derive(Serialize)]
struct DirectoryDocument {
    path: String,
    kind: String,
    directory_id: Option<String>,
    result: &'static str,
}

impl<'a> FormattedDocument<'a> {
    fn new(plan: &'a Plan) -> Self {
        let directory = |dir: &PlannedDirectory| DirectoryDocument {
            path: dir.path.display().to_string(),
            kind: kind_word(dir),
            directory_id: dir.id.map(|id| id.to_string()),
            result: result(dir),
        };
        Self {
            cluster_id: &plan.cluster_id,
            node_id: plan.node_id.0,
            directories: plan.directories.iter().map(directory).collect(),
            beginning: plan.beginning.as_ref().map(BeginningDocument::new),
        }
    }
}

impl<'a> BeginningDocument<'a> {
    fn new(beginning: &'a Beginning) -> Self {
        let version = (MetadataVersion::FEATURE, beginning.metadata_version.level());
        let features = beginning.features.iter().copied();
        let voters = beginning.voters.iter().flat_map(|voters| voters.iter());
        let voter = |voter: &'a Voter| VoterDocument {
            node_id: voter.key.id.0,
            directory_id: voter.key.directory.map(|id| id.to_string()),
            endpoints: voter
                .endpoints
                .iter()
                .map(|(listener, endpoint)| EndpointDocument {
                    listener,
                    host: &endpoint.host,
                    port: endpoint.port,
                })
                .collect(),
        };
        Self {
            metadata_version: beginning.metadata_version.to_string(),
            features: features.chain([version]).collect(),
            dynamic_voters: beginning.dynamic,
            voters: voters.map(voter).collect(),
        }
    }
}

/// What directories are formatted for.
pub(super) fn info(
    directories: &[Inspected],
    problems: &[String],
    format: Format,
    look: Look,
) -> String {
    let rows: Vec<InfoDocument> = directories.iter().map(InfoDocument::new).collect();
    match format {
        Format::Table => info_table(&rows, problems, look),
        Format::Json => json(&serde_json::json!({ "directories": rows, "problems": problems })),
        Format::Plain => {
            let value = |value: Option<&str>| value.map_or("-".to_owned(), word);
            let line = |row: &InfoDocument| {
                format!(
                    "directory={} state={} cluster={} node={} directory_id={}\n",
                    word(&row.path),
                    row.state.replace(' ', "_"),
                    value(row.cluster_id.as_deref()),
                    value(row.node_id.map(|id| id.to_string()).as_deref()),
                    value(row.directory_id.as_deref())
                )
            };
            rows.iter().map(line).collect()
        }
    }
}

fn info_table(rows: &[InfoDocument], problems: &[String], look: Look) -> String {
    let mut table = Table::new(&[
        ("DIRECTORY", Align::Text),
        ("STATE", Align::Left),
        ("CLUSTER", Align::Left),
        ("NODE", Align::Right),
        ("DIRECTORY ID", Align::Left),
    ]);
    for row in rows {
        let style = match row.state {
            "formatted" => Style::Good,
            _ => Style::Bad,
        };
        let node = row.node_id.map(|id| id.to_string());
        table.row(vec![
            row.path.as_str().into(),
            Cell::new(row.state, style),
            row.cluster_id.as_deref().unwrap_or("-").into(),
            node.as_deref().unwrap_or("-").into(),
            row.directory_id.as_deref().unwrap_or("-").into(),
        ]);
    }
    let mut text = table.render(look);
    text.push('\n');
    for problem in problems {
        text.push_str(&format!("{}\n", printable(problem)));
    }
    let (said, style) = match problems.len() {
        0 => ("No problems".to_owned(), Style::Good),
        count => (plural(count, "problem"), Style::Bad),
    };
    text.push_str(&closing(&said, style, look));
    text
}

#[derive(Serialize)]
struct InfoDocument {
    path: String,
    state: &'static str,
    cluster_id: Option<String>,
    node_id: Option<i32>,
    directory_id: Option<String>,
}

impl InfoDocument {
    fn new(inspected: &Inspected) -> Self {
        let (state, properties) = match &inspected.state {
            DirectoryState::Missing => ("missing", None),
            DirectoryState::Unformatted => ("not formatted", None),
            DirectoryState::Formatted(properties) => ("formatted", Some(properties)),
            DirectoryState::Unusable(_) => ("unusable", None),
            DirectoryState::Unreadable(_) => ("unreadable", None),
        };
        let id = properties.and_then(|properties| properties.directory_id);
        Self {
            path: inspected.path.display().to_string(),
            state,
            cluster_id: properties.map(|properties| properties.cluster_id.clone()),
            node_id: properties.map(|properties| properties.node_id.0),
            directory_id: id.map(|id| id.to_string()),
        }
    }
}

fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string(document).expect("numbers and text are JSON");
    text.push('\n');
    text
}
