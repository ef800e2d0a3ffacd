use std::fmt::Write as _;
use std::path::PathBuf;

use expect_test::expect;

use crate::support::{file, klamm};

#[tokio::test]
async fn nothing_is_sent_and_the_status_is_2() {
    let all = "--election-type preferred --all-topic-partitions";
    let server = "--bootstrap-server 127.0.0.1:1";
    let mut shown = String::new();
    for line in [
        String::new(),
        "frobnicate".to_owned(),
        format!("elect {all}"),
        format!("elect {server} --all-topic-partitions"),
        format!("elect {server} --election-type preferred"),
        format!("elect {server} --election-type preferred --topic a"),
        format!("elect {server} {all} --partition 1"),
        format!("elect {server} {all} --topic a"),
        format!("elect {server} {all} --bootstrap-controller 127.0.0.1:1"),
        format!("elect {all} --bootstrap-controller 127.0.0.1:1 --dry-run"),
        format!("elect {server} {all} --command-config /nonexistent"),
        format!("elect {server} --election-type preferred --path-to-json-file /nonexistent"),
        format!("elect {all} --bootstrap-server localhost"),
        format!("leaders {server} --broker x"),
        format!("leaders {server} --watch 0"),
        format!("drill {server} --brokers 5"),
        format!("drill {server} --calm 1s"),
        "drill --duration 10s".to_owned(),
        "drill --topic a --keep-topic".to_owned(),
        "drill --timeout 10s".to_owned(),
        "drill --bootstrap-controller 127.0.0.1:1".to_owned(),
        "drill --bootstrap-server localhost".to_owned(),
        format!("drill {server} --duration 10h"),
        "drill --html /nonexistent/drill.html".to_owned(),
        format!("drill {server} --html /"),
        "completions tcsh".to_owned(),
        "man frobnicate".to_owned(),
    ] {
        let finished = klamm(&line).await;
        assert_eq!(finished.code, Some(2), "{line}\n{finished}");
        assert_eq!(finished.stdout, "", "{line}");
        // The help that stands in for a missing command has a snapshot of its own.
        let stderr = if line.is_empty() {
            "(help)\n"
        } else {
            &finished.stderr
        };
        let _ = writeln!(shown, "$ klamm {line}\n{stderr}");
    }
    expect![[r#"
        $ klamm 
        (help)

        $ klamm frobnicate
        error: unrecognized subcommand 'frobnicate'

          tip: a similar subcommand exists: 'format'

        Usage: klamm <COMMAND>

        For more information, try '--help'.

        $ klamm elect --election-type preferred --all-topic-partitions
        error: no server is named
          next step: name a broker with --bootstrap-server host:port, or in --command-config

        $ klamm elect --bootstrap-server 127.0.0.1:1 --all-topic-partitions
        error: the following required arguments were not provided:
          --election-type <TYPE>

        Usage: klamm elect --election-type <TYPE> --bootstrap-server <HOST:PORT,...> --all-topic-partitions

        For more information, try '--help'.

        $ klamm elect --bootstrap-server 127.0.0.1:1 --election-type preferred
        error: no partitions are chosen
          next step: give exactly one of --topic, --all-topic-partitions and --path-to-json-file

        $ klamm elect --bootstrap-server 127.0.0.1:1 --election-type preferred --topic a
        error: --topic a needs --partition
          next step: say which partition, such as --partition 0, or --partition all

        $ klamm elect --bootstrap-server 127.0.0.1:1 --election-type preferred --all-topic-partitions --partition 1
        error: --partition does not go with --all-topic-partitions
          next step: --partition goes with --topic only

        $ klamm elect --bootstrap-server 127.0.0.1:1 --election-type preferred --all-topic-partitions --topic a
        error: --topic and --all-topic-partitions do not go together
          next step: give exactly one of --topic, --all-topic-partitions and --path-to-json-file

        $ klamm elect --bootstrap-server 127.0.0.1:1 --election-type preferred --all-topic-partitions --bootstrap-controller 127.0.0.1:1
        error: the argument '--bootstrap-server <HOST:PORT,...>' cannot be used with '--bootstrap-controller <HOST:PORT,...>'

        Usage: klamm elect --election-type <TYPE> --bootstrap-server <HOST:PORT,...> --all-topic-partitions

        For more information, try '--help'.

        $ klamm elect --election-type preferred --all-topic-partitions --bootstrap-controller 127.0.0.1:1 --dry-run
        error: --dry-run does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker

        $ klamm elect --bootstrap-server 127.0.0.1:1 --election-type preferred --all-topic-partitions --command-config /nonexistent
        error: /nonexistent cannot be read
          cause: No such file or directory (os error 2)
          next step: check the path given with --command-config

        $ klamm elect --bootstrap-server 127.0.0.1:1 --election-type preferred --path-to-json-file /nonexistent
        error: /nonexistent cannot be read
          cause: No such file or directory (os error 2)
          next step: check what is given with --path-to-json-file

        $ klamm elect --election-type preferred --all-topic-partitions --bootstrap-server localhost
        error: --bootstrap-server: "localhost" is not a server address: the port is missing; write host:port, such as localhost:9092 or [::1]:9092

        $ klamm leaders --bootstrap-server 127.0.0.1:1 --broker x
        error: invalid value 'x' for '--broker <ID,...>': write brokers' ids: 3, or 1,2,3

        For more information, try '--help'.

        $ klamm leaders --bootstrap-server 127.0.0.1:1 --watch 0
        error: invalid value '0' for '--watch [<INTERVAL>]': must be longer than 0

        For more information, try '--help'.

        $ klamm drill --bootstrap-server 127.0.0.1:1 --brokers 5
        error: the argument '--bootstrap-server <HOST:PORT,...>' cannot be used with '--brokers <N>'

        Usage: klamm drill --bootstrap-server <HOST:PORT,...>

        For more information, try '--help'.

        $ klamm drill --bootstrap-server 127.0.0.1:1 --calm 1s
        error: the argument '--bootstrap-server <HOST:PORT,...>' cannot be used with '--calm <DURATION>'

        Usage: klamm drill --bootstrap-server <HOST:PORT,...>

        For more information, try '--help'.

        $ klamm drill --duration 10s
        error: the following required arguments were not provided:
          <--bootstrap-server <HOST:PORT,...>|--command-config <FILE>>

        Usage: klamm drill --duration <DURATION> <--bootstrap-server <HOST:PORT,...>|--command-config <FILE>>

        For more information, try '--help'.

        $ klamm drill --topic a --keep-topic
        error: the following required arguments were not provided:
          <--bootstrap-server <HOST:PORT,...>|--command-config <FILE>>

        Usage: klamm drill --topic <NAME> --keep-topic <--bootstrap-server <HOST:PORT,...>|--command-config <FILE>>

        For more information, try '--help'.

        $ klamm drill --timeout 10s
        error: no server is named
          next step: name a broker with --bootstrap-server host:port, or in --command-config

        $ klamm drill --bootstrap-controller 127.0.0.1:1
        error: klamm drill does not work with controllers
          cause: controllers take no records, and do not say who leads
          next step: use --bootstrap-server with a broker

        $ klamm drill --bootstrap-server localhost
        error: --bootstrap-server: "localhost" is not a server address: the port is missing; write host:port, such as localhost:9092 or [::1]:9092

        $ klamm drill --bootstrap-server 127.0.0.1:1 --duration 10h
        error: --duration and --rate are too much together
          cause: they make 36000000 records; a drill keeps account of 5000000
          next step: lower one of them; with --rate 100 a drill may take 13 hours

        $ klamm drill --html /nonexistent/drill.html
        error: /nonexistent/drill.html cannot be written
          cause: No such file or directory (os error 2)
          next step: give --html a file in a directory that exists and that you may write to

        $ klamm drill --bootstrap-server 127.0.0.1:1 --html /
        error: / cannot be written
          cause: Is a directory (os error 21)
          next step: give --html a file in a directory that exists and that you may write to

        $ klamm completions tcsh
        error: invalid value 'tcsh' for '<SHELL>'
          [possible values: bash, elvish, fish, powershell, zsh]

          tip: a similar value exists: 'zsh'

        For more information, try '--help'.

        $ klamm man frobnicate
        error: there is no command frobnicate
          next step: the commands are elect, leaders, explain, format, info, random-uuid, controller, broker, up, drill, completions, man

    "#]].assert_eq(&shown);
}

#[tokio::test]
async fn files_are_blamed_by_name_and_line() {
    let list = file("list.json", "{\"partitions\": [\n {\"topic\": \"a\"}]}");
    let config = file(
        "client.properties",
        "client.id=x\n\nrequest.timeout.ms=soon\n",
    );
    let all = "elect --election-type preferred --all-topic-partitions";
    let lines = [
        format!(
            "elect --bootstrap-server 127.0.0.1:1 --election-type preferred --path-to-json-file {}",
            list.display()
        ),
        format!(
            "{all} --bootstrap-server 127.0.0.1:1 --command-config {}",
            config.display()
        ),
        format!(
            "{all} --bootstrap-server 127.0.0.1:1 --admin.config {}",
            config.display()
        ),
    ];
    let mut shown = String::new();
    for line in lines {
        let finished = klamm(&line).await;
        assert_eq!(finished.code, Some(2), "{finished}");
        shown.push_str(&finished.stderr);
    }
    let shown = shown.replace(env!("CARGO_TARGET_TMPDIR"), "DIR");
    expect![[r#"
        error: DIR/list.json:2:15: missing field `partition`
          next step: the form is {"partitions": [{"topic": "orders", "partition": 0}]}
        error: the client's properties file cannot be used
          cause: DIR/client.properties:3: request.timeout.ms=soon: the value must be a whole number from 0 to 2147483647 (milliseconds)
        warning: --admin.config is deprecated: use --command-config
        error: the client's properties file cannot be used
          cause: DIR/client.properties:3: request.timeout.ms=soon: the value must be a whole number from 0 to 2147483647 (milliseconds)
    "#]].assert_eq(&shown);
}

#[tokio::test]
async fn help_and_version_end_with_0() {
    for line in [
        "--help",
        "--version",
        "elect --help",
        "man",
        "man elect",
        "completions bash",
    ] {
        let finished = klamm(line).await;
        assert_eq!(
            (finished.code, finished.stderr.as_str()),
            (Some(0), ""),
            "{line}"
        );
        assert!(!finished.stdout.is_empty(), "{line}");
    }
    let version = klamm("--version").await.stdout;
    assert_eq!(version, format!("klamm {}\n", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn man_pages_can_be_installed() {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let finished = klamm(&format!("man --dir {}", dir.display())).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    let page = std::fs::read_to_string(dir.join("klamm-elect.1")).expect("a page");
    assert!(page.contains(".TH klamm-elect 1"), "{page}");
    let finished = klamm("man --dir /nonexistent").await;
    assert_eq!(finished.code, Some(1), "{finished}");
}
