//! What is told, and what the documentation says of it.

use std::collections::BTreeSet;

use super::table::METRICS;

/// The table of the documentation, made of the one that metrics are written by.
fn documented() -> String {
    let mut text = String::from("| metric | label | what it is |\n| --- | --- | --- |\n");
    for metric in METRICS {
        let head = metric.head;
        let label = match head.label {
            "" => String::new(),
            label => format!("`{label}`"),
        };
        text.push_str(&format!("| `{}` | {label} | {} |\n", head.name, head.help));
    }
    text
}

#[test]
fn the_documentation_has_every_metric_and_no_other() {
    let page = include_str!("../../../../docs/metrics.md");
    let table: String = page
        .lines()
        .skip_while(|line| !line.starts_with("| metric |"))
        .take_while(|line| line.starts_with('|'))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        table,
        documented(),
        "docs/metrics.md should have:\n{}",
        documented()
    );
}

#[test]
fn names_are_those_that_prometheus_takes_and_each_is_there_once() {
    let mut names = BTreeSet::new();
    for metric in METRICS {
        let head = metric.head;
        let of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(head.name.chars().all(of_name), "{}", head.name);
        assert!(names.insert(head.name), "{} is there twice", head.name);
        let is_counter = head.kind == super::text::Kind::Counter;
        assert_eq!(head.name.ends_with("_total"), is_counter, "{}", head.name);
    }
}
