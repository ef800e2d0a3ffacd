use std::time::Duration;

use bytes::Bytes;
use expect_test::expect;
use klamm_client::{
    ApiKey, ClientError, CreateTopicsOptions, DescribeTopicsOptions, ErrorCode, NewTopic,
    TopicSelection,
};
use klamm_net::testing::Reply;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;
use klamm_protocol::messages::create_topics::{
    CreatableTopicResult, CreateTopicsRequest, CreateTopicsResponse,
};
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
use tokio::time::Instant;

use crate::support::*;

const DONE: ErrorCode = ErrorCode::NONE;

fn created(code: ErrorCode) -> CreateTopicsResponse {
    let topic = CreatableTopicResult {
        name: "a".into(),
        error_code: code.0,
        ..Default::default()
    };
    CreateTopicsResponse {
        topics: vec![topic],
        ..Default::default()
    }
}

#[tokio::test(start_paused = true)]
async fn pauses_between_tries_grow() {
    let cluster = Cluster::new(1);
    let mut tries = Vec::new();
    let (times, seen) = std::sync::mpsc::channel();
    cluster.broker(1).on(move |_, _: ElectLeadersRequest| {
        tries.push(Instant::now());
        let _ = times.send(Instant::now());
        match tries.len() {
            6 => Reply::Answer(elected([("a", 0, DONE)])),
            _ => Reply::Answer(refused(ErrorCode::NOT_CONTROLLER)),
        }
    });
    let admin = cluster.admin().await;
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    let times: Vec<_> = seen.try_iter().collect();
    let pauses: Vec<_> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_millis())
        .collect();
    for (pause, expected) in pauses.iter().zip([100, 200, 400, 800, 1_000]) {
        assert!(
            (expected * 8 / 10..=expected * 12 / 10 + 1).contains(pause),
            "{pauses:?}"
        );
    }
    assert_eq!(pauses.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn retries_are_counted() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Close);
    let admin = cluster
        .admin_with(|config| {
            config.retries = 2;
            config.retry_backoff = Duration::ZERO;
        })
        .await;
    expect!["broker-1:9092: the server closed the connection while ElectLeaders (43) version 2 waited for its answer; look at the server's log; gave up after 0 ms and 3 tries, as many as are allowed; whether ElectLeaders (43) was carried out is unknown"].assert_eq(&outcome(&elect(&admin, &[("a", 0)])).await);
    assert_eq!(
        cluster.broker(1).versions_of(ApiKey::ELECT_LEADERS).len(),
        3
    );
}

#[tokio::test(start_paused = true)]
async fn what_must_happen_once_is_not_sent_twice() {
    for reply in [
        Reply::Close,
        Reply::CloseMidAnswer(created(DONE)),
        Reply::Silence,
        Reply::WrongId(created(DONE)),
        Reply::Raw(Bytes::from_static(b"\0\0\0\x05\0\0\0\x02\0")),
    ] {
        let cluster = Cluster::new(1);
        cluster
            .broker(1)
            .on(move |_, _: CreateTopicsRequest| reply.clone());
        let admin = cluster.admin().await;
        let options = CreateTopicsOptions::default();
        let error = admin
            .create_topics(&[NewTopic::new("a", 1, 1)], options)
            .await
            .unwrap_err();
        assert!(
            matches!(error, ClientError::OutcomeUnknown { .. }),
            "{error:?}"
        );
        assert_eq!(
            cluster.broker(1).versions_of(ApiKey::CREATE_TOPICS).len(),
            1
        );
    }
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, _: CreateTopicsRequest| Reply::Close);
    let admin = cluster.admin().await;
    let options = CreateTopicsOptions::default();
    let error = admin
        .create_topics(&[NewTopic::new("a", 1, 1)], options)
        .await
        .unwrap_err();
    expect!["broker-1:9092: the server closed the connection while CreateTopics (19) version 7 waited for its answer; look at the server's log; whether CreateTopics (19) was carried out is unknown: look at the cluster before asking again"].assert_eq(&error.to_string());
}

#[tokio::test(start_paused = true)]
async fn an_election_whose_answer_cannot_be_read_may_have_happened() {
    for reply in [
        Reply::WrongId(ElectLeadersResponse::default()),
        Reply::Raw(Bytes::from_static(b"\0\0\0\x05\0\0\0\x02\0")),
    ] {
        let cluster = Cluster::new(1);
        cluster
            .broker(1)
            .on(move |_, _: ElectLeadersRequest| reply.clone());
        let admin = cluster.admin().await;
        let text = outcome(&elect(&admin, &[("a", 0)])).await;
        assert!(text.contains("was carried out is unknown"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_fails_leaves_nothing_unknown() {
    for reply in [Reply::Close, Reply::Silence] {
        let cluster = Cluster::new(2);
        cluster.metadata().controller_id = 2;
        cluster
            .broker(2)
            .on(move |_, _: ApiVersionsRequest| reply.clone());
        let broker = cluster.broker(1);
        broker.on(|_, _: ElectLeadersRequest| Reply::Answer(refused(ErrorCode::NOT_CONTROLLER)));
        broker.on(|_, _: CreateTopicsRequest| Reply::Answer(created(ErrorCode::NOT_CONTROLLER)));
        let admin = cluster.admin().await;
        let text = outcome(&elect(&admin, &[("a", 0)])).await;
        assert!(text.contains("gave up after"), "{text}");
        assert!(!text.contains("unknown"), "{text}");
        let options = CreateTopicsOptions::default();
        let error = admin
            .create_topics(&[NewTopic::new("a", 1, 1)], options)
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                ClientError::GaveUp {
                    outcome_unknown: false,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_must_happen_once_is_sent_again_where_it_did_not_happen() {
    let cluster = Cluster::new(2);
    let moving = cluster.clone();
    cluster.broker(1).on(move |_, _: CreateTopicsRequest| {
        moving.metadata().controller_id = 2;
        Reply::Answer(created(ErrorCode::NOT_CONTROLLER))
    });
    cluster
        .broker(2)
        .on(|_, _: CreateTopicsRequest| Reply::Answer(created(DONE)));
    let admin = cluster.admin().await;
    // Broker 2 comes up late: nothing is sent to it before.
    let (network, server) = (cluster.network.clone(), cluster.broker(2).clone());
    network.remove(&broker(2));
    tokio::spawn(async move {
        tokio::time::sleep(SECOND).await;
        network.add(&broker(2), &server);
    });
    let options = CreateTopicsOptions::default();
    let results = admin
        .create_topics(&[NewTopic::new("a", 1, 1)], options)
        .await
        .unwrap();
    assert!(results["a"].is_ok());
    assert_eq!(
        cluster.broker(2).versions_of(ApiKey::CREATE_TOPICS).len(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_the_server_asks_for_is_kept_across_calls() {
    let cluster = Cluster::new(1);
    cluster.broker(1).on(|_, _: ElectLeadersRequest| {
        Reply::Answer(ElectLeadersResponse {
            throttle_time_ms: 10_000,
            ..elected([("a", 0, DONE)])
        })
    });
    let admin = cluster.admin().await;
    let start = Instant::now();
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    assert!(
        start.elapsed() < SECOND,
        "the answer itself is not held back"
    );

    // A call that cannot wait says so, and does not go around it with another connection.
    let options = DescribeTopicsOptions {
        timeout: Some(2 * SECOND),
        ..Default::default()
    };
    let error = admin
        .describe_topics(&TopicSelection::All, options)
        .await
        .unwrap_err();
    expect!["broker-1:9092: Metadata (3) version 13 was not sent within 2 s: the server throttles this client for another 8 s; gave up after 2 s and 1 try"].assert_eq(&error.to_string());

    let options = DescribeTopicsOptions::default();
    admin
        .describe_topics(&TopicSelection::All, options)
        .await
        .unwrap();
    assert!((Duration::from_secs(10)..Duration::from_secs(12)).contains(&start.elapsed()));
    assert_eq!(cluster.broker(1).connections(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_restarts_is_connected_to_again() {
    let cluster = Cluster::new(1);
    let mut asked = 0;
    cluster.broker(1).on(move |_, _: ElectLeadersRequest| {
        asked += 1;
        if asked == 2 {
            Reply::Close
        } else {
            Reply::Answer(elected([("a", 0, DONE)]))
        }
    });
    let admin = cluster.admin().await;
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    assert_eq!(cluster.broker(1).connections(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_broker_that_stays_away_is_named_in_the_end() {
    let cluster = Cluster::new(1);
    cluster
        .broker(1)
        .on(|_, _: ElectLeadersRequest| Reply::Close);
    let admin = cluster.admin().await;
    cluster.network.remove(&broker(1));
    expect!["broker-1:9092: connection refused; check the address, and that a Kafka server listens there; gave up; whether ElectLeaders (43) was carried out is unknown"].assert_eq(&without_tries(&outcome(&elect(&admin, &[("a", 0)])).await));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_answering_is_left_after_the_request_timeout() {
    let cluster = Cluster::new(1);
    let mut asked = 0;
    cluster.broker(1).on(move |_, _: ElectLeadersRequest| {
        asked += 1;
        if asked == 1 {
            Reply::Silence
        } else {
            Reply::Answer(elected([("a", 0, DONE)]))
        }
    });
    let admin = cluster.admin().await;
    let start = Instant::now();
    elect(&admin, &[("a", 0)]).all().await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 30);
    assert_eq!(cluster.broker(1).connections(), 2);
}

#[tokio::test(start_paused = true)]
async fn calls_at_the_same_time_share_a_connection() {
    let cluster = Cluster::new(2);
    cluster.metadata().controller_id = 2;
    cluster
        .broker(2)
        .on(|_, _: ElectLeadersRequest| Reply::After(SECOND, elected([("a", 0, DONE)])));
    let admin = cluster.admin().await;
    let results: Vec<_> = (0..20).map(|_| elect(&admin, &[("a", 0)])).collect();
    for result in results {
        result.all().await.unwrap();
    }
    assert_eq!(cluster.broker(2).connections(), 1);
}
