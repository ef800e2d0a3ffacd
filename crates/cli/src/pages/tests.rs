use clap::builder::StyledStr;
use clap::{CommandFactory, ValueEnum};
use expect_test::expect_file;

use super::*;

/// Wide enough for every terminal, and fixed, so that snapshots do not depend on one.
const WIDTH: usize = 80;

fn help(path: &[&str]) -> String {
    let mut command = Cli::command().term_width(WIDTH);
    command.build();
    let mut found = &mut command;
    for name in path {
        found = found.find_subcommand_mut(name).expect("a command");
    }
    let text: StyledStr = found.render_long_help();
    text.to_string()
}

#[test]
fn help_texts() {
    expect_file!["../../tests/snapshots/help.txt"].assert_eq(&help(&[]));
    expect_file!["../../tests/snapshots/help-elect.txt"].assert_eq(&help(&["elect"]));
    expect_file!["../../tests/snapshots/help-leaders.txt"].assert_eq(&help(&["leaders"]));
    expect_file!["../../tests/snapshots/help-explain.txt"].assert_eq(&help(&["explain"]));
    expect_file!["../../tests/snapshots/help-format.txt"].assert_eq(&help(&["format"]));
    expect_file!["../../tests/snapshots/help-info.txt"].assert_eq(&help(&["info"]));
    expect_file!["../../tests/snapshots/help-random-uuid.txt"].assert_eq(&help(&["random-uuid"]));
    expect_file!["../../tests/snapshots/help-controller.txt"].assert_eq(&help(&["controller"]));
    expect_file!["../../tests/snapshots/help-broker.txt"].assert_eq(&help(&["broker"]));
    expect_file!["../../tests/snapshots/help-up.txt"].assert_eq(&help(&["up"]));
    expect_file!["../../tests/snapshots/help-drill.txt"].assert_eq(&help(&["drill"]));
    expect_file!["../../tests/snapshots/help-completions.txt"].assert_eq(&help(&["completions"]));
    expect_file!["../../tests/snapshots/help-man.txt"].assert_eq(&help(&["man"]));
}

#[test]
fn man_pages() {
    let pages = pages();
    let names: Vec<_> = pages.iter().map(|page| page.name.as_str()).collect();
    let commands = [
        "klamm",
        "klamm-elect",
        "klamm-leaders",
        "klamm-explain",
        "klamm-format",
        "klamm-info",
        "klamm-random-uuid",
        "klamm-controller",
        "klamm-broker",
        "klamm-up",
        "klamm-drill",
        "klamm-completions",
        "klamm-man",
    ];
    assert_eq!(names, commands);
    expect_file!["../../tests/snapshots/klamm.1"].assert_eq(&pages[0].text);
    expect_file!["../../tests/snapshots/klamm-elect.1"].assert_eq(&pages[1].text);
    expect_file!["../../tests/snapshots/klamm-leaders.1"].assert_eq(&pages[2].text);
    expect_file!["../../tests/snapshots/klamm-explain.1"].assert_eq(&pages[3].text);
    expect_file!["../../tests/snapshots/klamm-format.1"].assert_eq(&pages[4].text);
    expect_file!["../../tests/snapshots/klamm-info.1"].assert_eq(&pages[5].text);
}

#[test]
fn completions_know_every_flag() {
    for shell in clap_complete::Shell::value_variants() {
        let mut text = Vec::new();
        clap_complete::generate(*shell, &mut Cli::command(), "klamm", &mut text);
        let text = String::from_utf8(text).expect("text");
        for flag in [
            "path-to-json-file",
            "admin.config",
            "under-replicated",
            "add-scram",
        ] {
            assert!(text.contains(flag), "{shell} {flag}");
        }
    }
}

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}
