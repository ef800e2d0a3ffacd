//! The topics that are written to, and those that only have to be there.

use std::time::{Duration, Instant};

use bench_common::{Client, check};
use klamm_protocol::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic};
use tokio::time::sleep;

/// Every partition has so many replicas.
pub(crate) const REPLICAS: usize = 3;
/// How long a server may take for a request, and a cluster until all replicas are in the ISR.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(10);

/// Creates a topic, and waits until every replica of it is in its ISR.
pub(crate) async fn create(client: &Client, name: &str, partitions: usize) -> Result<(), String> {
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: name.into(),
            num_partitions: i32::try_from(partitions).unwrap_or(i32::MAX),
            replication_factor: REPLICAS as i16,
            ..CreatableTopic::default()
        }],
        timeout_ms: i32::try_from(PATIENCE.as_millis()).unwrap_or(i32::MAX),
        ..CreateTopicsRequest::default()
    };
    for topic in client.ask(&request).await?.topics {
        check(name, topic.error_code, topic.error_message.as_deref())?;
    }
    in_sync(client, name, partitions, REPLICAS).await
}

/// Waits until every partition of a topic has a leader and so many replicas in its ISR.
pub(crate) async fn in_sync(
    client: &Client,
    name: &str,
    partitions: usize,
    replicas: usize,
) -> Result<(), String> {
    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some(name.into()),
            ..MetadataRequestTopic::default()
        }]),
        ..MetadataRequest::default()
    };
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let response = client.ask(&request).await?;
        let all = response.topics.iter().flat_map(|topic| &topic.partitions);
        let such = all.filter(|one| one.leader_id >= 0 && one.isr_nodes.len() == replicas);
        if such.count() == partitions {
            return Ok(());
        }
        sleep(INTERVAL).await;
    }
    Err(format!("topic {name} does not get ISRs of {replicas}"))
}

/// Deletes a topic.
pub(crate) async fn delete(client: &Client, name: &str) -> Result<(), String> {
    let request = DeleteTopicsRequest {
        topics: vec![DeleteTopicState {
            name: Some(name.into()),
            ..DeleteTopicState::default()
        }],
        timeout_ms: i32::try_from(PATIENCE.as_millis()).unwrap_or(i32::MAX),
        ..DeleteTopicsRequest::default()
    };
    for topic in client.ask(&request).await?.responses {
        check(name, topic.error_code, topic.error_message.as_deref())?;
    }
    Ok(())
}
