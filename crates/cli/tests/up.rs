//! `klamm up` as a process.

use std::time::Duration;

use klamm_client::{Admin, Bootstrap, ClientConfig, NewTopic, ServerAddress, TopicSelection};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::support::{finish, klamm, signal, start};

const PATIENCE: Duration = Duration::from_secs(60);

/// A cluster that serves, and what it said.
async fn up(flags: &str) -> (Child, Value) {
    let mut child = start(&format!("up --port 0 --output json {flags}"));
    let stdout = child.stdout.take().expect("a pipe");
    let line = BufReader::new(stdout).lines().next_line().await;
    let line = line.expect("text").expect("it says where it is");
    (child, serde_json::from_str(&line).expect("an object"))
}

async fn admin(ready: &Value) -> Admin {
    let servers = ready["bootstrap_servers"].as_str().expect("servers");
    let servers = ServerAddress::parse_list(servers).expect("servers");
    let mut config = ClientConfig::new(Bootstrap::Brokers(servers));
    config.default_api_timeout = PATIENCE;
    Admin::connect(config).await.expect("it serves")
}

#[tokio::test]
async fn a_cluster_serves_until_a_signal() {
    let (child, ready) = up("--brokers 2").await;
    assert_eq!(ready["brokers"].as_array().map(Vec::len), Some(2));
    assert_eq!(ready["is_temporary"], true);
    let dir = ready["dir"].as_str().expect("a directory").to_owned();
    let admin = admin(&ready).await;
    let topics = [NewTopic::new("orders", 2, 2)];
    let created = admin.create_topics(&topics, Default::default()).await;
    for (name, created) in created.expect("an answer") {
        created.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    signal(&child, "-INT").await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    // A broker may have seen another one go.
    assert!(!finished.stderr.contains("ERROR"), "{finished}");
    assert!(!std::path::Path::new(&dir).exists(), "{dir} is left");
}

#[tokio::test]
async fn what_is_kept_is_there_again() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let flags = format!("--brokers 1 --dir {}", dir.path().display());
    let (child, ready) = up(&flags).await;
    assert_eq!(ready["is_temporary"], false);
    let topics = [NewTopic::new("kept", 1, 1)];
    let created = admin(&ready)
        .await
        .create_topics(&topics, Default::default())
        .await;
    for (name, created) in created.expect("an answer") {
        created.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    signal(&child, "-TERM").await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    let (child, ready) = up(&flags).await;
    let all = admin(&ready).await;
    let topics = all
        .describe_topics(&TopicSelection::named(["kept"]), Default::default())
        .await;
    let topics = topics.expect("an answer");
    assert!(topics.values().all(Result::is_ok), "{topics:?}");
    signal(&child, "-TERM").await;
    finish(child).await;
}

#[tokio::test]
async fn what_cannot_be_is_misuse() {
    for (flags, said) in [
        ("--brokers 0", "0 is not in 1..=99"),
        (
            "--property listeners=PLAINTEXT://:9092",
            "the cluster's own",
        ),
        ("--property number", "KEY=VALUE"),
        ("--property num.partitions=many", "num.partitions"),
        ("--port 65535", "beyond 65535"),
        ("--dir a,b", "comma"),
    ] {
        let finished = klamm(&format!("up {flags}")).await;
        assert_eq!(finished.code, Some(2), "{flags}: {finished}");
        assert!(finished.stderr.contains(said), "{flags}: {finished}");
    }
}
