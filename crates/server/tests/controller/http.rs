//! What a controller tells of itself, and to whom.

use std::collections::BTreeMap;

use klamm_protocol::BrokerId;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::admin::{preferred, topic};
use crate::support::{Broker, Controller, Follower, Home, until};

fn home() -> Home {
    let mut home = Home::new();
    home.set("klamm.http.listener", "127.0.0.1:0");
    // A session that no test sees the end of.
    home.set("broker.session.timeout.ms", "3600000");
    home
}

async fn connect(controller: &Controller) -> TcpStream {
    let address = controller.http_address();
    TcpStream::connect(address).await.expect("it listens")
}

/// The head and the body of the answer to a request that ends its connection.
async fn ask(controller: &Controller, method: &str, path: &str) -> (String, String) {
    let mut stream = connect(controller).await;
    let request = format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

async fn get(controller: &Controller, path: &str) -> (u16, String) {
    let (head, body) = ask(controller, "GET", path).await;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (status.expect("a status"), body)
}

/// The samples of a scrape by name and label.
async fn scrape(controller: &Controller) -> BTreeMap<String, f64> {
    let (status, text) = get(controller, "/metrics").await;
    assert_eq!(status, 200, "{text}");
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let samples = samples.map(|line| {
        let (name, value) = line.rsplit_once(' ').expect("a sample");
        (name.to_owned(), value.parse().expect("a number"))
    });
    samples.collect()
}

/// A metric of Kafka's controller.
async fn kafka(controller: &Controller, name: &str) -> f64 {
    scrape(controller).await[&format!("kafka_controller_kafkacontroller_{name}")]
}

#[tokio::test]
async fn nothing_listens_unless_it_is_configured() {
    let home = Home::new();
    let controller = home.start().await;
    assert!(controller.node().http_address().is_none());
}

#[tokio::test]
async fn a_controller_is_well_and_becomes_ready() {
    let home = home();
    let controller = home.start().await;
    assert_eq!(get(&controller, "/healthz").await, (200, "ok\n".to_owned()));
    until("it is ready", async || {
        get(&controller, "/readyz").await == (200, "active\n".to_owned())
    })
    .await;
    // What it began with is there for whoever asks now.
    let scrape = scrape(&controller).await;
    assert_eq!(
        scrape["kafka_controller_kafkacontroller_activecontrollercount"],
        1.0
    );
    assert_eq!(
        scrape["kafka_server_metadataloader_currentmetadataversion"],
        33.0
    );
}

#[tokio::test]
async fn whoever_asks_for_anything_else_is_told_what_there_is() {
    let home = home();
    let controller = home.start().await;
    let (status, text) = get(&controller, "/").await;
    assert_eq!(
        (status, &*text),
        (404, "There are /healthz, /readyz and /metrics.\n")
    );
    let (head, _) = ask(&controller, "POST", "/metrics").await;
    assert!(head.starts_with("HTTP/1.1 405"), "{head}");
    assert!(head.contains("allow: GET, HEAD"), "{head}");
    let (head, body) = ask(&controller, "HEAD", "/metrics").await;
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    assert_eq!((&head[..15], &*body), ("HTTP/1.1 200 OK", ""));
}

#[tokio::test]
async fn a_connection_answers_again_and_again() {
    let home = home();
    let controller = home.start().await;
    let mut stream = connect(&controller).await;
    for _ in 0..3 {
        let request = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n";
        stream.write_all(request).await.expect("sent");
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\nok\n") {
            answer.push(stream.read_u8().await.expect("an answer"));
        }
    }
}

#[tokio::test]
async fn brokers_and_partitions_are_counted() {
    let home = home();
    let controller = home.start().await;
    let mut one = Broker::started(&controller, 1).await;
    let mut two = Broker::started(&controller, 2).await;
    let client = controller.connect().await;
    client
        .create(&topic("orders", &[&[1, 2], &[2, 1], &[1, 2]]))
        .await;
    let all = scrape(&controller).await;
    let value = |name: &str| all[&format!("kafka_controller_kafkacontroller_{name}")];
    assert_eq!(
        (value("activebrokercount"), value("fencedbrokercount")),
        (2.0, 0.0)
    );
    assert_eq!(
        (value("globaltopiccount"), value("globalpartitioncount")),
        (1.0, 3.0)
    );
    assert_eq!(value("offlinepartitionscount"), 0.0);
    assert_eq!(value("preferredreplicaimbalancecount"), 0.0);
    assert_eq!(value("brokerregistrationstate{broker=\"1\"}"), 30.0);
    assert!(value("timesincelastheartbeatreceivedms{broker=\"2\"}") >= 0.0);
    assert!(value("lastcommittedrecordoffset") <= value("lastappliedrecordoffset"));
    assert_eq!(value("newactivecontrollerscount"), 1.0);
    assert_eq!(all["kafka_server_raftmetrics_number_of_observers"], 2.0);
    assert_eq!(
        all["kafka_server_raftmetrics_current_state{current_state=\"leader\"}"],
        1.0
    );
    assert_eq!(all["kafka_server_raftmetrics_current_leader"], 100.0);
    let level = |name: &str| all[&format!("kafka_server_metadataloader_finalizedlevel{name}")];
    assert_eq!(level("{featureName=\"metadataVersion\"}"), 33.0);
    assert_eq!(level("{featureName=\"kraftVersion\"}"), 1.0);
    assert_eq!(
        level("{featureName=\"eligibleLeaderReplicasVersion\"}"),
        1.0
    );
    assert!(all["kafka_server_raftmetrics_commit_latency_max"] > 0.0);
    let handled = "kafka_controller_controllereventmanager_eventqueueprocessingtimems";
    assert!(all[&format!("{handled}_count")] > 10.0);
    assert!(all[&format!("{handled}_sum")] > 0.0);
    assert!(all[&format!("{handled}{{quantile=\"0.99\"}}")] >= 0.0);

    // Broker 1 hands over what it leads.
    let stop = |request: &mut BrokerHeartbeatRequest| request.want_shut_down = true;
    one.heartbeat_with(stop).await;
    assert_eq!(
        kafka(&controller, "controlledshutdownbrokercount").await,
        1.0
    );
    assert_eq!(
        kafka(&controller, "brokerregistrationstate{broker=\"1\"}").await,
        20.0
    );
    assert_eq!(
        kafka(&controller, "preferredreplicaimbalancecount").await,
        2.0
    );
    let changes = |why: &str| format!("klamm_leader_changes_total{{why=\"{why}\"}}");
    let all = scrape(&controller).await;
    assert_eq!(all[&changes("controlled-shutdown")], 2.0);
    assert_eq!(all[&changes("preferred-requested")], 0.0);
    two.follower.until_led("orders", 0, 2).await;
    two.heartbeat().await;
    assert!(one.heartbeat_with(stop).await.should_shut_down);
    assert_eq!(kafka(&controller, "fencedbrokercount").await, 1.0);
    assert_eq!(
        kafka(&controller, "brokerregistrationstate{broker=\"1\"}").await,
        10.0
    );
}

#[tokio::test]
async fn elections_are_counted_by_their_reasons() {
    let mut home = home();
    home.set("klamm.broker.connection.loss.grace.ms", "1");
    let controller = home.start().await;
    let one = Broker::started(&controller, 1).await;
    let mut observer = Follower::new(&controller, -1).await;
    let client = controller.connect().await;
    client.create(&topic("orders", &[&[1]])).await;
    observer.until_led("orders", 0, 1).await;
    drop(one);
    observer.until_led("orders", 0, -1).await;
    assert_eq!(kafka(&controller, "offlinepartitionscount").await, 1.0);
    assert_eq!(kafka(&controller, "fencedbrokercount").await, 1.0);
    let all = scrape(&controller).await;
    let changes = |why: &str| all[&format!("klamm_leader_changes_total{{why=\"{why}\"}}")];
    assert_eq!(
        (changes("connection-lost"), changes("session-timed-out")),
        (1.0, 0.0)
    );
    client.elect(&preferred("orders", 0)).await;
    assert_eq!(kafka(&controller, "metadataerrorcount").await, 0.0);
    let unclean = "kafka_controller_controllerstats_uncleanleaderelections_total";
    assert_eq!(all[unclean], 0.0);
    let broker = observer.image().cluster().broker(BrokerId(1));
    assert!(broker.expect("registered").fenced);
}

#[tokio::test]
async fn connections_are_counted_by_listener() {
    let mut home = home();
    home.set("max.connections", "1");
    let controller = home.start().await;
    let client = controller.connect().await;
    client.ask(&ApiVersionsRequest::default()).await;
    let mut refused =
        TcpStream::connect((controller.address().host(), controller.address().port()))
            .await
            .expect("it listens");
    let mut nothing = Vec::new();
    let _ = refused.read_to_end(&mut nothing).await;
    let all = scrape(&controller).await;
    let tally = |name: &str| all[&format!("klamm_connections{name}{{listener=\"CONTROLLER\"}}")];
    assert_eq!((tally(""), tally("_accepted_total")), (1.0, 1.0));
    assert_eq!(tally("_refused_total"), 1.0);
    drop(client);
    until("it is gone", async || {
        let all = scrape(&controller).await;
        all["klamm_connections{listener=\"CONTROLLER\"}"] == 0.0
    })
    .await;
}

/// A metric has a sample, unless what it tells of is not there.
#[tokio::test]
async fn every_metric_is_told() {
    let home = home();
    let controller = home.start().await;
    let _broker = Broker::started(&controller, 1).await;
    let (_, text) = get(&controller, "/metrics").await;
    let mut lines = text.lines().peekable();
    let mut metrics = 0;
    while let Some(line) = lines.next() {
        let name = line.strip_prefix("# HELP ").expect(line);
        let name = name.split(' ').next().expect("a name");
        let kind = lines.next().expect("a type");
        assert!(kind.starts_with(&format!("# TYPE {name} ")), "{kind}");
        let mut samples = 0;
        while lines.next_if(|line| !line.starts_with('#')).is_some() {
            samples += 1;
        }
        assert!(samples > 0, "{name}");
        metrics += 1;
    }
    assert!(metrics > 40, "{metrics}");
}

#[tokio::test]
async fn an_end_of_the_node_is_an_end_of_its_endpoint() {
    let home = home();
    let controller = home.start().await;
    let address = controller.http_address();
    let mut idle = connect(&controller).await;
    controller.stop().await;
    let mut rest = Vec::new();
    let _ = idle.read_to_end(&mut rest).await;
    assert_eq!(rest, b"");
    until("nobody listens", async || {
        TcpStream::connect(address).await.is_err()
    })
    .await;
}
