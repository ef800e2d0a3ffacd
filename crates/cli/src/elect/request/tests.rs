use clap::Parser;
use expect_test::{Expect, expect};

use super::*;
use crate::args::{Cli, Command};
use crate::cluster::testing::cluster;

fn args(line: &str) -> Result<ElectArgs, String> {
    let words = ["klamm", "elect"]
        .into_iter()
        .chain(line.split_whitespace());
    match Cli::try_parse_from(words) {
        Ok(Cli {
            command: Command::Elect(args),
        }) => Ok(args),
        Ok(_) => unreachable!("the line begins with elect"),
        Err(error) => {
            assert_eq!(error.exit_code(), 2, "{error}");
            Err(error.to_string())
        }
    }
}

/// The first line of a refusal, or the scope that was understood.
fn shown(line: &str) -> String {
    let args = match args(&format!("--election-type preferred {line}")) {
        Ok(args) => args,
        Err(error) => return error.lines().next().unwrap_or_default().to_owned(),
    };
    match Request::new(&args) {
        Ok(request) => format!("{:?}", request.scope),
        Err(problem) => problem.to_string(),
    }
}

#[track_caller]
fn check(lines: &[&str], expected: &Expect) {
    let shown: Vec<_> = lines
        .iter()
        .map(|line| format!("{line}\n  {}\n", shown(line)))
        .collect();
    expected.assert_eq(&shown.concat());
}

#[test]
fn election_types_are_read_in_any_case() {
    for (text, election) in [
        ("preferred", ElectionType::Preferred),
        ("PREFERRED", ElectionType::Preferred),
        ("Unclean", ElectionType::Unclean),
    ] {
        let args = args(&format!("--election-type {text} --all-topic-partitions"));
        assert_eq!(args.map(|args| args.election_type), Ok(election));
    }
    let error = args("--election-type wrong --all-topic-partitions").expect_err("refused");
    expect![[r#"
        error: invalid value 'wrong' for '--election-type <TYPE>'
          [possible values: preferred, unclean]

        For more information, try '--help'.
    "#]]
    .assert_eq(&error);
    let error = args("--all-topic-partitions").expect_err("refused");
    expect![[r#"
        error: the following required arguments were not provided:
          --election-type <TYPE>

        Usage: klamm elect --election-type <TYPE> --all-topic-partitions

        For more information, try '--help'.
    "#]]
    .assert_eq(&error);
}

#[test]
fn flags_that_choose_partitions_go_together_as_in_apaches_tool() {
    check(
        &[
            "",
            "--all-topic-partitions",
            "--topic a --partition 0",
            "--path-to-json-file f.json",
            "--path-to-json-file -",
            "--topic a",
            "--partition 0",
            "--partition 0 --all-topic-partitions",
            "--partition 0 --path-to-json-file f.json",
            "--topic a --partition 0 --all-topic-partitions",
            "--topic a --partition 0 --path-to-json-file f.json",
            "--all-topic-partitions --path-to-json-file f.json",
            "--topic a --all-topic-partitions --path-to-json-file f.json",
            "--topic a --partition 0 --partition 1",
            "--topic a --partition -1",
            "--topic a --partition x",
            "--all-topic-partitions extra",
        ],
        &expect![[r#"

              error: no partitions are chosen
              next step: give exactly one of --topic, --all-topic-partitions and --path-to-json-file
            --all-topic-partitions
              All
            --topic a --partition 0
              Listed([TopicPartition { topic: "a", partition: PartitionIndex(0) }])
            --path-to-json-file f.json
              File(Some("f.json"))
            --path-to-json-file -
              File(None)
            --topic a
              error: --topic a needs --partition
              next step: say which partition, such as --partition 0, or --partition all
            --partition 0
              error: --partition without --topic
              next step: say which topic's partition
            --partition 0 --all-topic-partitions
              error: --partition does not go with --all-topic-partitions
              next step: --partition goes with --topic only
            --partition 0 --path-to-json-file f.json
              error: --partition does not go with --path-to-json-file
              next step: --partition goes with --topic only
            --topic a --partition 0 --all-topic-partitions
              error: --topic and --all-topic-partitions do not go together
              next step: give exactly one of --topic, --all-topic-partitions and --path-to-json-file
            --topic a --partition 0 --path-to-json-file f.json
              error: --topic and --path-to-json-file do not go together
              next step: give exactly one of --topic, --all-topic-partitions and --path-to-json-file
            --all-topic-partitions --path-to-json-file f.json
              error: --all-topic-partitions and --path-to-json-file do not go together
              next step: give exactly one of --topic, --all-topic-partitions and --path-to-json-file
            --topic a --all-topic-partitions --path-to-json-file f.json
              error: --topic and --all-topic-partitions and --path-to-json-file do not go together
              next step: give exactly one of --topic, --all-topic-partitions and --path-to-json-file
            --topic a --partition 0 --partition 1
              error: the argument '--partition <PARTITION>' cannot be used multiple times
            --topic a --partition -1
              error: unexpected argument '-1' found
            --topic a --partition x
              error: invalid value 'x' for '--partition <PARTITION>': write a number, or 0,2,5-7, or all
            --all-topic-partitions extra
              error: unexpected argument 'extra' found
        "#]],
    );
}

#[test]
fn topics_can_be_many_and_patterns() {
    check(
        &[
            "--topic a --topic b",
            "--topic a.*",
            "--topic a --topic b --partition 1",
            "--topic a --partition all",
            "--topic a --partition 2,0-1,1",
            "--topic a? --partition 3",
            "--topic a --topic a --partition 0",
            "--topic a --partition 3-1",
            "--topic a --partition 0-2147483647",
            "--topic a --partition 1,,2",
            "--topic a[0-9] --partition 1",
        ],
        &expect![[r#"
            --topic a --topic b
              Selected(Selection { topics: [Name("a"), Name("b")], partitions: All })
            --topic a.*
              Selected(Selection { topics: [Glob("a.*")], partitions: All })
            --topic a --topic b --partition 1
              Listed([TopicPartition { topic: "a", partition: PartitionIndex(1) }, TopicPartition { topic: "b", partition: PartitionIndex(1) }])
            --topic a --partition all
              Selected(Selection { topics: [Name("a")], partitions: All })
            --topic a --partition 2,0-1,1
              Listed([TopicPartition { topic: "a", partition: PartitionIndex(0) }, TopicPartition { topic: "a", partition: PartitionIndex(1) }, TopicPartition { topic: "a", partition: PartitionIndex(2) }])
            --topic a? --partition 3
              Selected(Selection { topics: [Glob("a?")], partitions: Numbers([3]) })
            --topic a --topic a --partition 0
              Listed([TopicPartition { topic: "a", partition: PartitionIndex(0) }])
            --topic a --partition 3-1
              error: invalid value '3-1' for '--partition <PARTITION>': the range 3-1 runs backwards
            --topic a --partition 0-2147483647
              error: invalid value '0-2147483647' for '--partition <PARTITION>': more than 100000 partitions
            --topic a --partition 1,,2
              error: invalid value '1,,2' for '--partition <PARTITION>': write a number, or 0,2,5-7, or all
            --topic a[0-9] --partition 1
              error: invalid value 'a[0-9]' for '--topic <TOPIC>': '[' is in no topic's name; a pattern is made of names, * (any characters) and ? (one), not a regular expression
        "#]],
    );
}

#[test]
fn connections_and_pace() {
    check(
        &[
            "--all-topic-partitions --bootstrap-server a:1 --bootstrap-controller b:1",
            "--all-topic-partitions --command-config a --admin.config b",
            "--all-topic-partitions --pause 1s",
            "--all-topic-partitions --batch-size 0",
            "--all-topic-partitions --batch-size 5 --pause 10",
            "--all-topic-partitions --timeout 0s",
            "--all-topic-partitions --timeout 30",
            "--all-topic-partitions --output yaml",
        ],
        &expect![[r#"
            --all-topic-partitions --bootstrap-server a:1 --bootstrap-controller b:1
              error: the argument '--bootstrap-server <HOST:PORT,...>' cannot be used with '--bootstrap-controller <HOST:PORT,...>'
            --all-topic-partitions --command-config a --admin.config b
              error: the argument '--command-config <FILE>' cannot be used with '--admin.config <FILE>'
            --all-topic-partitions --pause 1s
              error: the following required arguments were not provided:
            --all-topic-partitions --batch-size 0
              error: invalid value '0' for '--batch-size <COUNT>': 0 is not in 1..=4294967295
            --all-topic-partitions --batch-size 5 --pause 10
              error: invalid value '10' for '--pause <DURATION>': say the unit: 10ms or 10s
            --all-topic-partitions --timeout 0s
              error: invalid value '0s' for '--timeout <DURATION>': must be longer than 0
            --all-topic-partitions --timeout 30
              error: invalid value '30' for '--timeout <DURATION>': say the unit: 30ms or 30s
            --all-topic-partitions --output yaml
              error: invalid value 'yaml' for '--output <FORMAT>'
        "#]],
    );
    let args = args("--election-type unclean --all-topic-partitions --batch-size 5 --pause 10s");
    let request = args
        .map(|args| Request::new(&args).expect("a request"))
        .expect("arguments");
    assert_eq!(
        request.waves,
        Some(Waves {
            size: 5,
            pause: Duration::from_secs(10)
        })
    );
    assert_eq!(request.election, ElectionType::Unclean);
}

#[test]
fn controllers_refuse_what_needs_metadata() {
    let shown: String = [
        "--all-topic-partitions",
        "--topic a --partition 0",
        "--topic a --topic b --partition 0",
        "--path-to-json-file f.json",
        "--path-to-json-file f.json --batch-size 5",
        "--all-topic-partitions --dry-run",
        "--topic a --topic b",
        "--topic a* --partition 0",
        "--all-topic-partitions --batch-size 5",
    ]
    .map(|line| {
        let args = args(&format!("--election-type preferred {line}")).expect("arguments");
        match Request::new(&args)
            .expect("a request")
            .check_for_controllers()
        {
            Ok(()) => format!("{line}\n  works\n"),
            Err(problem) => format!("{line}\n  {problem}\n"),
        }
    })
    .concat();
    expect![[r#"
        --all-topic-partitions
          works
        --topic a --partition 0
          works
        --topic a --topic b --partition 0
          works
        --path-to-json-file f.json
          works
        --path-to-json-file f.json --batch-size 5
          works
        --all-topic-partitions --dry-run
          error: --dry-run does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker
        --topic a --topic b
          error: a topic pattern, or --topic without partition numbers, does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker, or name topics and partitions
        --topic a* --partition 0
          error: a topic pattern, or --topic without partition numbers, does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker, or name topics and partitions
        --all-topic-partitions --batch-size 5
          error: --batch-size with --all-topic-partitions does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker, or leave --batch-size out
    "#]].assert_eq(&shown);
}

#[test]
fn selections_take_what_the_cluster_has() {
    let none: &[i32] = &[];
    let cluster = cluster(
        &[1],
        &[
            ("orders.eu", 0, 1, none, none),
            ("orders.eu", 1, 1, none, none),
            ("orders.us", 0, 1, none, none),
            ("ordersx", 0, 1, none, none),
        ],
    );
    let selected = |line: &str| {
        let args = args(&format!("--election-type preferred {line}")).expect("arguments");
        let Ok(Request {
            scope: Scope::Selected(selection),
            ..
        }) = Request::new(&args)
        else {
            panic!("{line} selects");
        };
        let selected: Vec<_> = selection
            .select(&cluster)
            .iter()
            .map(ToString::to_string)
            .collect();
        let unmatched: Vec<_> = selection
            .unmatched(&cluster)
            .iter()
            .map(ToString::to_string)
            .collect();
        (selected.join(" "), unmatched.join(" "))
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(
        selected("--topic orders.*"),
        pair("orders.eu-0 orders.eu-1 orders.us-0", "")
    );
    assert_eq!(
        selected("--topic orders.* --partition 1"),
        pair("orders.eu-1", "")
    );
    // A partition of a topic by name is asked for, whether it exists or not, as it is without a
    // pattern.
    assert_eq!(
        selected("--topic ordersx --topic orders.* --partition 1"),
        pair("orders.eu-1 ordersx-1", "")
    );
    assert_eq!(
        selected("--topic ordersx --topic no --topic n*"),
        pair("ordersx-0", "no n*")
    );
}
