use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::args::Format;
use crate::table::{Align, Cell, Look, Style, Table, closing, plural, printable, wrapped};

use super::advice::advice;
use super::outcome::{Failure, NOT_ASKED, OUTCOME_UNKNOWN, Outcome};
use super::report::{BrokerRow, Counts, Report, Row};

/// At most this many partitions are named under an error's advice; the rows have them all.
const MAX_NAMED: usize = 10;

/// The results, for standard output.
pub(crate) fn results(report: &Report, format: Format, look: Look) -> String {
    match format {
        Format::Table => table(report, look),
        Format::Json => json(report),
        Format::Plain => report.rows.iter().map(plain).collect(),
    }
}

fn table(report: &Report, look: Look) -> String {
    let mut out = String::new();
    if !report.rows.is_empty() {
        out.push_str(&partitions(report, look));
        out.push('\n');
    }
    if let Some(brokers) = report
        .brokers
        .as_deref()
        .filter(|brokers| !brokers.is_empty())
    {
        let whose = if report.is_all {
            "all topics"
        } else {
            "the topics asked for"
        };
        let caption = format!("Partitions of {whose} that each broker leads:\n");
        out.push_str(&caption);
        out.push_str(&leaders(brokers, report.dry_run, look));
        out.push('\n');
    }
    let advice = failures(report, look);
    if !advice.is_empty() {
        out.push_str(&advice);
        out.push('\n');
    }
    out.push_str(&summary(report, look));
    out
}

fn partitions(report: &Report, look: Look) -> String {
    let after = if report.dry_run {
        "WOULD LEAD"
    } else {
        "LEADER AFTER"
    };
    let failed = report
        .rows
        .iter()
        .any(|row| row.outcome.failure().is_some());
    let mut columns = vec![
        ("PARTITION", Align::Text),
        ("RESULT", Align::Left),
        ("LEADER BEFORE", Align::Right),
        (after, Align::Right),
    ];
    if failed {
        columns.push(("ERROR", Align::Text));
    }
    let mut table = Table::new(&columns);
    for row in &report.rows {
        let (result, style) = match (&row.outcome, report.dry_run) {
            (Outcome::Elected, false) => ("elected", Style::Good),
            (Outcome::Elected, true) => ("would elect", Style::Good),
            (Outcome::NotNeeded, _) => ("not needed", Style::Dim),
            (Outcome::Failed(_), false) => ("failed", Style::Bad),
            (Outcome::Failed(_), true) => ("would fail", Style::Bad),
        };
        let mut cells = vec![
            (&row.partition).into(),
            Cell::new(result, style),
            row.before.word().into(),
            row.after.word().into(),
        ];
        if failed {
            cells.push(
                row.outcome
                    .failure()
                    .map(ToString::to_string)
                    .unwrap_or_default()
                    .into(),
            );
        }
        table.row(cells);
    }
    table.render(look)
}

fn leaders(brokers: &[BrokerRow], dry_run: bool, look: Look) -> String {
    let after = if dry_run { "WOULD LEAD" } else { "LEADS AFTER" };
    let mut table = Table::new(&[
        ("BROKER", Align::Right),
        ("LEADS BEFORE", Align::Right),
        (after, Align::Right),
        ("CHANGE", Align::Right),
    ]);
    for row in brokers {
        let BrokerRow {
            broker,
            leaders_before,
            leaders_after,
        } = *row;
        table.row(vec![
            broker.into(),
            leaders_before.into(),
            leaders_after.into(),
            change(leaders_before, leaders_after).into(),
        ]);
    }
    table.render(look)
}

fn change(before: usize, after: usize) -> String {
    match after.cmp(&before) {
        std::cmp::Ordering::Less => format!("-{}", before - after),
        std::cmp::Ordering::Equal => "0".to_owned(),
        std::cmp::Ordering::Greater => format!("+{}", after - before),
    }
}

/// What failed, grouped by reason, each with what to do about it. Empty where nothing failed.
pub(crate) fn failures(report: &Report, look: Look) -> String {
    let mut groups: BTreeMap<Reason<'_>, Vec<(&Row, &Failure)>> = BTreeMap::new();
    for row in &report.rows {
        if let Some(failure) = row.outcome.failure() {
            let reason = Reason {
                is_silence: failure.code.is_none(),
                code: failure.code,
                name: &failure.name,
            };
            groups.entry(reason).or_default().push((row, failure));
        }
    }
    groups
        .into_values()
        .map(|rows| group(&rows, look))
        .collect()
}

/// What failures have in common. What the cluster said comes before what it did not say.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Reason<'a> {
    is_silence: bool,
    code: Option<i16>,
    name: &'a str,
}

fn group(rows: &[(&Row, &Failure)], look: Look) -> String {
    let Some((_, failure)) = rows.first() else {
        return String::new();
    };
    let heading = format!("{failure}: {}", plural(rows.len(), "partition"));
    let mut out = format!("{}\n", Style::Bad.paint(&heading, look));
    // What the cluster says of each alike is said once.
    let alike = rows
        .iter()
        .all(|(_, other)| other.message == failure.message);
    for (row, failure) in rows.iter().take(MAX_NAMED) {
        let said = failure.message.as_ref().filter(|_| !alike);
        let detail = row
            .detail
            .as_ref()
            .or(said)
            .map(|detail| format!(": {detail}"));
        let line = format!("{}{}", row.partition, detail.unwrap_or_default());
        let _ = writeln!(out, "  {}", printable(&line));
    }
    if rows.len() > MAX_NAMED {
        let _ = writeln!(out, "  and {} more", rows.len() - MAX_NAMED);
    }
    if let Some(message) = failure.message.as_ref().filter(|_| alike) {
        out.push_str(&wrapped(
            &format!("The cluster says: {}", printable(message)),
            "  ",
            look.width,
        ));
    }
    out.push_str(&wrapped(
        &format!("What to do: {}", advice(failure)),
        "  ",
        look.width,
    ));
    out
}

/// What is hidden among the failed: those that nobody answered for.
fn silent(report: &Report) -> String {
    let count = |name: &str| {
        let failures = report.rows.iter().filter_map(|row| row.outcome.failure());
        failures
            .filter(|failure| failure.code.is_none() && failure.name == name)
            .count()
    };
    let parts = [
        (count(NOT_ASKED), "not asked for"),
        (count(OUTCOME_UNKNOWN), "unknown"),
    ];
    let parts: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" (of these {})", parts.join(", "))
    }
}

/// The last line of a report.
pub(crate) fn summary(report: &Report, look: Look) -> String {
    let Counts {
        elected,
        not_needed,
        failed,
    } = report.counts();
    let election = report.election.name();
    let mut text = if report.rows.is_empty() {
        let asked = if report.is_all {
            "no partition needs one"
        } else {
            "no partition was listed"
        };
        format!("{election} election: {asked}")
    } else if report.dry_run {
        format!(
            "dry run of a {election} election, nothing was changed: \
             {elected} would be elected, {not_needed} not needed, {failed} would fail"
        )
    } else {
        let silent = silent(report);
        format!(
            "{election} election: {elected} elected, {not_needed} not needed, {failed} failed{silent}"
        )
    };
    if report.interrupted {
        text.push_str("; interrupted before the end");
    }
    let style = if failed > 0 || report.interrupted {
        Style::Bad
    } else {
        Style::Bold
    };
    closing(&text, style, look)
}

fn plain(row: &Row) -> String {
    let (code, name) = code_and_name(&row.outcome);
    let line = format!(
        "topic={} partition={} result={} error_code={} error_name={name} leader_before={} \
         leader_after={}",
        row.partition.topic,
        row.partition.partition,
        row.outcome.name(),
        code.map_or("-".to_owned(), |code| code.to_string()),
        row.before.word(),
        row.after.word(),
    );
    format!("{}\n", printable(&line))
}

fn code_and_name(outcome: &Outcome) -> (Option<i16>, &str) {
    match outcome {
        Outcome::Elected => (Some(0), "NONE"),
        Outcome::NotNeeded => (Some(84), "ELECTION_NOT_NEEDED"),
        Outcome::Failed(failure) => (failure.code, &failure.name),
    }
}

/// The JSON object; `docs/elect.md` describes it.
#[derive(Serialize)]
struct Document<'a> {
    election_type: &'static str,
    dry_run: bool,
    interrupted: bool,
    counts: Counts,
    partitions: Vec<PartitionDocument<'a>>,
    brokers: Option<&'a [BrokerRow]>,
}

#[derive(Serialize)]
struct PartitionDocument<'a> {
    topic: &'a str,
    partition: i32,
    result: &'static str,
    error_code: Option<i16>,
    error_name: &'a str,
    error_message: Option<&'a str>,
    detail: Option<&'a str>,
    advice: Option<&'static str>,
    leader_before: Option<i32>,
    leader_after: Option<i32>,
}

fn json(report: &Report) -> String {
    let partitions = report.rows.iter().map(|row| {
        let (error_code, error_name) = code_and_name(&row.outcome);
        let failure = row.outcome.failure();
        PartitionDocument {
            topic: &row.partition.topic,
            partition: row.partition.partition.0,
            result: row.outcome.name(),
            error_code,
            error_name,
            error_message: failure.and_then(|failure| failure.message.as_deref()),
            detail: row.detail.as_deref(),
            advice: failure.map(advice),
            leader_before: row.before.id(),
            leader_after: row.after.id(),
        }
    });
    let document = Document {
        election_type: report.election.name(),
        dry_run: report.dry_run,
        interrupted: report.interrupted,
        counts: report.counts(),
        partitions: partitions.collect(),
        brokers: report.brokers.as_deref(),
    };
    let mut text = serde_json::to_string(&document).expect("numbers and text are JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
