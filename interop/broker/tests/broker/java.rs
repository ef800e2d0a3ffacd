//! Apache Kafka's own command line tools, as one of the clients.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use klamm_java_peer::{Java, Peer};

use crate::records::{self, PARTITIONS};

const CONSOLE_CONSUMER: &str = "org.apache.kafka.tools.consumer.ConsoleConsumer";
const CONSOLE_PRODUCER: &str = "org.apache.kafka.tools.ConsoleProducer";
const HEAP_MIB: u32 = 256;
/// How long a consumer waits for a record that does not come.
const PATIENCE_MS: &str = "120000";

/// Runs a tool that takes the bootstrap list by its usual name; it has to succeed.
pub(crate) fn tool(peer: &mut Peer, bootstrap: &str, name: &str, args: &[&str]) -> String {
    bare_tool(
        peer,
        name,
        &[&["--bootstrap-server", bootstrap], args].concat(),
    )
}

/// Runs a tool with these arguments alone; it has to succeed.
pub(crate) fn bare_tool(peer: &mut Peer, name: &str, args: &[&str]) -> String {
    let (status, said) = peer.tool(name, args).unwrap();
    assert_eq!(status, 0, "{name} {args:?}: {said}");
    said
}

/// An operation as the programs of other clients have it.
pub(crate) fn run(peer: &mut Peer, operation: &str, bootstrap: &str, args: &[&str]) -> String {
    let mut run = |name: &str, args: &[&str]| tool(peer, bootstrap, name, args);
    match (operation, args) {
        ("create", [topic, partitions, replicas]) => {
            let of_topic = ["--create", "--topic", topic, "--partitions", partitions];
            run(
                "TopicCommand",
                &[&of_topic[..], &["--replication-factor", replicas]].concat(),
            )
        }
        ("delete", [topic]) => run("TopicCommand", &["--delete", "--topic", topic]),
        ("offsets", [topic]) => {
            let first = offsets(&run("GetOffsetShell", &["--topic", topic, "--time", "-2"]));
            let end = offsets(&run("GetOffsetShell", &["--topic", topic, "--time", "-1"]));
            let rows = first.into_iter().zip(end).enumerate();
            rows.map(|(index, (first, end))| format!("{index} {first} {end}\n"))
                .collect()
        }
        ("elect", [topic, partition]) => {
            let what = ["--election-type", "preferred", "--topic", topic];
            run(
                "LeaderElectionCommand",
                &[&what[..], &["--partition", partition]].concat(),
            )
        }
        ("consume", [topic, _]) => {
            let ends = offsets(&run("GetOffsetShell", &["--topic", topic, "--time", "-1"]));
            let mut all = String::new();
            for (partition, end) in ends.into_iter().enumerate() {
                let (partition, end) = (partition.to_string(), end.to_string());
                let said = run(
                    CONSOLE_CONSUMER,
                    &[
                        &["--topic", topic, "--partition", &partition],
                        &["--offset", "earliest", "--max-messages", &end][..],
                        &["--timeout-ms", PATIENCE_MS],
                        &["--formatter-property", "print.offset=true"],
                        &["--formatter-property", "print.key=true"],
                    ]
                    .concat(),
                );
                all.push_str(&shown(&partition, &said));
            }
            all
        }
        ("produce", [topic, codec, first, count, idempotence]) => {
            let first: usize = first.parse().unwrap();
            let numbers = first..first + count.parse::<usize>().unwrap();
            produce(
                bootstrap,
                topic,
                codec,
                numbers,
                *idempotence == "idempotent",
            );
            String::new()
        }
        other => panic!("no operation {other:?}"),
    }
}

/// What lines of `TOPIC:PARTITION:OFFSET` say, in the order of the partitions.
fn offsets(said: &str) -> Vec<u64> {
    let mut rows: Vec<(u64, u64)> = said
        .lines()
        .filter_map(|line| {
            let mut parts = line.rsplitn(3, ':');
            let mut number = || parts.next()?.parse().ok();
            let offset = number()?;
            Some((number()?, offset))
        })
        .collect();
    rows.sort_unstable();
    assert_eq!(rows.len(), PARTITIONS, "{said}");
    rows.into_iter().map(|(_, offset)| offset).collect()
}

/// Lines of `Offset:N KEY VALUE`, with tabs, as other clients show records.
fn shown(partition: &str, said: &str) -> String {
    let mut shown = String::new();
    for line in said.lines() {
        let Some(line) = line.strip_prefix("Offset:") else {
            continue;
        };
        let row = line.replace('\t', " ");
        writeln!(shown, "{partition} {row}").expect("a String takes everything");
    }
    shown
}

/// The console producer sends what it reads, and ends with its input; in a JVM of its own, since it
/// sends the last of it when the JVM ends.
fn produce(
    bootstrap: &str,
    topic: &str,
    codec: &str,
    numbers: std::ops::Range<usize>,
    idempotence: bool,
) {
    let mut command = Java::prepared().command(CONSOLE_PRODUCER, HEAP_MIB, &[]);
    command
        .args(["--bootstrap-server", bootstrap, "--topic", topic])
        .args([
            "--compression-codec",
            codec,
            "--request-required-acks",
            "all",
        ])
        .args(["--reader-property", "parse.key=true"])
        .args([
            "--command-property",
            &format!("enable.idempotence={idempotence}"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let input: String = numbers
        .map(|number| format!("{}\t{}\n", records::key(number), records::value(number)))
        .collect();
    // Dropped at the end of the statement, which is the end of its input.
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{}: {said}", output.status);
    // It ends well even where records were refused.
    assert!(!said.contains("ERROR"), "{said}");
}
