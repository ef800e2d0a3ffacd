use serde::Serialize;

use crate::args::Format;
use crate::table::{Align, Cell, Look, Style, Table, closing, plural, printable, word};
use klamm_client::{BrokerId, PartitionDescription, TopicPartition};

use super::snapshot::{BrokerRow, Snapshot, Totals};

/// The results, for standard output; with partitions, those instead of the brokers.
pub(crate) fn render(snapshot: &Snapshot, partitions: bool, format: Format, look: Look) -> String {
    match (format, partitions) {
        (Format::Table, false) => brokers_table(snapshot, look),
        (Format::Table, true) => partitions_table(snapshot, look),
        (Format::Json, _) => json(snapshot, partitions),
        (Format::Plain, false) => snapshot.brokers.iter().map(plain_broker).collect(),
        (Format::Plain, true) => snapshot
            .partitions
            .iter()
            .map(|(tp, p)| plain_partition(tp, p))
            .collect(),
    }
}

fn brokers_table(snapshot: &Snapshot, look: Look) -> String {
    let racks = snapshot.brokers.iter().any(|row| row.rack.is_some());
    let mut columns = vec![("BROKER", Align::Right), ("ADDRESS", Align::Text)];
    if racks {
        columns.push(("RACK", Align::Left));
    }
    columns.extend([
        ("LEADS", Align::Right),
        ("PREFERRED", Align::Right),
        ("DIFFERENCE", Align::Right),
        ("OUT OF SYNC", Align::Right),
    ]);
    let mut table = Table::new(&columns);
    for row in &snapshot.brokers {
        let address = match &row.address {
            Some(address) => Cell::from(address),
            None => Cell::new("down", Style::Bad),
        };
        let mut cells = vec![row.broker.into(), address];
        if racks {
            cells.push(row.rack.clone().unwrap_or_default().into());
        }
        let difference = match row.difference {
            0 => Cell::new(0, Style::Dim),
            difference => Cell::new(format!("{difference:+}"), Style::Warn),
        };
        let out_of_sync = if row.out_of_sync == 0 {
            Style::Dim
        } else {
            Style::Bad
        };
        cells.extend([
            row.leads.into(),
            row.preferred.into(),
            difference,
            Cell::new(row.out_of_sync, out_of_sync),
        ]);
        table.row(cells);
    }
    format!("{}\n{}", table.render(look), totals(&snapshot.totals, look))
}

fn partitions_table(snapshot: &Snapshot, look: Look) -> String {
    let mut out = String::new();
    if !snapshot.partitions.is_empty() {
        let mut table = Table::new(&[
            ("PARTITION", Align::Text),
            ("LEADER", Align::Right),
            ("PREFERRED", Align::Right),
            ("REPLICAS", Align::Left),
            ("ISR", Align::Left),
            ("ELR", Align::Left),
        ]);
        for (tp, partition) in &snapshot.partitions {
            let leader = match partition.leader {
                None => Cell::new("none", Style::Bad),
                Some(id) if partition.is_led_by_preferred() => id.into(),
                Some(id) => Cell::new(id, Style::Warn),
            };
            let isr = if partition.is_under_replicated() {
                Style::Bad
            } else {
                Style::Plain
            };
            table.row(vec![
                tp.into(),
                leader,
                id_or_none(partition.preferred_leader()).into(),
                ids(&partition.replicas).into(),
                Cell::new(ids(&partition.isr), isr),
                partition.elr.as_deref().map_or("-".to_owned(), ids).into(),
            ]);
        }
        out.push_str(&table.render(look));
        out.push('\n');
    }
    out.push_str(&totals(&snapshot.totals, look));
    out
}

fn totals(totals: &Totals, look: Look) -> String {
    let Totals {
        topics,
        partitions,
        not_preferred,
        leaderless,
        under_replicated,
    } = *totals;
    let (partitions, topics) = (plural(partitions, "partition"), plural(topics, "topic"));
    let text = format!(
        "{partitions} of {topics}: {not_preferred} off their preferred leader, {leaderless} leaderless, \
         {under_replicated} under-replicated"
    );
    closing(&text, Style::Bold, look)
}

fn plain_broker(row: &BrokerRow) -> String {
    let line = format!(
        "broker={} state={} address={} rack={} leads={} preferred={} difference={} out_of_sync={}",
        row.broker,
        if row.up { "up" } else { "down" },
        word(row.address.as_deref().unwrap_or("-")),
        word(row.rack.as_deref().unwrap_or("-")),
        row.leads,
        row.preferred,
        row.difference,
        row.out_of_sync,
    );
    format!("{}\n", printable(&line))
}

fn plain_partition(tp: &TopicPartition, partition: &PartitionDescription) -> String {
    let line = format!(
        "topic={} partition={} leader={} preferred={} replicas={} isr={} elr={}",
        tp.topic,
        tp.partition,
        id_or_none(partition.leader),
        id_or_none(partition.preferred_leader()),
        ids(&partition.replicas),
        ids(&partition.isr),
        partition.elr.as_deref().map_or("-".to_owned(), ids),
    );
    format!("{}\n", printable(&line))
}

fn id_or_none(id: Option<BrokerId>) -> String {
    id.map_or("none".to_owned(), |id| id.to_string())
}

fn ids(ids: &[BrokerId]) -> String {
    if ids.is_empty() {
        return "none".to_owned();
    }
    ids.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// The JSON object; `docs/leaders.md` describes it.
#[derive(Serialize)]
struct Document<'a> {
    counts: Totals,
    brokers: &'a [BrokerRow],
    #[serde(skip_serializing_if = "Option::is_none")]
    partitions: Option<Vec<PartitionDocument<'a>>>,
}

#[derive(Serialize)]
struct PartitionDocument<'a> {
    topic: &'a str,
    partition: i32,
    leader: i32,
    preferred: i32,
    replicas: Vec<i32>,
    isr: Vec<i32>,
    elr: Option<Vec<i32>>,
}

fn numbers(ids: &[BrokerId]) -> Vec<i32> {
    ids.iter().map(|id| id.0).collect()
}

fn json(snapshot: &Snapshot, partitions: bool) -> String {
    let rows = || {
        snapshot
            .partitions
            .iter()
            .map(|(tp, partition)| PartitionDocument {
                topic: &tp.topic,
                partition: tp.partition.0,
                leader: partition.leader.map_or(-1, |id| id.0),
                preferred: partition.preferred_leader().map_or(-1, |id| id.0),
                replicas: numbers(&partition.replicas),
                isr: numbers(&partition.isr),
                elr: partition.elr.as_deref().map(numbers),
            })
    };
    let document = Document {
        counts: snapshot.totals,
        brokers: &snapshot.brokers,
        partitions: partitions.then(|| rows().collect()),
    };
    let mut text = serde_json::to_string(&document).expect("numbers and text are JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
