//! Apache Kafka's command line tools, beyond what other clients have.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use klamm_cluster::wait_until;
use klamm_java_peer::Java;

use crate::Context;
use crate::java::{self, bare_tool};

const DEADLINE: Duration = Duration::from_secs(120);
/// Rounds of half a second until the replica verifier has everything.
const ROUNDS: usize = 240;
/// What it says in each.
const COMPARED: &str = "max lag is ";

impl Context {
    fn tool(&mut self, name: &str, args: &[&str]) -> String {
        java::tool(&mut self.peer, &self.up.bootstrap, name, args)
    }

    /// Runs a tool until it says what is wanted: brokers learn one after the other.
    fn tool_until(&mut self, name: &str, args: &[&str], done: impl Fn(&str) -> bool) -> String {
        let mut said = String::new();
        let held = wait_until(DEADLINE, || {
            let args = [&["--bootstrap-server", &self.up.bootstrap], args].concat();
            let (status, output) = self.peer.tool(name, &args).unwrap();
            said = output;
            status == 0 && done(&said)
        });
        assert!(held, "{name} {args:?} said at last: {said}");
        said
    }

    fn create(&mut self, topic: &str, more: &[&str]) {
        self.tool(
            "TopicCommand",
            &[&["--create", "--topic", topic], more].concat(),
        );
        self.described(topic, "Leader: none", 0);
    }

    /// Waits until the description of a topic has a text so many times.
    fn described(&mut self, topic: &str, text: &str, times: usize) {
        let args = ["--describe", "--topic", topic];
        self.tool_until("TopicCommand", &args, |said| {
            said.matches(text).count() == times
        });
    }

    /// Where each of a topic's partitions ends, or begins.
    fn offsets(&mut self, topic: &str, time: &str) -> Vec<u64> {
        let said = self.tool("GetOffsetShell", &["--topic", topic, "--time", time]);
        let offset = |line: &str| line.rsplit(':').next()?.parse().ok();
        said.lines().filter_map(offset).collect()
    }
}

/// Topics are made, grow and go.
pub(crate) fn topics(context: &mut Context) {
    context.create("made", &["--replica-assignment", "1:2:3,2:3:1"]);
    context.described("made", "Isr: ", 2);
    let grow = ["--alter", "--topic", "made", "--partitions", "5"];
    context.tool("TopicCommand", &grow);
    context.described("made", "Leader: ", 5);
    let again = [
        "--bootstrap-server",
        &context.up.bootstrap.clone(),
        "--create",
        "--topic",
        "made",
    ];
    let (status, said) = context.peer.tool("TopicCommand", &again).unwrap();
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("topic made exists"), "{said}");
    context.tool("TopicCommand", &["--delete", "--topic", "made"]);
    context.tool_until("TopicCommand", &["--list"], |said| {
        said.lines().all(|line| line != "made")
    });
}

/// Configs of topics and brokers, set and told.
pub(crate) fn configs(context: &mut Context) {
    context.create(
        "configured",
        &["--partitions", "1", "--config", "segment.bytes=1048576"],
    );
    let of_topic = ["--entity-type", "topics", "--entity-name", "configured"];
    let set = ["--alter", "--add-config", "retention.ms=60000"];
    context.tool("ConfigCommand", &[&set[..], &of_topic].concat());
    let describe = [&["--describe"], &of_topic[..]].concat();
    context.tool_until("ConfigCommand", &describe, |said| {
        said.contains("retention.ms=60000") && said.contains("segment.bytes=1048576")
    });
    let of_broker = ["--entity-type", "brokers", "--entity-name", "2"];
    let set = ["--alter", "--add-config", "log.retention.ms=120000"];
    context.tool("ConfigCommand", &[&set[..], &of_broker].concat());
    let describe = [&["--describe"], &of_broker[..]].concat();
    context.tool_until("ConfigCommand", &describe, |said| {
        said.contains("log.retention.ms=120000")
    });
    let all = context.tool("ConfigCommand", &[&describe[..], &["--all"]].concat());
    assert!(all.contains("min.insync.replicas=2"), "{all}");
}

/// A partition moves to another broker, with its records.
pub(crate) fn moves(context: &mut Context) {
    context.create("moved", &["--replica-assignment", "1:2"]);
    perform(context, "moved", "2000", &[]);
    let plan = r#"{"version":1,"partitions":[{"topic":"moved","partition":0,"replicas":[3,1]}]}"#;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plan.json");
    std::fs::write(&file, plan).unwrap();
    let file = file.to_str().unwrap();
    let reassign = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand";
    let with = ["--reassignment-json-file", file];
    context.tool(reassign, &[&with[..], &["--execute"]].concat());
    context.tool_until(
        reassign,
        &[&with[..], &["--verify", "--preserve-throttles"]].concat(),
        |said| said.contains("moved-0 is completed"),
    );
    context.described("moved", "Replicas: 3,1\tIsr: 1,3", 1);
    context.tool(
        "LeaderElectionCommand",
        &[
            "--election-type",
            "preferred",
            "--topic",
            "moved",
            "--partition",
            "0",
        ],
    );
    context.described("moved", "Leader: 3", 1);
    assert_eq!(context.offsets("moved", "-1"), [2_000]);
}

/// Records are deleted up to an offset, and directories say how large partitions are.
pub(crate) fn records(context: &mut Context) {
    context.create(
        "shortened",
        &["--partitions", "1", "--replication-factor", "3"],
    );
    perform(context, "shortened", "1000", &[]);
    let plan = r#"{"version":1,"partitions":[{"topic":"shortened","partition":0,"offset":400}]}"#;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("plan.json");
    std::fs::write(&file, plan).unwrap();
    let with = ["--offset-json-file", file.to_str().unwrap()];
    let said = context.tool("DeleteRecordsCommand", &with);
    assert!(said.contains("low_watermark: 400"), "{said}");
    assert_eq!(context.offsets("shortened", "-2"), [400]);
    assert_eq!(context.offsets("shortened", "-1"), [1_000]);
    let said = context.tool(
        "LogDirsCommand",
        &["--describe", "--topic-list", "shortened"],
    );
    assert_eq!(
        said.matches("\"partition\":\"shortened-0\"").count(),
        3,
        "{said}"
    );
    assert!(!said.contains("\"size\":0,"), "{said}");
}

/// Sends records as the producer does that nobody configured: idempotent, with acks of all.
fn perform(context: &mut Context, topic: &str, records: &str, properties: &[&str]) {
    let mut args = vec![
        "--topic",
        topic,
        "--num-records",
        records,
        "--record-size",
        "100",
    ];
    args.extend(["--throughput", "-1"]);
    for property in properties {
        args.extend(["--command-property", property]);
    }
    let said = context.tool("ProducerPerformance", &args);
    assert!(said.contains(&format!("{records} records sent")), "{said}");
    assert!(!said.contains("Exception"), "{said}");
}

/// The performance tool with every acks and large batches.
pub(crate) fn performance(context: &mut Context) {
    context.create(
        "performed",
        &["--partitions", "6", "--replication-factor", "3"],
    );
    perform(context, "performed", "20000", &[]);
    perform(
        context,
        "performed",
        "20000",
        &["batch.size=262144", "linger.ms=20", "compression.type=lz4"],
    );
    perform(
        context,
        "performed",
        "5000",
        &["acks=1", "enable.idempotence=false"],
    );
    let sum: u64 = context.offsets("performed", "-1").iter().sum();
    assert_eq!(sum, 45_000);
}

/// What tools tell of the cluster.
pub(crate) fn cluster(context: &mut Context) {
    let status = context.tool("MetadataQuorumCommand", &["describe", "--status"]);
    assert!(status.contains("LeaderId:               100"), "{status}");
    let replication = context.tool("MetadataQuorumCommand", &["describe", "--replication"]);
    assert_eq!(replication.matches("Observer").count(), 3, "{replication}");
    let versions = context.tool("BrokerApiVersionsCommand", &[]);
    assert_eq!(
        versions.matches("Produce(0): 3 to ").count(),
        3,
        "{versions}"
    );
    assert_eq!(
        versions
            .matches("\tFindCoordinator(10): UNSUPPORTED")
            .count(),
        3,
        "{versions}"
    );
    let features = context.tool("FeatureCommand", &["describe"]);
    assert!(features.contains("metadata.version"), "{features}");
    assert!(!features.contains("group.version"), "{features}");
    let bootstrap = context.up.bootstrap.clone();
    let ask = |context: &mut Context, what| {
        bare_tool(
            &mut context.peer,
            "ClusterTool",
            &[what, "--bootstrap-server", &bootstrap],
        )
    };
    let id = ask(context, "cluster-id");
    assert!(id.starts_with("Cluster ID: "), "{id}");
    let endpoints = ask(context, "list-endpoints");
    for server in bootstrap.split(',') {
        let (_, port) = server.rsplit_once(':').unwrap();
        assert!(endpoints.contains(port), "{server} is not in {endpoints}");
    }
}

/// Apache Kafka reads the files, and replicas are equal: in the brokers' answers and byte for byte.
pub(crate) fn files(context: &mut Context) {
    let configs = [
        "--config",
        "segment.bytes=1048576",
        "--config",
        "index.interval.bytes=512",
    ];
    let replicas = ["--partitions", "1", "--replication-factor", "3"];
    context.create("files", &[&configs[..], &replicas].concat());
    perform(context, "files", "20000", &["batch.size=4096"]);
    verify_replicas(&context.up.bootstrap);
    let mut first: Option<Vec<(String, Vec<u8>)>> = None;
    for broker in 1..=3 {
        let dir = context.up.partition_dir(broker, "files-0");
        let mut segments: Vec<(String, Vec<u8>)> = Vec::new();
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let is = |what: &str| path.extension().is_some_and(|extension| extension == what);
            if is("log") {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                segments.push((name, std::fs::read(&path).unwrap()));
            }
            if is("log") || is("index") || is("timeindex") {
                let file = path.to_str().unwrap();
                let args = ["--deep-iteration", "--files", file];
                let said = bare_tool(&mut context.peer, "DumpLogSegments", &args);
                assert!(!said.contains("mismatch"), "{file}: {said}");
                assert!(!said.contains("isvalid: false"), "{file}");
            }
        }
        segments.sort();
        assert!(segments.len() > 1, "one segment is not enough: {dir:?}");
        match &first {
            None => first = Some(segments),
            Some(first) => assert!(*first == segments, "broker {broker} has other records"),
        }
    }
}

/// Apache Kafka's verifier fetches from all replicas, and compares until it is told to stop.
fn verify_replicas(bootstrap: &str) {
    let mut command =
        Java::prepared().command("org.apache.kafka.tools.ReplicaVerificationTool", 256, &[]);
    command
        .args(["--broker-list", bootstrap, "--topics-include", "files"])
        .args(["--report-interval-ms", "500"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let end = "max lag is 0 for partition files-0 at offset 20000";
    let mut said = lines.by_ref().map_while(Result::ok).take(ROUNDS);
    let verified = said.find(|line| {
        line.contains(end) || !line.contains(COMPARED) && !line.contains("verification process")
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let line = verified.expect("it comes to the end of the records");
    assert!(line.contains(end), "{line}");
}
