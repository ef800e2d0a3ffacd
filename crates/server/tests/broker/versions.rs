//! What old versions and small pages say, asked without klamm's client, which asks for neither.

use std::time::Duration;

use klamm_net::{Connection, ConnectionOptions, TcpConnector};
use klamm_protocol::messages::describe_topic_partitions::{
    DescribeTopicPartitionsRequest, RequestCursor, TopicRequest,
};
use klamm_protocol::messages::metadata::{
    MetadataRequest, MetadataRequestTopic, MetadataResponse, MetadataResponseTopic,
};
use klamm_protocol::{ErrorCode, Request};
use tokio::time::Instant;

use crate::cluster::{Cluster, PATIENCE};

/// From this version on, an empty list of topics asks for none.
const NONE_IS_NONE: i16 = 1;

async fn connect(cluster: &Cluster, broker: i32) -> Connection {
    let server = cluster.address(broker);
    let (connector, options) = (TcpConnector::default(), ConnectionOptions::default());
    let opened = Connection::open(&connector, &server, options, Instant::now() + PATIENCE).await;
    opened.expect("the broker serves")
}

async fn ask<R: Request>(connection: &Connection, version: i16, request: &R) -> R::Response {
    let deadline = Instant::now() + PATIENCE;
    let answer = connection.call(version, request, deadline, |_| Duration::ZERO);
    answer
        .await
        .unwrap_or_else(|error| panic!("version {version}: {error}"))
}

fn named(name: &str) -> MetadataRequest {
    MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some(name.into()),
            ..MetadataRequestTopic::default()
        }]),
        ..MetadataRequest::default()
    }
}

fn names(response: &MetadataResponse) -> Vec<&str> {
    let names = response.topics.iter().map(|topic| topic.name.as_deref());
    names.map(Option::unwrap).collect()
}

fn codes(topic: &MetadataResponseTopic) -> Vec<ErrorCode> {
    let partitions = topic.partitions.iter();
    partitions
        .map(|partition| ErrorCode(partition.error_code))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_version_of_metadata() {
    let mut cluster = Cluster::of(2).await;
    cluster.create(1, "both", &[1, 2]).await;
    cluster.create(1, "second", &[2]).await;
    let is_synced = |partition: &klamm_client::PartitionDescription| partition.isr.len() == 2;
    cluster.until(1, "both", "it is in sync", is_synced).await;
    cluster.kill(2).await;
    let is_alone = |partition: &klamm_client::PartitionDescription| {
        partition.isr == [klamm_protocol::BrokerId(1)]
    };
    cluster.until(1, "both", "one is left", is_alone).await;
    let connection = connect(&cluster, 1).await;
    let second = DescribeTopicPartitionsRequest {
        topics: vec![TopicRequest {
            name: "second".into(),
            ..TopicRequest::default()
        }],
        response_partition_limit: 1,
        ..DescribeTopicPartitionsRequest::default()
    };
    let answer = ask(&connection, 0, &second).await;
    let partition = &answer.topics[0].partitions[0];
    let code = ErrorCode(partition.error_code);
    assert_eq!((partition.leader_id, code), (-1, ErrorCode::NONE));
    for version in MetadataRequest::STABLE.min..=MetadataRequest::STABLE.max {
        let answer = ask(&connection, version, &named("both")).await;
        assert_eq!(answer.brokers.len(), 1, "version {version}");
        assert_eq!(names(&answer), ["both"], "version {version}");
        let partition = &answer.topics[0].partitions[0];
        assert_eq!((partition.leader_id, &*partition.isr_nodes), (1, &[1][..]));
        // Clients of the first version take who is named for one that they can reach.
        let (replicas, code): (&[i32], _) = match version {
            0 => (&[1], ErrorCode::REPLICA_NOT_AVAILABLE),
            _ => (&[1, 2], ErrorCode::NONE),
        };
        assert_eq!(&*partition.replica_nodes, replicas, "version {version}");
        assert_eq!(codes(&answer.topics[0]), [code], "version {version}");

        let answer = ask(&connection, version, &named("second")).await;
        assert_eq!(answer.topics[0].partitions[0].leader_id, -1);
        let expected = [ErrorCode::LEADER_NOT_AVAILABLE];
        assert_eq!(codes(&answer.topics[0]), expected, "version {version}");

        let answer = ask(&connection, version, &named("nowhere")).await;
        let code = ErrorCode(answer.topics[0].error_code);
        assert_eq!(code, ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);

        let empty = MetadataRequest {
            topics: Some(Vec::new()),
            ..MetadataRequest::default()
        };
        let answer = ask(&connection, version, &empty).await;
        let expected: &[&str] = match version {
            ..NONE_IS_NONE => &["both", "second"],
            _ => &[],
        };
        assert_eq!(names(&answer), expected, "version {version}");
        if version >= NONE_IS_NONE {
            let all = MetadataRequest {
                topics: None,
                ..MetadataRequest::default()
            };
            let answer = ask(&connection, version, &all).await;
            assert_eq!(names(&answer), ["both", "second"], "version {version}");
        }
    }
}

/// Pages of every size are together the same as one answer.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_partitions() {
    let cluster = Cluster::of(1).await;
    let sizes = [("a", 3), ("b", 1), ("c", 4)];
    let admin = cluster.admin(1).await;
    let topics = sizes.map(|(name, partitions)| klamm_client::NewTopic::new(name, partitions, 1));
    let created = admin.create_topics(&topics, Default::default()).await;
    for (name, outcome) in created.unwrap() {
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let connection = connect(&cluster, 1).await;
    let all: Vec<(String, i32)> = sizes
        .into_iter()
        .flat_map(|(name, partitions)| (0..partitions).map(move |index| (name.to_owned(), index)))
        .collect();
    let asked: [&[&str]; 2] = [&[], &["c", "a", "b", "a"]];
    for names in asked {
        for limit in 1..=9 {
            let topics = names.iter().map(|name| TopicRequest {
                name: (*name).into(),
                ..TopicRequest::default()
            });
            let mut request = DescribeTopicPartitionsRequest {
                topics: topics.collect(),
                response_partition_limit: limit,
                ..DescribeTopicPartitionsRequest::default()
            };
            let mut found = Vec::new();
            loop {
                let page = ask(&connection, 0, &request).await;
                let before = found.len();
                for topic in &page.topics {
                    assert_eq!(ErrorCode(topic.error_code), ErrorCode::NONE);
                    let name = topic.name.as_deref().unwrap();
                    let indexes = topic
                        .partitions
                        .iter()
                        .map(|partition| partition.partition_index);
                    found.extend(indexes.map(|index| (name.to_owned(), index)));
                }
                assert!(found.len() - before <= limit as usize, "{page:?}");
                let Some(next) = page.next_cursor.clone() else {
                    break;
                };
                assert!(found.len() > before, "a page without partitions: {page:?}");
                request.cursor = Some(RequestCursor {
                    topic_name: next.topic_name,
                    partition_index: next.partition_index,
                    ..RequestCursor::default()
                });
            }
            assert_eq!(found, all, "{names:?} in pages of {limit}");
        }
    }
}
