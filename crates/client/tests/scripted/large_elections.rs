use std::sync::{Arc, Mutex};

use expect_test::expect;
use klamm_client::{
    ApiKey, ElectLeadersError, ElectLeadersOptions, ElectionScope, ElectionType, ErrorCode,
    MAX_ELECTIONS_PER_REQUEST, TopicPartition,
};
use klamm_net::testing::{FakeNetwork, FakeServer, Reply};
use klamm_protocol::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};
use klamm_protocol::messages::elect_leaders::ElectLeadersRequest;

use crate::support::*;

/// A controller that refuses to make more than 10,000 changes at once. `needing` partitions need an
/// election; those of them that are never named are partitions of the topic `late`.
fn refusing(cluster: &Cluster, mut needing: usize) -> Arc<Mutex<Vec<Vec<TopicPartition>>>> {
    let batches = Arc::new(Mutex::new(Vec::new()));
    let seen = batches.clone();
    cluster
        .broker(1)
        .on(move |_, request: ElectLeadersRequest| {
            let named = match asked(&request) {
                None if needing > 10_000 => {
                    return Reply::Answer(refused(ErrorCode::POLICY_VIOLATION));
                }
                None => (0..needing as i32)
                    .map(|index| partition("late", index))
                    .collect(),
                Some(named) => named,
            };
            needing -= named.len();
            let results = named.iter().map(|partition| {
                // One was elected by somebody else in the meantime.
                let moved = (&*partition.topic, partition.partition.0) == ("b", 3);
                let code = if moved {
                    ErrorCode::ELECTION_NOT_NEEDED
                } else {
                    ErrorCode::NONE
                };
                (&*partition.topic, partition.partition.0, code)
            });
            let answer = elected(results);
            seen.lock().unwrap().push(named);
            Reply::Answer(answer)
        });
    batches
}

#[tokio::test(start_paused = true)]
async fn a_cluster_too_large_for_one_request_gets_several() {
    let cluster = Cluster::new(2);
    cluster.add_topic("a", [2; 7_000]);
    cluster.add_topic("b", [2; 5_001]);
    cluster.add_topic("c", [1; 3_000]);
    let batches = refusing(&cluster, 12_003);
    let admin = cluster.admin().await;
    let results = elect_all(&admin, ElectionType::Preferred)
        .partitions()
        .await
        .unwrap();
    assert_eq!(results.len(), 12_002);
    assert!(results.values().all(Result::is_ok));
    assert!(
        !results.contains_key(&partition("b", 3)),
        "it needed no election"
    );
    let sizes: Vec<_> = batches.lock().unwrap().iter().map(Vec::len).collect();
    // Two that the brokers did not know of are found in the end.
    let most = MAX_ELECTIONS_PER_REQUEST;
    assert_eq!(sizes, [most, most, 2_001, 2]);
}

#[tokio::test(start_paused = true)]
async fn an_unclean_election_of_a_large_cluster_names_what_has_no_leader() {
    let cluster = Cluster::new(2);
    cluster.add_topic("a", [2, -1, 1, -1]);
    let batches = refusing(&cluster, 10_001);
    let admin = cluster.admin().await;
    elect_all(&admin, ElectionType::Unclean)
        .all()
        .await
        .unwrap();
    assert_eq!(
        batches.lock().unwrap()[0],
        [partition("a", 1), partition("a", 3)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_list_is_asked_for_in_parts() {
    let cluster = Cluster::new(1);
    let batches = refusing(&cluster, 10_001);
    let admin = cluster.admin().await;
    let named = (0..10_001).map(|index| partition("a", index)).collect();
    let options = ElectLeadersOptions::default();
    let scope = ElectionScope::Partitions(named);
    let result = admin.elect_leaders(ElectionType::Preferred, scope, options);
    assert_eq!(result.partitions().await.unwrap().len(), 10_001);
    let sizes: Vec<_> = batches.lock().unwrap().iter().map(Vec::len).collect();
    assert_eq!(sizes, [5_000, 5_000, 1]);
}

#[tokio::test(start_paused = true)]
async fn what_earlier_parts_elected_is_told_when_a_later_one_fails() {
    let text = second_part_refused(ErrorCode::UNKNOWN_SERVER_ERROR).await;
    expect!["broker-1:9092: ElectLeaders (43) was answered with UNKNOWN_SERVER_ERROR (-1); 5000 partitions were decided before"].assert_eq(&text);
    let text = second_part_refused(ErrorCode::CLUSTER_AUTHORIZATION_FAILED).await;
    expect!["broker-1:9092: not authorized: ElectLeaders (43) was answered with CLUSTER_AUTHORIZATION_FAILED (31); 5000 partitions were decided before"].assert_eq(&text);
}

/// What is said of an election in two parts whose second one is refused.
async fn second_part_refused(code: ErrorCode) -> String {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(move |_, request: ElectLeadersRequest| {
            let named = asked(&request).unwrap();
            let results = named
                .iter()
                .map(|p| (&*p.topic, p.partition.0, ErrorCode::NONE));
            match named[0].partition.0 {
                0 => Reply::Answer(elected(results)),
                _ => Reply::Answer(refused(code)),
            }
        });
    let admin = cluster.admin().await;
    let named = (0..5_002).map(|index| partition("a", index)).collect();
    let options = ElectLeadersOptions::default();
    let scope = ElectionScope::Partitions(named);
    let result = admin.elect_leaders(ElectionType::Preferred, scope, options);
    let error = result.partitions().await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, ElectLeadersError::Call { decided, .. } if decided.len() == 5_000));
    text
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_has_another_reason_stays_one() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(refused(ErrorCode::POLICY_VIOLATION)));
    let admin = cluster.admin().await;
    let text = outcome(&elect(&admin, &[("a", 0)])).await;
    expect!["broker-1:9092: ElectLeaders (43) was answered with POLICY_VIOLATION (44)"]
        .assert_eq(&text);
    // Nothing is off its preferred leader, and yet even the list of nothing is refused.
    let text = outcome(&elect_all(&admin, ElectionType::Preferred)).await;
    expect!["broker-1:9092: ElectLeaders (43) was answered with POLICY_VIOLATION (44)"]
        .assert_eq(&text);
    assert_eq!(
        cluster.broker(1).versions_of(ApiKey::ELECT_LEADERS).len(),
        3
    );
}

#[tokio::test(start_paused = true)]
async fn controllers_alone_cannot_name_the_partitions() {
    let network = FakeNetwork::new();
    let controller = FakeServer::offering(&modern());
    controller.on(|_, _: DescribeClusterRequest| {
        let brokers = vec![DescribeClusterBroker {
            broker_id: 1,
            host: "broker-1".into(),
            port: 9092,
            ..Default::default()
        }];
        let controller_id = 1;
        Reply::Answer(DescribeClusterResponse {
            controller_id,
            brokers,
            ..Default::default()
        })
    });
    controller.on(|_, _: ElectLeadersRequest| Reply::Answer(refused(ErrorCode::POLICY_VIOLATION)));
    network.add(&broker(1), &controller);
    let admin = connect_to_controllers(&network, "broker-1:9092")
        .await
        .unwrap();
    let text = outcome(&elect_all(&admin, ElectionType::Preferred)).await;
    expect!["broker-1:9092: the controller refuses to elect all partitions of a cluster this large at once; connect to brokers, which know the partitions, or name them"].assert_eq(&text);
}
