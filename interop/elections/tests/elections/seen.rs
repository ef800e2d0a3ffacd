//! What each broker says of a partition. Brokers learn of a change one after the other, so a test that
//! depends on an order of changes waits until every one of them has seen each.

use klamm_cluster::Cluster;
use klamm_java_peer::json;
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic};

use crate::wire::Wire;

const VERSION: i16 = 12;

/// Leader and replicas of partition 0, if the broker at an address knows the topic.
fn leadership(address: &str, topic: &str) -> Option<(i32, Vec<i32>)> {
    let topic = MetadataRequestTopic {
        name: Some(topic.into()),
        ..Default::default()
    };
    let request = MetadataRequest {
        topics: Some(vec![topic]),
        ..Default::default()
    };
    let answer = Wire::connect(address).call(VERSION, &request);
    let partition = answer.topics.first()?.partitions.first()?;
    Some((
        partition.leader_id,
        partition.replica_nodes.iter().copied().collect(),
    ))
}

/// Waits until all brokers say the same, and it is what was waited for.
fn agreed(
    cluster: &Cluster,
    topic: &str,
    what: &str,
    done: impl Fn(i32, &[i32]) -> bool,
) -> (i32, Vec<i32>) {
    let mut all = Vec::new();
    cluster.wait(&format!("every broker to see {topic} {what}"), || {
        let brokers = cluster.broker_ids().into_iter();
        all = brokers
            .map(|id| leadership(&cluster.broker(id), topic))
            .collect();
        all.iter().all(|seen| {
            *seen == all[0]
                && seen
                    .as_ref()
                    .is_some_and(|(leader, replicas)| done(*leader, replicas))
        })
    });
    all.swap_remove(0).unwrap()
}

/// Moves a topic's only partition off its preferred leader, by turning its two replicas around.
pub(crate) fn unbalance(cluster: &Cluster, topic: &str) {
    let (leader, replicas) = agreed(
        cluster,
        topic,
        "led by its preferred leader",
        |leader, replicas| replicas[0] == leader,
    );
    let turned = [replicas[1], replicas[0]];
    cluster.admin(
        "reassign",
        json!({ "topic": topic, "partition": 0, "replicas": turned }),
    );
    agreed(
        cluster,
        topic,
        "off its preferred leader",
        |now, replicas| now == leader && replicas == turned,
    );
}
