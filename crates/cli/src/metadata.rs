use klamm_client::{
    Admin, ClientError, ClusterMetadata, DescribeClusterOptions, DescribeTopicPartitionsOptions,
    DescribeTopicsOptions, TopicPartition, TopicSelection,
};

use crate::cluster::{Broker, Cluster};

/// Whether the eligible leader replicas are wanted, which takes another API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elr {
    Wanted,
    NotWanted,
}

/// Asks a cluster who leads what. Topics that it does not show are left out.
pub(crate) async fn cluster(
    admin: &Admin,
    topics: &TopicSelection,
    elr: Elr,
) -> Result<Cluster, ClientError> {
    let described = match elr {
        Elr::Wanted => with_elr(admin, topics).await?,
        Elr::NotWanted => without_elr(admin, topics).await?,
    };
    let brokers = described.cluster.brokers.into_iter().map(|broker| {
        let address = match broker.address() {
            Some(address) => address.to_string(),
            None => format!("{}:{}", broker.host, broker.port),
        };
        (
            broker.id,
            Broker {
                address,
                rack: broker.rack.map(|rack| rack.to_string()),
            },
        )
    });
    let partitions = described.topics.into_values().flatten().flat_map(|topic| {
        let name = topic.name;
        topic.partitions.into_iter().map(move |partition| {
            (
                TopicPartition::new(name.clone(), partition.index),
                partition,
            )
        })
    });
    Ok(Cluster {
        brokers: brokers.collect(),
        partitions: partitions.collect(),
    })
}

/// From brokers before Kafka 3.7, which do not tell, the partitions come without their ELR.
async fn with_elr(admin: &Admin, topics: &TopicSelection) -> Result<ClusterMetadata, ClientError> {
    let described = tokio::try_join!(
        admin.describe_cluster(DescribeClusterOptions::default()),
        admin.describe_topic_partitions(topics, DescribeTopicPartitionsOptions::default()),
    );
    match described {
        Ok((cluster, topics)) => Ok(ClusterMetadata { cluster, topics }),
        Err(ClientError::Unsupported { .. }) => without_elr(admin, topics).await,
        Err(error) => Err(error),
    }
}

async fn without_elr(
    admin: &Admin,
    topics: &TopicSelection,
) -> Result<ClusterMetadata, ClientError> {
    let options = DescribeTopicsOptions {
        include_internal: true,
        ..Default::default()
    };
    admin.metadata(topics, options).await
}
