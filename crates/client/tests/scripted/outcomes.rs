//! What a producer says of records that it gives up.

use klamm_client::{ErrorCode, ProduceError, ProducerOptions, ProducerRecord};
use klamm_net::testing::Reply;
use klamm_protocol::messages::produce::{ProduceRequest, ProduceResponse};

use crate::log::{Logs, refusal};
use crate::producing::producer;
use crate::support::*;

/// Gives a record to a broker whose every answer is made by `answers`, which is told the number of the
/// request. Says what became of the record, and whether it is in the log.
async fn sent(
    mut answers: impl FnMut(usize, &Logs, &ProduceRequest) -> Reply<ProduceResponse> + Send + 'static,
) -> (ProduceError, bool) {
    let cluster = Cluster::new(1);
    cluster.add_topic("a", [1]);
    let logs = Logs::default();
    logs.serve(&cluster);
    let (log, mut count) = (logs.clone(), 0);
    cluster.broker(1).on(move |_, request: ProduceRequest| {
        count += 1;
        answers(count, &log, &request)
    });
    let options = ProducerOptions {
        delivery_timeout: 10 * SECOND,
        ..Default::default()
    };
    let producer = producer(&cluster, options).await;
    let record = ProducerRecord::new("a").partition(0).value("1");
    let delivery = producer.send(record).await.unwrap();
    let error = delivery.await.unwrap_err();
    (error, !logs.values(0).is_empty())
}

/// A leader that has written a batch may answer anything that comes of waiting for followers, and of
/// no longer being the leader.
#[tokio::test(start_paused = true)]
async fn what_a_leader_may_have_written_is_not_said_to_be_gone() {
    for code in [
        ErrorCode::REQUEST_TIMED_OUT,
        ErrorCode::NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode::NOT_LEADER_OR_FOLLOWER,
        ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode::KAFKA_STORAGE_ERROR,
        ErrorCode::LEADER_NOT_AVAILABLE,
    ] {
        // What comes later does not take it back.
        for later in [code, ErrorCode::NOT_ENOUGH_REPLICAS] {
            let (error, is_there) = sent(move |count, logs, request| {
                if count > 1 {
                    return Reply::Answer(refusal(request, later));
                }
                logs.answer(request);
                Reply::Answer(refusal(request, code))
            })
            .await;
            assert!(is_there, "{code}");
            assert!(error.is_outcome_unknown(), "{code}, {later}: {error}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_does_not_speak_for_requests_before_it() {
    let (error, is_there) = sent(|count, logs, request| {
        if count > 1 {
            return Reply::Answer(refusal(request, ErrorCode::TOPIC_AUTHORIZATION_FAILED));
        }
        logs.answer(request);
        Reply::Close
    })
    .await;
    assert!(is_there);
    assert!(error.is_outcome_unknown(), "{error}");
    assert_eq!(error.code(), Some(ErrorCode::TOPIC_AUTHORIZATION_FAILED));
}

#[tokio::test(start_paused = true)]
async fn what_no_leader_took_is_said_to_be_gone() {
    for code in [
        ErrorCode::NOT_ENOUGH_REPLICAS,
        ErrorCode::CORRUPT_MESSAGE,
        ErrorCode::TOPIC_AUTHORIZATION_FAILED,
    ] {
        let (error, is_there) =
            sent(move |_, _, request| Reply::Answer(refusal(request, code))).await;
        assert!(!is_there && !error.is_outcome_unknown(), "{code}: {error}");
    }
}

/// A leader takes any number from a producer that it does not know: a second batch that arrives where
/// the first did not would be before it for good.
#[tokio::test(start_paused = true)]
async fn the_first_batch_of_a_partition_is_waited_for() {
    for (answered, sent) in [(0, 1), (1, 6)] {
        let cluster = Cluster::new(1);
        cluster.add_topic("a", [1, 1]);
        let logs = Logs::default();
        logs.serve(&cluster);
        let log = logs.clone();
        cluster.broker(1).on(move |_, request: ProduceRequest| {
            let answer = log.answer(&request);
            let seen = log.logs().get(&0).map_or(0, |log| log.seen.len());
            match seen <= answered {
                true => Reply::Answer(answer),
                false => Reply::Silence,
            }
        });
        let options = ProducerOptions {
            batch_size: 1,
            linger: std::time::Duration::ZERO,
            ..Default::default()
        };
        let producer = producer(&cluster, options).await;
        // The connection is in use, for another partition.
        for n in 0..2 {
            let record = ProducerRecord::new("a").partition(1).value(n.to_string());
            producer.send(record).await.unwrap().await.unwrap();
        }
        let mut deliveries = Vec::new();
        for n in 0..8 {
            let record = ProducerRecord::new("a").partition(0).value(n.to_string());
            deliveries.push(producer.send(record).await.unwrap());
        }
        tokio::time::sleep(SECOND).await;
        let seen = logs.logs()[&0].seen.len();
        assert_eq!(seen, sent, "{answered} acknowledged");
    }
}
