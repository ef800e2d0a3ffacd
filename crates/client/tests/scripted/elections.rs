use std::time::Duration;

use expect_test::expect;
use klamm_client::{
    ApiKey, ElectLeadersError, ElectLeadersOptions, ElectionScope, ElectionType, ErrorCode,
    VersionRange,
};
use klamm_net::testing::{FakeNetwork, FakeServer, Reply};
use klamm_protocol::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};
use klamm_protocol::messages::elect_leaders::{
    ElectLeadersRequest, PartitionResult, ReplicaElectionResult,
};
use tokio::time::Instant;

use crate::support::*;

const DONE: ErrorCode = ErrorCode::NONE;
const NOT_NEEDED: ErrorCode = ErrorCode::ELECTION_NOT_NEEDED;

#[tokio::test(start_paused = true)]
async fn a_result_is_awaited_for_one_for_all_or_as_a_map() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|version, request: ElectLeadersRequest| {
            assert_eq!((version, request.election_type), (2, 0));
            // A tenth of the time, a second at most, is for the way back.
            assert_eq!(request.timeout_ms, 29_000);
            let named = [
                partition("a", 0),
                partition("a", 1),
                partition("a", 2),
                partition("b", 0),
            ];
            assert_eq!(asked(&request).unwrap(), named);
            let mut response = elected([
                ("a", 0, DONE),
                ("a", 1, NOT_NEEDED),
                ("a", 2, ErrorCode::PREFERRED_LEADER_NOT_AVAILABLE),
            ]);
            response.replica_election_results[0].partition_result[2].error_message =
                Some("The preferred leader was not available.".into());
            response
                .replica_election_results
                .push(ReplicaElectionResult {
                    topic: "b".into(),
                    partition_result: vec![PartitionResult {
                        error_code: 3,
                        ..Default::default()
                    }],
                    ..Default::default()
                });
            Reply::Answer(response)
        });
    let admin = cluster.admin().await;
    let result = elect(&admin, &[("b", 0), ("a", 2), ("a", 0), ("a", 1), ("a", 0)]);
    expect![[r#"
        a-0: elected
        a-1: ELECTION_NOT_NEEDED (84)
        a-2: PREFERRED_LEADER_NOT_AVAILABLE (80): The preferred leader was not available.
        b-0: UNKNOWN_TOPIC_OR_PARTITION (3)
    "#]]
    .assert_eq(&outcome(&result).await);

    result.partition(&partition("a", 0)).await.unwrap();
    let error = result.partition(&partition("a", 1)).await.unwrap_err();
    assert!(error.is_election_not_needed());
    let error = result.partition(&partition("a", 2)).await.unwrap_err();
    assert!(!error.is_election_not_needed());
    expect!["a-2: PREFERRED_LEADER_NOT_AVAILABLE (80): The preferred leader was not available."]
        .assert_eq(&error.to_string());
    let error = result.partition(&partition("c", 0)).await.unwrap_err();
    expect!["c-0 is not in the result: it was not asked for, needs no election, or does not exist"]
        .assert_eq(&error.to_string());
    let error = result.all().await.unwrap_err();
    assert!(
        matches!(error, ElectLeadersError::Partition { partition: p, .. } if p == partition("a", 1))
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_leaves_a_partition_out_is_no_success() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(elected([("a", 0, DONE)])));
    let admin = cluster.admin().await;
    let result = elect(&admin, &[("a", 0), ("a", 1)]);
    expect![[r#"
        a-0: elected
        a-1: UNKNOWN_SERVER_ERROR (-1): the server's answer leaves it out
    "#]]
    .assert_eq(&outcome(&result).await);
    assert!(result.all().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn no_partitions_are_not_all_partitions() {
    let cluster = Cluster::new(1);
    cluster.broker(1).on(|_, request: ElectLeadersRequest| {
        assert_eq!(asked(&request), Some(Vec::new()));
        Reply::Answer(elected([]))
    });
    let admin = cluster.admin().await;
    elect(&admin, &[]).all().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn no_authorization_is_told_from_a_partitions_error() {
    let denied = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    let mut texts = String::new();
    for version in [0, 2] {
        let offers = modern_but(ApiKey::ELECT_LEADERS, VersionRange::new(version, version));
        let cluster = Cluster::offering(1, &offers);
        cluster
            .broker(1)
            .on(move |version, _: ElectLeadersRequest| {
                let mut response = elected([("a", 0, denied)]);
                response.error_code = if version == 0 { 0 } else { denied.0 };
                Reply::Answer(response)
            });
        let admin = cluster.admin().await;
        let error = elect(&admin, &[("a", 0)]).partitions().await.unwrap_err();
        assert!(
            matches!(error, ElectLeadersError::NotAuthorized { .. }),
            "{error:?}"
        );
        texts += &format!("{error}\n");
    }
    expect![[r#"
        broker-1:9092: not authorized to elect leaders (CLUSTER_AUTHORIZATION_FAILED (31)); it takes the ALTER permission on the cluster
        broker-1:9092: not authorized to elect leaders (CLUSTER_AUTHORIZATION_FAILED (31)); it takes the ALTER permission on the cluster
    "#]].assert_eq(&texts);
}

#[tokio::test(start_paused = true)]
async fn any_broker_passes_a_request_on() {
    let cluster = Cluster::new(3);
    cluster.metadata().controller_id = 2;
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(elected([("a", 0, DONE)])));
    let admin = cluster.admin().await;
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    let connections = cluster.brokers.iter().map(FakeServer::connections);
    assert_eq!(connections.collect::<Vec<_>>(), [1, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_request_goes_to_the_controller_and_follows_it_where_brokers_pass_nothing_on() {
    let cluster = Cluster::new(3);
    cluster.metadata().controller_id = 2;
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(refused(ErrorCode::NOT_CONTROLLER)));
    let moving = cluster.clone();
    cluster.broker(2).on(move |_, _: ElectLeadersRequest| {
        moving.metadata().controller_id = 3;
        Reply::Answer(refused(ErrorCode::NOT_CONTROLLER))
    });
    cluster
        .broker(3)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(elected([("a", 0, DONE)])));
    let asked = |cluster: &Cluster, api| -> Vec<usize> {
        let brokers = cluster.brokers.iter();
        brokers.map(|b| b.versions_of(api).len()).collect()
    };
    let admin = cluster.admin().await;
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    assert_eq!(asked(&cluster, ApiKey::ELECT_LEADERS), [1, 1, 1]);
    // What was learned is kept.
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    assert_eq!(asked(&cluster, ApiKey::ELECT_LEADERS), [1, 1, 2]);
    assert_eq!(asked(&cluster, ApiKey::METADATA).iter().sum::<usize>(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_way_to_the_controller_is_no_retry() {
    let cluster = Cluster::new(2);
    cluster.metadata().controller_id = 2;
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(refused(ErrorCode::NOT_CONTROLLER)));
    cluster
        .broker(2)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(elected([("a", 0, DONE)])));
    let admin = cluster.admin_with(|config| config.retries = 0).await;
    let start = Instant::now();
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn no_controller_is_waited_for() {
    let cluster = Cluster::new(1);
    let known = cluster.clone();
    cluster.broker(1).on(move |_, _: ElectLeadersRequest| {
        Reply::Answer(match known.metadata().controller_id {
            -1 => refused(ErrorCode::NOT_CONTROLLER),
            _ => elected([("a", 0, DONE)]),
        })
    });
    cluster.metadata().controller_id = -1;
    let admin = cluster.admin().await;
    let late = cluster.clone();
    tokio::spawn(async move {
        tokio::time::sleep(5 * SECOND).await;
        late.metadata().controller_id = 1;
    });
    elect(&admin, &[("a", 0)]).all().await.unwrap();

    cluster.metadata().controller_id = -1;
    let admin = cluster.admin().await;
    expect![
        "broker-1:9092: the cluster has no active controller now; check its controllers; gave up"
    ]
    .assert_eq(&without_tries(&outcome(&elect(&admin, &[("a", 0)])).await));
}

#[tokio::test(start_paused = true)]
async fn controllers_are_asked_which_of_them_is_active() {
    let network = FakeNetwork::new();
    let active = std::sync::Arc::new(std::sync::atomic::AtomicI32::new(1));
    let controllers: Vec<_> = (1..=3)
        .map(|id| {
            let server = FakeServer::offering(&modern_but(ApiKey::METADATA, VersionRange::NONE));
            let known = active.clone();
            server.on(move |_, request: DescribeClusterRequest| {
                assert_eq!(request.endpoint_type, 2);
                let brokers = (1..=3).map(|broker_id| DescribeClusterBroker {
                    broker_id,
                    host: format!("broker-{broker_id}").into(),
                    port: 9092,
                    ..Default::default()
                });
                Reply::Answer(DescribeClusterResponse {
                    endpoint_type: 2,
                    controller_id: known.load(std::sync::atomic::Ordering::Relaxed),
                    brokers: brokers.collect(),
                    ..Default::default()
                })
            });
            let known = active.clone();
            server.on(move |_, _: ElectLeadersRequest| {
                // The active controller has moved to 3, and 1 says so.
                known.store(3, std::sync::atomic::Ordering::Relaxed);
                Reply::Answer(match id {
                    3 => elected([("a", 0, DONE)]),
                    _ => refused(ErrorCode::NOT_CONTROLLER),
                })
            });
            network.add(&broker(id), &server);
            server
        })
        .collect();
    let admin = connect_to_controllers(&network, "broker-2:9092")
        .await
        .unwrap();
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    let asked = |id: usize| controllers[id - 1].versions_of(ApiKey::ELECT_LEADERS).len();
    assert_eq!([asked(1), asked(2), asked(3)], [1, 0, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_asked_for_again() {
    let cluster = Cluster::new(1);
    let mut asked = 0;
    cluster.broker(1).on(move |_, _: ElectLeadersRequest| {
        asked += 1;
        match asked {
            1 => Reply::CloseMidAnswer(elected([("a", 0, DONE)])),
            _ => Reply::Answer(elected([("a", 0, NOT_NEEDED)])),
        }
    });
    let admin = cluster.admin().await;
    let text = outcome(&elect(&admin, &[("a", 0)])).await;
    assert_eq!(text, "a-0: ELECTION_NOT_NEEDED (84)\n");
    assert_eq!(cluster.broker(1).connections(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_was_decided_before_the_controller_ran_out_of_time_stands() {
    let timed_out = ErrorCode::REQUEST_TIMED_OUT;
    let cluster = Cluster::new(1);
    let mut asked = 0;
    cluster.broker(1).on(move |_, _: ElectLeadersRequest| {
        asked += 1;
        let mut first = elected([("a", 0, DONE), ("a", 1, timed_out), ("a", 2, timed_out)]);
        first.error_code = timed_out.0;
        match asked {
            1 => Reply::Answer(first),
            2 => Reply::Answer(elected([
                ("a", 0, NOT_NEEDED),
                ("a", 1, DONE),
                ("a", 2, NOT_NEEDED),
            ])),
            // Never anything else again.
            _ => Reply::Answer(first),
        }
    });
    let admin = cluster.admin().await;
    let result = elect(&admin, &[("a", 0), ("a", 1), ("a", 2)]);
    expect![[r#"
        a-0: elected
        a-1: elected
        a-2: ELECTION_NOT_NEEDED (84)
    "#]]
    .assert_eq(&outcome(&result).await);

    let error = elect(&admin, &[("a", 0), ("a", 1), ("a", 2)])
        .partitions()
        .await
        .unwrap_err();
    expect!["broker-1:9092: ElectLeaders (43) was answered with REQUEST_TIMED_OUT (7); give it more time, or look at the controllers' logs; 1 partition was decided before"].assert_eq(&error.to_string());
    let ElectLeadersError::Call { decided, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(
        decided.into_iter().collect::<Vec<_>>(),
        [(partition("a", 0), Ok(()))]
    );
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_passes() {
    let cluster = Cluster::new(1);
    cluster.broker(1).on(|_, request: ElectLeadersRequest| {
        assert_eq!(request.timeout_ms, 4_500);
        Reply::Silence
    });
    let admin = cluster.admin().await;
    let start = Instant::now();
    let result = admin.elect_leaders(
        ElectionType::Preferred,
        ElectionScope::All,
        ElectLeadersOptions {
            timeout: Some(5 * SECOND),
        },
    );
    expect!["broker-1:9092: no answer to ElectLeaders (43) version 2 within 5 s; the server may be overloaded; gave up after 5 s and 1 try; whether ElectLeaders (43) was carried out is unknown"].assert_eq(&outcome(&result).await);
    assert_eq!(start.elapsed(), 5 * SECOND);

    // A timeout of nothing is over before anything is sent.
    let result = admin.elect_leaders(
        ElectionType::Preferred,
        ElectionScope::All,
        ElectLeadersOptions {
            timeout: Some(Duration::ZERO),
        },
    );
    expect!["ElectLeaders (43) was not sent: its timeout of 0 ms was over before"]
        .assert_eq(&outcome(&result).await);
}

#[tokio::test(start_paused = true)]
async fn a_controller_that_refuses_is_quoted() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Answer(refused(ErrorCode::UNKNOWN_SERVER_ERROR)));
    let admin = cluster.admin().await;
    expect!["broker-1:9092: ElectLeaders (43) was answered with UNKNOWN_SERVER_ERROR (-1)"]
        .assert_eq(&outcome(&elect(&admin, &[("a", 0)])).await);
}
