use std::sync::Arc;

use klamm_client::{
    ApiKey, Bootstrap, ClientConfig, ConsumeError, Consumer, ConsumerOptions, ErrorCode,
    IsolationLevel, Offset, OffsetReset, SeekTo, VersionRange,
};
use klamm_net::testing::Reply;
use klamm_protocol::messages::fetch::{
    AbortedTransaction, FetchRequest, FetchResponse, LeaderIdAndEpoch, PartitionData,
};
use klamm_protocol::messages::offset_for_leader_epoch::{
    EpochEndOffset, OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
};
use klamm_protocol::records::ControlType;

use crate::fetching::{ReadLog, one};
use crate::support::*;

/// Two brokers, of which the first leads the one partition of topic `a`.
fn two_brokers() -> (Cluster, ReadLog) {
    let cluster = Cluster::new(2);
    cluster.add_topic("a", [1]);
    let log = ReadLog::default();
    log.serve(&cluster);
    (cluster, log)
}

async fn consumer(cluster: &Cluster, change: impl FnOnce(&mut ConsumerOptions)) -> Consumer {
    let config = ClientConfig::new(Bootstrap::Brokers(vec![broker(1)]));
    let mut options = ConsumerOptions {
        offset_reset: OffsetReset::Earliest,
        ..Default::default()
    };
    change(&mut options);
    let network = Arc::new(cluster.network.clone());
    let mut consumer = Consumer::connect_with(config, options, network)
        .await
        .unwrap();
    consumer.assign([partition("a", 0)]);
    consumer
}

/// The values that come next.
async fn values(consumer: &mut Consumer) -> Result<Vec<String>, ConsumeError> {
    let read = consumer.poll(60 * SECOND).await?;
    let records = read.iter().flat_map(|read| read.records());
    let value = |record: klamm_client::Record<'_>| record.value().unwrap().to_vec();
    Ok(records
        .map(|record| String::from_utf8(value(record.unwrap())).unwrap())
        .collect())
}

#[tokio::test(start_paused = true)]
async fn records_come_once_in_order_within_a_session() {
    for version in [12, 11, 7] {
        let offers = modern_but(ApiKey::FETCH, VersionRange::new(0, version));
        let cluster = Cluster::offering(2, &offers);
        cluster.add_topic("a", [1]);
        let log = ReadLog::default();
        log.serve(&cluster);
        log.append(&["0", "1", "2"], 0, None);
        let mut consumer = consumer(&cluster, |_| {}).await;
        assert_eq!(values(&mut consumer).await.unwrap(), ["0", "1", "2"]);
        assert_eq!(consumer.position(&partition("a", 0)), Some(Offset(3)));
        assert!(consumer.poll(2 * SECOND).await.unwrap().is_empty());
        log.append(&["3"], 0, None);
        assert_eq!(values(&mut consumer).await.unwrap(), ["3"], "{version}");
        consumer
            .seek(&partition("a", 0), SeekTo::Offset(Offset(1)))
            .unwrap();
        assert_eq!(values(&mut consumer).await.unwrap(), ["1", "2", "3"]);
        let fetches = log.fetches();
        assert_eq!(fetches[..3], [(0, 0, 1), (9, 1, 1), (9, 2, 0)]);
        assert_eq!(cluster.broker(2).versions_of(ApiKey::FETCH), []);
    }
}

#[tokio::test(start_paused = true)]
async fn brokers_without_sessions_are_told_everything_each_time() {
    let offers = modern_but(ApiKey::FETCH, VersionRange::new(0, 4));
    let cluster = Cluster::offering(1, &offers);
    cluster.add_topic("a", [1]);
    let log = ReadLog::default();
    log.serve(&cluster);
    log.append(&["0"], 0, None);
    let mut consumer = consumer(&cluster, |_| {}).await;
    // In this version an answer has no session id.
    let (kept, mut offset) = (log.clone(), 0);
    cluster.broker(1).on(
        move |_, request: FetchRequest| match kept.fetch(&mut offset, &request) {
            Reply::Answer(answer) => Reply::Answer(without_session(answer)),
            Reply::After(while_, answer) => Reply::After(while_, without_session(answer)),
            reply => reply,
        },
    );
    assert_eq!(values(&mut consumer).await.unwrap(), ["0"]);
    assert!(consumer.poll(2 * SECOND).await.unwrap().is_empty());
    assert!(log.fetches().iter().all(|(_, _, named)| *named == 1));
}

fn without_session(answer: FetchResponse) -> FetchResponse {
    FetchResponse {
        session_id: 0,
        ..answer
    }
}

#[tokio::test(start_paused = true)]
async fn aborted_transactions_and_markers_are_passed_over() {
    for (isolation, expected) in [
        (
            IsolationLevel::ReadCommitted,
            vec!["plain", "good", "after"],
        ),
        (
            IsolationLevel::ReadUncommitted,
            vec!["plain", "bad", "good", "bad too", "after"],
        ),
    ] {
        let (cluster, log) = two_brokers();
        log.append(&["plain"], 0, None);
        log.append(&["bad"], 0, Some(1));
        log.append(&["good"], 0, Some(2));
        log.append(&["bad too"], 0, Some(1));
        log.end_transaction(ControlType::Abort, 1);
        log.append(&["after"], 0, Some(1));
        log.end_transaction(ControlType::Commit, 2);
        log.end_transaction(ControlType::Commit, 1);
        log.0.lock().unwrap().aborted.push(AbortedTransaction {
            producer_id: 1,
            first_offset: 1,
            ..Default::default()
        });
        let mut consumer = consumer(&cluster, |options| options.isolation = isolation).await;
        assert_eq!(values(&mut consumer).await.unwrap(), expected);
        assert_eq!(consumer.position(&partition("a", 0)), Some(Offset(8)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_moves_is_followed_without_metadata() {
    let (cluster, log) = two_brokers();
    log.append(&["0"], 0, None);
    let mut consumer = consumer(&cluster, |_| {}).await;
    assert_eq!(values(&mut consumer).await.unwrap(), ["0"]);
    cluster.broker(1).on(|_, _: FetchRequest| {
        let mut moved = PartitionData {
            error_code: ErrorCode::NOT_LEADER_OR_FOLLOWER.0,
            ..Default::default()
        };
        moved.current_leader = LeaderIdAndEpoch {
            leader_id: 2,
            leader_epoch: 5,
            ..Default::default()
        };
        Reply::Answer(FetchResponse {
            responses: vec![one(moved)],
            ..Default::default()
        })
    });
    compares(&cluster, 100);
    log.append(&["1"], 5, None);
    let asked = cluster.broker(1).versions_of(ApiKey::METADATA).len();
    assert_eq!(values(&mut consumer).await.unwrap(), ["1"]);
    assert_eq!(cluster.broker(1).versions_of(ApiKey::METADATA).len(), asked);
}

/// Has broker 2 say where its log ends in every epoch.
fn compares(cluster: &Cluster, end_offset: i64) {
    cluster
        .broker(2)
        .on(move |_, request: OffsetForLeaderEpochRequest| {
            let asked = &request.topics[0].partitions[0];
            let told = EpochEndOffset {
                leader_epoch: asked.leader_epoch,
                end_offset,
                ..Default::default()
            };
            Reply::Answer(OffsetForLeaderEpochResponse {
                topics: vec![OffsetForLeaderTopicResult {
                    topic: "a".into(),
                    partitions: vec![told],
                    ..Default::default()
                }],
                ..Default::default()
            })
        });
}

#[tokio::test(start_paused = true)]
async fn a_truncated_log_is_said() {
    for (reset, expected) in [
        (OffsetReset::Earliest, Some(Offset(1))),
        (OffsetReset::None, None),
    ] {
        let (cluster, log) = two_brokers();
        log.append(&["0", "1", "2"], 0, None);
        let mut consumer = consumer(&cluster, |options| options.offset_reset = reset).await;
        consumer
            .seek(&partition("a", 0), SeekTo::Beginning)
            .unwrap();
        assert_eq!(values(&mut consumer).await.unwrap().len(), 3);
        let moved = cluster.clone();
        cluster.broker(1).on(move |_, _: FetchRequest| {
            let partition = &mut moved.metadata().topics[0].partitions[0];
            (partition.leader_id, partition.leader_epoch) = (2, 5);
            let fenced = PartitionData {
                error_code: ErrorCode::FENCED_LEADER_EPOCH.0,
                ..Default::default()
            };
            Reply::Answer(FetchResponse {
                responses: vec![one(fenced)],
                ..Default::default()
            })
        });
        compares(&cluster, 1);
        let error = values(&mut consumer).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "a-0: the log was truncated below offset 3, which this consumer had read to; it \
             agrees up to offset 1"
        );
        assert_eq!(consumer.position(&partition("a", 0)), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_lost_begins_again() {
    for code in [
        ErrorCode::FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode::INVALID_FETCH_SESSION_EPOCH,
    ] {
        let (cluster, log) = two_brokers();
        log.append(&["0"], 0, None);
        let mut consumer = consumer(&cluster, |_| {}).await;
        assert_eq!(values(&mut consumer).await.unwrap(), ["0"]);
        let (kept, mut offset, mut answered) = (log.clone(), 0, 0);
        cluster.broker(1).on(move |_, request: FetchRequest| {
            answered += 1;
            if answered == 1 {
                return Reply::Answer(FetchResponse {
                    error_code: code.0,
                    ..Default::default()
                });
            }
            kept.fetch(&mut offset, &request)
        });
        log.append(&["1"], 0, None);
        assert_eq!(values(&mut consumer).await.unwrap(), ["1"]);
        let last = *log.fetches().last().unwrap();
        assert!(
            log.fetches()
                .iter()
                .skip(1)
                .any(|fetch| fetch.1 == 0 && fetch.2 == 1),
            "{last:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn offsets_out_of_range_are_said_or_reset() {
    for reset in [OffsetReset::None, OffsetReset::Earliest] {
        let (cluster, log) = two_brokers();
        log.append(&["0"], 0, None);
        let mut consumer = consumer(&cluster, |options| options.offset_reset = reset).await;
        let (kept, mut offset) = (log.clone(), 0);
        cluster.broker(1).on(move |_, request: FetchRequest| {
            let asked = request.topics.first();
            if asked.is_some_and(|topic| topic.partitions[0].fetch_offset > 50) {
                return Reply::Answer(FetchResponse {
                    responses: vec![one(PartitionData {
                        error_code: ErrorCode::OFFSET_OUT_OF_RANGE.0,
                        ..Default::default()
                    })],
                    ..Default::default()
                });
            }
            kept.fetch(&mut offset, &request)
        });
        consumer
            .seek(&partition("a", 0), SeekTo::Offset(Offset(99)))
            .unwrap();
        let read = values(&mut consumer).await;
        match reset {
            OffsetReset::None => assert_eq!(
                read.unwrap_err().to_string(),
                "a-0: offset 99 is not in the log; seek to one that is"
            ),
            _ => assert_eq!(read.unwrap(), ["0"]),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn places_are_looked_up() {
    let (cluster, log) = two_brokers();
    log.append(&["0", "1", "2"], 0, None);
    let mut consumer = consumer(&cluster, |_| {}).await;
    consumer
        .seek(&partition("a", 0), SeekTo::Timestamp(2))
        .unwrap();
    assert_eq!(values(&mut consumer).await.unwrap(), ["2"]);
    consumer.seek(&partition("a", 0), SeekTo::End).unwrap();
    assert!(consumer.poll(SECOND).await.unwrap().is_empty());
    assert_eq!(consumer.position(&partition("a", 0)), Some(Offset(3)));
    let error = consumer.seek(&partition("a", 1), SeekTo::End).unwrap_err();
    assert!(matches!(error, ConsumeError::NotAssigned(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_hangs_is_left() {
    let (cluster, log) = two_brokers();
    log.append(&["0"], 0, None);
    let moved = cluster.clone();
    cluster.broker(1).on(move |_, _: FetchRequest| {
        moved.metadata().topics[0].partitions[0].leader_id = 2;
        Reply::Silence
    });
    let mut consumer = consumer(&cluster, |_| {}).await;
    assert_eq!(values(&mut consumer).await.unwrap(), ["0"]);
}
