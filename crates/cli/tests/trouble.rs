use expect_test::expect;
use klamm_net::testing::Reply;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};
use klamm_protocol::{ErrorCode, Request, VersionRange};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{FakeCluster, OFFERS, file, klamm, part};

const PREFERRED: &str = "--election-type preferred --all-topic-partitions";

async fn cluster() -> FakeCluster {
    let moved = || part(2, &[1, 2], &[2, 1]);
    FakeCluster::start(&[1, 2], &[("a", vec![moved(), moved(), moved()])]).await
}

/// A server that answers each connection's first bytes with these, and closes.
async fn answering(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 64];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(bytes).await;
        }
    });
    port
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    drop(listener);
    let line = format!("elect --bootstrap-server 127.0.0.1:{port} {PREFERRED}");
    expect![[r#"
        --- stderr
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: connection refused; check the address, and that a Kafka server listens there
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(port));
    let line = format!("leaders --bootstrap-server 127.0.0.1:{port}");
    expect![[r#"
        --- stderr
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: connection refused; check the address, and that a Kafka server listens there
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(port));
}

#[tokio::test]
async fn nobody_listens_at_any_of_several_addresses() {
    let line = format!("elect --bootstrap-server 127.0.0.1:1,127.0.0.1:2 {PREFERRED}");
    expect![[r#"
        --- stderr
        error: the cluster could not be reached
          cause: none of the servers could be used:
            127.0.0.1:1: connection refused; check the address, and that a Kafka server listens there
            127.0.0.1:2: connection refused; check the address, and that a Kafka server listens there
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.to_string());
}

#[tokio::test]
async fn the_server_closes() {
    let port = answering(b"").await;
    let line = format!("elect --bootstrap-server 127.0.0.1:{port} {PREFERRED}");
    expect![[r#"
        --- stderr
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: the server closed the connection while ApiVersions (18) version 0 waited for its answer; check that this is a PLAINTEXT listener of Kafka, and look at the server's log
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(port));
}

#[tokio::test]
async fn the_server_speaks_http() {
    let port = answering(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
    let line = format!("elect --bootstrap-server 127.0.0.1:{port} {PREFERRED}");
    expect![[r#"
        --- stderr
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: this is an HTTP server, not a Kafka server; check the port
        --- exit 1
    "#]]
    .assert_eq(&klamm(&line).await.shown(port));
}

#[tokio::test]
async fn the_server_answers_garbage() {
    let port = answering(&[0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8]).await;
    let line = format!("elect --bootstrap-server 127.0.0.1:{port} {PREFERRED}");
    expect![[r#"
        --- stderr
        error: the cluster could not be reached
          cause: 127.0.0.1:PORT: the answer with correlation id 16909060 came where 0 was due; this may not be a Kafka server, or a proxy mixes answers up: check the address
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(port));
}

#[tokio::test]
async fn the_deadline_passes_without_an_answer() {
    let cluster = cluster().await;
    cluster
        .server
        .on(|_, _: ElectLeadersRequest| Reply::Silence);
    let line = format!("elect {} {PREFERRED} --timeout 2s", cluster.flag());
    let finished = klamm(&line).await;
    assert_eq!(finished.code, Some(1), "{finished}");
    // How long it took and how often it was tried is not the same each time.
    assert!(
        finished.stdout.contains("OUTCOME_UNKNOWN: 3 partitions"),
        "{finished}"
    );
    assert!(
        finished.stderr.contains("was carried out is unknown"),
        "{finished}"
    );
    assert!(finished.stderr.contains("--timeout"), "{finished}");
}

#[tokio::test]
async fn the_controller_does_not_decide_everything_in_time() {
    let cluster = cluster().await;
    cluster.server.on(|_, request: ElectLeadersRequest| {
        assert!(
            request
                .topic_partitions
                .is_some_and(|topics| topics.len() == 1)
        );
        let timed_out = ErrorCode::REQUEST_TIMED_OUT.0;
        let result = |partition_id, error_code| PartitionResult {
            partition_id,
            error_code,
            ..Default::default()
        };
        Reply::Answer(ElectLeadersResponse {
            error_code: timed_out,
            replica_election_results: vec![ReplicaElectionResult {
                topic: "a".into(),
                partition_result: vec![result(0, 0), result(1, timed_out), result(2, timed_out)],
                ..Default::default()
            }],
            ..Default::default()
        })
    });
    let config = file("no-retries.properties", "retries=0\n");
    let line = format!(
        "elect {} --election-type preferred --topic a --partition all --command-config {} \
         --output plain",
        cluster.flag(),
        config.display()
    );
    expect![[r#"
        topic=a partition=0 result=elected error_code=0 error_name=NONE leader_before=2 leader_after=2
        topic=a partition=1 result=failed error_code=7 error_name=REQUEST_TIMED_OUT leader_before=2 leader_after=2
        topic=a partition=2 result=failed error_code=7 error_name=REQUEST_TIMED_OUT leader_before=2 leader_after=2
        --- stderr
        REQUEST_TIMED_OUT (7): 2 partitions
          a-1
          a-2
          What to do: The controller did not decide these before the deadline; those it decided stand. Run
          the same command again, with a longer --timeout or in waves (--batch-size).
        preferred election: 1 elected, 0 not needed, 2 failed
        error: the election was not answered in full
          cause: 127.0.0.1:PORT: ElectLeaders (43) was answered with REQUEST_TIMED_OUT (7); give it more time, or look at the controllers' logs
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
}

#[tokio::test]
async fn nobody_offers_elections() {
    let cluster = cluster().await;
    cluster.offer_without(ElectLeadersRequest::KEY);
    let line = format!("elect {} {PREFERRED}", cluster.flag());
    expect![[r#"
        --- stderr
        error: no leader was elected
          cause: 127.0.0.1:PORT: this server does not offer ElectLeaders (43): it is too old for it, or no Kafka broker or controller
          next step: point klamm at a Kafka broker, 2.4 or later for all that it does
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
}

#[tokio::test]
async fn old_servers_never_get_unclean_elections() {
    let cluster = cluster().await;
    let mut offers = OFFERS;
    offers[2].1 = VersionRange::new(0, 0);
    cluster.server.offer(&offers, ApiVersionsRequest::STABLE);
    let line = format!(
        "elect {} --election-type unclean --all-topic-partitions --yes",
        cluster.flag()
    );
    expect![[r#"
        --- stderr
        warning: an unclean election may lose records for good: the new leader need not have all that was acknowledged, and the other replicas cut theirs to match it. Only partitions without a leader are touched.
        error: no leader was elected
          cause: 127.0.0.1:PORT: this server offers ElectLeaders (43) in version 0, but version 1 or later is needed for an unclean election; upgrade the server
          next step: point klamm at a Kafka broker, 2.4 or later for all that it does
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
    assert!(cluster.elections().is_empty());
}

async fn refused_with(code: ErrorCode) -> String {
    let cluster = cluster().await;
    cluster.server.on(move |_, _: ElectLeadersRequest| {
        Reply::Answer(ElectLeadersResponse {
            error_code: code.0,
            ..Default::default()
        })
    });
    let line = format!(
        "elect {} --election-type preferred --topic a --partition 0 --output json",
        cluster.flag()
    );
    klamm(&line).await.shown(cluster.port())
}

#[tokio::test]
async fn the_cluster_refuses_as_a_whole() {
    let refused = refused_with(ErrorCode::CLUSTER_AUTHORIZATION_FAILED).await;
    expect![[r#"
        --- stderr
        error: no leader was elected
          cause: 127.0.0.1:PORT: not authorized to elect leaders (CLUSTER_AUTHORIZATION_FAILED (31)); it takes the ALTER permission on the cluster
          next step: This user may not elect leaders. Run as a user with ALTER on the cluster, or have an administrator grant that.
        --- exit 1
    "#]].assert_eq(&refused);
    let refused = refused_with(ErrorCode::POLICY_VIOLATION).await;
    expect![[r#"
        --- stderr
        error: no leader was elected
          cause: 127.0.0.1:PORT: ElectLeaders (43) was answered with POLICY_VIOLATION (44)
          next step: The cluster refuses so many elections in one request (Apache Kafka: 10,000). Use waves: --batch-size 1000.
        --- exit 1
    "#]].assert_eq(&refused);
}

#[tokio::test]
async fn a_part_that_is_refused_after_others_fails_the_command_and_is_named() {
    let many = vec![part(2, &[1, 2], &[2, 1]); 5_002];
    let cluster = FakeCluster::start(&[1, 2], &[("a", many)]).await;
    cluster.server.on(|_, request: ElectLeadersRequest| {
        let named: Vec<i32> = match &request.topic_partitions {
            Some(topics) => topics[0].partitions.iter().copied().collect(),
            None => Vec::new(),
        };
        if named.len() < 5_000 {
            let error_code = ErrorCode::POLICY_VIOLATION.0;
            return Reply::Answer(ElectLeadersResponse {
                error_code,
                ..Default::default()
            });
        }
        let results = named.into_iter().map(|partition_id| PartitionResult {
            partition_id,
            ..Default::default()
        });
        Reply::Answer(ElectLeadersResponse {
            replica_election_results: vec![ReplicaElectionResult {
                topic: "a".into(),
                partition_result: results.collect(),
                ..Default::default()
            }],
            ..Default::default()
        })
    });
    let line = format!("elect {} {PREFERRED} --output json", cluster.flag());
    let finished = klamm(&line).await;
    assert_eq!(finished.code, Some(1), "{}", finished.stderr);
    let counts = r#""counts":{"elected":5000,"not_needed":0,"failed":2}"#;
    assert!(finished.stdout.contains(counts), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("NOT_ASKED: 2 partitions"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("the election ended early"),
        "{}",
        finished.stderr
    );
}

#[tokio::test]
async fn what_servers_say_commands_no_terminal() {
    let cluster = cluster().await;
    cluster.server.on(|_, _: ElectLeadersRequest| {
        Reply::Answer(ElectLeadersResponse {
            replica_election_results: vec![ReplicaElectionResult {
                topic: "a\r\x1b[2J".into(),
                partition_result: vec![PartitionResult {
                    error_code: 42,
                    error_message: Some("\x1b]0;pwned\x07".into()),
                    ..Default::default()
                }],
                ..Default::default()
            }],
            ..Default::default()
        })
    });
    for format in ["table", "plain", "json"] {
        let line = format!("elect {} {PREFERRED} --output {format}", cluster.flag());
        let finished = klamm(&line).await;
        let both = format!("{}{}", finished.stdout, finished.stderr);
        let odd = both.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(odd, None, "{format}: {finished}");
        assert!(both.contains("]0;pwned"), "{format}: {finished}");
    }
}
