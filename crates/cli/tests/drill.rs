//! `klamm drill` as a process.

use klamm_client::{
    Admin, Bootstrap, BrokerId, ClientConfig, ElectLeadersOptions, ElectionScope, ElectionType,
    NewTopic, ServerAddress, TopicSelection,
};
use klamm_server::EmbeddedCluster;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr};

use crate::support::{finish, interrupt, klamm, start};

#[tokio::test]
async fn nothing_is_lost() {
    let line = "drill --output json --partitions 7 --rate 200 --calm 300ms";
    let finished = klamm(line).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    let report: Value = serde_json::from_str(&finished.stdout).expect("an object");
    for none in ["lost", "doubled", "out_of_order", "unacked_and_there"] {
        assert_eq!(report[none], 0, "{finished}");
    }
    assert!(report["acked"].as_u64() > Some(100), "{finished}");
    assert_eq!(report["sent"], report["acked"], "{finished}");
    // Seven partitions on three brokers: whoever leads three is the one.
    assert_eq!(report["partitions_hit"], 3, "{finished}");
    let leaders = &report["leaders"];
    let killed = report["killed"].to_string();
    assert_eq!(leaders["before"], leaders["election"], "{finished}");
    assert_eq!(leaders["failover"][&killed], 0, "{finished}");
    let of = |name: &str| report["unavailability_ms"][name].as_u64().expect("a time");
    assert!(of("min") <= of("median") && of("median") <= of("max"));
    for said in ["3 brokers serve", "is killed", "others lead", "is back"] {
        assert!(finished.stderr.contains(said), "{finished}");
    }
}

#[tokio::test]
async fn ctrl_c_ends_it() {
    let (child, mut story) = told("drill --calm 600s");
    story.expect("records a second").await;
    interrupt(&child).await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(130), "{finished}");
    assert_eq!(finished.stdout, "");
}

#[tokio::test]
async fn a_timeline_is_written_into_a_file() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("drill.html");
    let html = format!("--html {}", path.display());
    let load = "--partitions 3 --rate 100 --calm 200ms";
    let finished = klamm(&format!("drill {load} {html}")).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    let page = std::fs::read_to_string(&path).expect("a page");
    assert!(page.ends_with("</html>\n"), "{page}");
    for said in [
        "Every acknowledged record is there, once and in order.",
        "broker 1 is killed; it led 1 partition",
    ] {
        assert!(page.contains(said), "{page}");
    }
    // Without a page there is no file.
    std::fs::remove_file(&path).expect("the page");
    let (child, mut story) = told(&format!("drill --calm 600s {html}"));
    story.expect("records a second").await;
    interrupt(&child).await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(130), "{finished}");
    assert!(!path.exists());
}

#[tokio::test]
async fn what_cannot_be_is_misuse() {
    for flags in ["--brokers 2", "--partitions 0", "--rate 0", "--calm 0s"] {
        let finished = klamm(&format!("drill {flags}")).await;
        assert_eq!(finished.code, Some(2), "{flags}: {finished}");
    }
}

/// What a drill says, line by line.
struct Story {
    lines: Lines<BufReader<ChildStderr>>,
    said: Vec<String>,
}

fn told(words: &str) -> (Child, Story) {
    let mut child = start(words);
    let stderr = child.stderr.take().expect("a pipe");
    let story = Story {
        lines: BufReader::new(stderr).lines(),
        said: Vec::new(),
    };
    (child, story)
}

impl Story {
    /// Waits for a line with this in it.
    async fn expect(&mut self, text: &str) -> String {
        while let Some(line) = self.lines.next_line().await.expect("text") {
            self.said.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
        panic!("{text:?} is not in {:#?}", self.said);
    }
}

async fn cluster(brokers: u16) -> (EmbeddedCluster, Admin) {
    let cluster = EmbeddedCluster::builder().brokers(brokers).start().await;
    let cluster = cluster.expect("a cluster");
    let servers = ServerAddress::parse_list(&cluster.bootstrap_servers()).expect("addresses");
    let admin = Admin::connect(ClientConfig::new(Bootstrap::Brokers(servers))).await;
    (cluster, admin.expect("it serves"))
}

async fn topics(admin: &Admin) -> Vec<String> {
    let topics = admin
        .describe_topics(&TopicSelection::All, Default::default())
        .await;
    topics
        .expect("an answer")
        .into_keys()
        .map(|name| name.to_string())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_cluster_that_somebody_disturbs() {
    let (mut cluster, admin) = cluster(3).await;
    let servers = cluster.bootstrap_servers();
    let flags = "--partitions 6 --rate 200 --output json";
    let (child, mut story) = told(&format!("drill --bootstrap-server {servers} {flags}"));
    story
        .expect("6 partitions, 3 replicas each, of which 2")
        .await;
    story.expect("disturb it now").await;
    let one = BrokerId(1);
    cluster.kill_broker(one).await.expect("it runs");
    story.expect("broker 1 has left").await;
    story.expect("from broker 1 to").await;
    cluster.start_broker(one).await.expect("it starts");
    story.expect("broker 1 is back, ").await;
    story.expect("all replicas are in sync").await;
    let options = ElectLeadersOptions::default();
    let elected = admin.elect_leaders(ElectionType::Preferred, ElectionScope::All, options);
    elected.all().await.expect("preferred leaders");
    story.expect("to 1").await;
    interrupt(&child).await;
    story.expect("every record is read back").await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    let report: Value = serde_json::from_str(&finished.stdout).expect("an object");
    for none in ["lost", "doubled", "out_of_order", "unacked_and_there"] {
        assert_eq!(report[none], 0, "{finished}");
    }
    assert!(report["acked"].as_u64() > Some(0), "{finished}");
    assert_eq!(report["sent"], report["acked"], "{finished}");
    // What broker 1 led, and perhaps what stood still meanwhile.
    assert!(report["partitions_hit"].as_u64() >= Some(2), "{finished}");
    let of = |name: &str| report["unavailability_ms"][name].as_u64().expect("a time");
    assert!(of("min") <= of("median") && of("median") <= of("max"));
    assert_eq!(report["leaders"]["before"], report["leaders"]["after"]);
    let told = report["events"].as_array().expect("a list");
    assert!(
        told.iter()
            .any(|event| event["what"] == "broker 1 has left")
    );
    assert_eq!(topics(&admin).await, Vec::<String>::new());
    cluster.stop().await.expect("a clean end");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_time_may_be_over_and_its_topic_may_stay() {
    let (cluster, admin) = cluster(2).await;
    let servers = cluster.bootstrap_servers();
    let flags = "--partitions 2 --rate 100 --duration 300ms --topic rehearsal --keep-topic";
    let finished = klamm(&format!("drill --bootstrap-server {servers} {flags}")).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    assert!(finished.stdout.contains(" 0 lost, 0 doubled"), "{finished}");
    assert!(
        finished.stdout.contains("no partition, as brokers say"),
        "{finished}"
    );
    assert!(
        finished.stderr.contains("the topic rehearsal is kept"),
        "{finished}"
    );
    assert_eq!(topics(&admin).await, ["rehearsal"]);
    // Whose topic it is nobody knows the second time.
    let finished = klamm(&format!("drill --bootstrap-server {servers} {flags}")).await;
    assert_eq!(finished.code, Some(1), "{finished}");
    assert!(
        finished.stderr.contains("TOPIC_ALREADY_EXISTS"),
        "{finished}"
    );
    assert!(
        finished.stderr.contains("next step: give --topic a name"),
        "{finished}"
    );
    assert_eq!(topics(&admin).await, ["rehearsal"]);
    cluster.stop().await.expect("a clean end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_ctrl_c_waits_for_nothing() {
    let (mut cluster, _admin) = cluster(3).await;
    let servers = cluster.bootstrap_servers();
    let flags = "--partitions 3 --rate 100 --topic left";
    let (child, mut story) = told(&format!("drill --bootstrap-server {servers} {flags}"));
    story.expect("disturb it now").await;
    for id in [1, 2] {
        cluster.kill_broker(BrokerId(id)).await.expect("it runs");
        story.expect(&format!("broker {id} has left")).await;
    }
    interrupt(&child).await;
    // One replica of three is not enough.
    story.expect("not acknowledged yet").await;
    interrupt(&child).await;
    story.expect("the topic left is left").await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(130), "{finished}");
    assert_eq!(finished.stdout, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn clusters_that_cannot_be_drilled() {
    let (cluster, admin) = cluster(1).await;
    let servers = cluster.bootstrap_servers();
    let finished = klamm(&format!("drill --bootstrap-server {servers}")).await;
    assert_eq!(finished.code, Some(1), "{finished}");
    for said in [
        "error: the cluster has too few brokers",
        "cause: 1 broker in service",
        "next step: start another one",
    ] {
        assert!(finished.stderr.contains(said), "{finished}");
    }
    let topic = NewTopic::new("a", 1, 1);
    let made = admin.create_topics(&[topic], Default::default()).await;
    made.expect("it serves still");
    cluster.stop().await.expect("a clean end");
    let finished = klamm("drill --bootstrap-server 127.0.0.1:1").await;
    assert_eq!(finished.code, Some(1), "{finished}");
    let said = "error: the cluster could not be reached\n  cause: 127.0.0.1:1: connection refused";
    assert!(finished.stderr.contains(said), "{finished}");
}
