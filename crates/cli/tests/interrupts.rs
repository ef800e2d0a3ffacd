use std::time::Duration;

use expect_test::expect;
use klamm_net::testing::Reply;
use klamm_protocol::Request;
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, ElectLeadersResponse, PartitionResult, ReplicaElectionResult,
};
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{FakeCluster, finish, interrupt, part, signal, start};

const PREFERRED: &str = "--election-type preferred --all-topic-partitions";

async fn cluster() -> FakeCluster {
    let moved = || part(2, &[1, 2], &[2, 1]);
    FakeCluster::start(&[1, 2], &[("a", vec![moved(), moved(), moved()])]).await
}

#[tokio::test]
async fn ctrl_c_between_waves_says_what_was_done() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} {PREFERRED} --batch-size 1 --pause 1h --output plain",
        cluster.flag()
    );
    let mut child = start(&line);
    let mut talk = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let said = talk.next_line().await.expect("readable");
    assert_eq!(said.as_deref(), Some("wave 1 of 3: 1 partition, 0 failed"));
    interrupt(&child).await;
    let mut finished = finish(child).await;
    while let Some(line) = talk.next_line().await.expect("readable") {
        finished.stderr.extend([
            line.as_str(),
            "
",
        ]);
    }
    expect![[r#"
        topic=a partition=0 result=elected error_code=0 error_name=NONE leader_before=2 leader_after=1
        topic=a partition=1 result=failed error_code=- error_name=NOT_ASKED leader_before=2 leader_after=2
        topic=a partition=2 result=failed error_code=- error_name=NOT_ASKED leader_before=2 leader_after=2
        --- stderr
        NOT_ASKED: 2 partitions
          a-1
          a-2
          What to do: The command ended before these were asked for. Run it again: what is already elected
          is not elected twice.
        preferred election: 1 elected, 0 not needed, 2 failed (of these 2 not asked for); interrupted before the end
        --- exit 130
    "#]].assert_eq(&finished.shown(cluster.port()));
}

#[tokio::test]
async fn being_terminated_says_what_was_done_as_well() {
    let cluster = cluster().await;
    let pace = "--batch-size 1 --pause 1h --output json";
    let mut child = start(&format!("elect {} {PREFERRED} {pace}", cluster.flag()));
    let mut talk = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let said = talk.next_line().await.expect("readable");
    assert_eq!(said.as_deref(), Some("wave 1 of 3: 1 partition, 0 failed"));
    signal(&child, "-TERM").await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(143), "{finished}");
    let counts = r#""interrupted":true,"counts":{"elected":1,"not_needed":0,"failed":2}"#;
    assert!(finished.stdout.contains(counts), "{finished}");
}

#[tokio::test]
async fn ctrl_c_before_the_answer_says_what_is_unknown() {
    let cluster = cluster().await;
    cluster
        .server
        .on(|_, _: ElectLeadersRequest| Reply::Silence);
    let child = start(&format!(
        "elect {} {PREFERRED} --output plain",
        cluster.flag()
    ));
    let asked = || {
        !cluster
            .server
            .versions_of(ElectLeadersRequest::KEY)
            .is_empty()
    };
    until(asked).await;
    interrupt(&child).await;
    let finished = finish(child).await;
    expect![[r#"
        topic=a partition=0 result=failed error_code=- error_name=OUTCOME_UNKNOWN leader_before=2 leader_after=2
        topic=a partition=1 result=failed error_code=- error_name=OUTCOME_UNKNOWN leader_before=2 leader_after=2
        topic=a partition=2 result=failed error_code=- error_name=OUTCOME_UNKNOWN leader_before=2 leader_after=2
        --- stderr
        OUTCOME_UNKNOWN: 3 partitions
          a-0
          a-1
          a-2
          What to do: The cluster was asked and its answer did not come: leaders may have changed, or may
          yet. See who leads with 'klamm leaders --partitions', then run the same command again: what is
          already elected is not elected twice.
        preferred election: 0 elected, 0 not needed, 3 failed (of these 3 unknown); interrupted before the end
        --- exit 130
    "#]].assert_eq(&finished.shown(cluster.port()));
}

#[tokio::test]
async fn ctrl_c_between_the_requests_of_a_call_keeps_what_was_answered() {
    let many = vec![part(2, &[1, 2], &[2, 1]); 10_005];
    let cluster = FakeCluster::start(&[1, 2], &[("a", many)]).await;
    let mut answered = false;
    cluster.server.on(move |_, request: ElectLeadersRequest| {
        if std::mem::replace(&mut answered, true) {
            return Reply::Silence;
        }
        let topics = request.topic_partitions.unwrap_or_default();
        let results = topics.iter().flat_map(|topic| topic.partitions.iter());
        let results = results.map(|&partition_id| PartitionResult {
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
    let what = "--election-type preferred --topic a --partition all --output json";
    let child = start(&format!("elect {} {what}", cluster.flag()));
    until(|| cluster.server.versions_of(ElectLeadersRequest::KEY).len() == 2).await;
    interrupt(&child).await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(130), "{}", finished.stderr);
    for line in [
        "OUTCOME_UNKNOWN: 5000 partitions",
        "NOT_ASKED: 5 partitions",
        "5000 elected, 0 not needed, 5005 failed (of these 5 not asked for, 5000 unknown)",
    ] {
        assert!(finished.stderr.contains(line), "{}", finished.stderr);
    }
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
