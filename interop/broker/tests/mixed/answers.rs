//! What brokers say of the same cluster.

use std::time::Duration;

use klamm_cluster::{Cluster, wait_until};
use klamm_protocol::Request;
use klamm_protocol::messages::describe_topic_partitions::{
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse, TopicRequest,
};
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
use klamm_suite::Wire;

use crate::{KLAMM, TOPIC};

const DEADLINE: Duration = Duration::from_secs(120);
/// An Apache Kafka broker.
const APACHE: i32 = 1;

/// Apache Kafka's broker and klamm's answer alike, in every version, while broker 2 is dead.
pub(crate) fn assert_equal(cluster: &Cluster) {
    for version in MetadataRequest::STABLE.min..=MetadataRequest::STABLE.max {
        for topics in [vec![TOPIC, "alone"], vec!["nowhere"], vec!["no name:"]] {
            let asked = MetadataRequest {
                topics: Some(topics.into_iter().map(named).collect()),
                ..MetadataRequest::default()
            };
            alike(cluster, version, &asked, plain);
        }
        let none = MetadataRequest {
            topics: Some(Vec::new()),
            ..MetadataRequest::default()
        };
        alike(cluster, version, &none, plain);
    }
    for limit in [1, 3, 4, 100] {
        let asked = DescribeTopicPartitionsRequest {
            topics: [TOPIC, "alone", "nowhere"].map(wanted).to_vec(),
            response_partition_limit: limit,
            ..DescribeTopicPartitionsRequest::default()
        };
        alike(
            cluster,
            0,
            &asked,
            |answer: DescribeTopicPartitionsResponse| answer,
        );
    }
}

fn named(topic: &str) -> MetadataRequestTopic {
    MetadataRequestTopic {
        name: Some(topic.into()),
        ..MetadataRequestTopic::default()
    }
}

fn wanted(topic: &str) -> TopicRequest {
    TopicRequest {
        name: topic.into(),
        ..TopicRequest::default()
    }
}

/// Apache Kafka's brokers name any broker as the controller, and all of them in any order.
fn plain(mut answer: MetadataResponse) -> MetadataResponse {
    answer.controller_id = 0;
    answer.brokers.sort_by_key(|broker| broker.node_id);
    answer
        .topics
        .sort_by(|one, other| one.name.cmp(&other.name));
    for topic in &mut answer.topics {
        topic
            .partitions
            .sort_by_key(|partition| partition.partition_index);
    }
    answer
}

/// Asks both until they say the same: they learn one after the other.
fn alike<R: Request>(
    cluster: &Cluster,
    version: i16,
    request: &R,
    plain: impl Fn(R::Response) -> R::Response,
) where
    R::Response: PartialEq + std::fmt::Debug,
{
    let mut answers = Vec::new();
    let equal = wait_until(DEADLINE, || {
        let ask = |id: i32| {
            let mut wire = Wire::connect(&cluster.broker(id.unsigned_abs()));
            plain(wire.call(version, request))
        };
        answers = [APACHE, KLAMM].map(ask).to_vec();
        answers[0] == answers[1]
    });
    assert!(
        equal,
        "{} version {version}, Apache Kafka's and klamm's: {answers:#?}",
        R::KEY
    );
}
