//! The topics that are written to, and those that only have to be there.

use std::time::{Duration, Instant};

use bench_common::check;
use klamm_protocol::messages::create_topics::{CreatableTopic, CreateTopicsRequest};
use klamm_protocol::messages::delete_topics::{DeleteTopicState, DeleteTopicsRequest};
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic};
use tokio::time::sleep;

use crate::cluster::Cluster;

/// Every partition has so many replicas.
const REPLICAS: i16 = 3;
/// How long a server may take for a request, and a cluster until all replicas are in the ISR.
const PATIENCE: Duration = Duration::from_secs(120);
/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(10);

/// Creates a topic, and waits until every replica of it is in its ISR.
pub(crate) async fn create(cluster: &Cluster, name: &str, partitions: i32) -> Result<(), String> {
    let client = cluster.connect().await?;
    let request = CreateTopicsRequest {
        topics: vec![CreatableTopic {
            name: name.into(),
            num_partitions: partitions,
            replication_factor: REPLICAS,
            ..CreatableTopic::default()
        }],
        timeout_ms: i32::try_from(PATIENCE.as_millis()).unwrap_or(i32::MAX),
        ..CreateTopicsRequest::default()
    };
    for topic in client.ask(&request).await?.topics {
        check(name, topic.error_code, topic.error_message.as_deref())?;
    }
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
        let whole = all.filter(|one| one.leader_id >= 0 && one.isr_nodes.len() == 3);
        if whole.count() == partitions as usize {
            return Ok(());
        }
        sleep(INTERVAL).await;
    }
    let tail = cluster.tail();
    Err(format!("topic {name} does not get whole ISRs\n{tail}"))
}

/// Deletes a topic.
pub(crate) async fn delete(cluster: &Cluster, name: &str) -> Result<(), String> {
    let request = DeleteTopicsRequest {
        topics: vec![DeleteTopicState {
            name: Some(name.into()),
            ..DeleteTopicState::default()
        }],
        timeout_ms: i32::try_from(PATIENCE.as_millis()).unwrap_or(i32::MAX),
        ..DeleteTopicsRequest::default()
    };
    for topic in cluster.connect().await?.ask(&request).await?.responses {
        check(name, topic.error_code, topic.error_message.as_deref())?;
    }
    Ok(())
}
