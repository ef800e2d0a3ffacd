//! What each broker says of partitions. Brokers learn of a change one after the other, so a test that
//! depends on an order of changes waits until every one of them has seen each.

use klamm_cluster::Cluster;
use klamm_java_peer::json;
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic};

use crate::wire::Wire;

const VERSION: i16 = 12;

/// A partition as a broker's metadata has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) leader: i32,
    pub(crate) replicas: Vec<i32>,
    pub(crate) isr: Vec<i32>,
}

/// The partitions of a topic in order; none if the broker does not know it, or does not listen yet: it
/// is in service before that.
fn partitions(address: &str, topic: &str) -> Vec<Partition> {
    let topic = MetadataRequestTopic {
        name: Some(topic.into()),
        ..Default::default()
    };
    let request = MetadataRequest {
        topics: Some(vec![topic]),
        ..Default::default()
    };
    let Ok(mut wire) = Wire::try_connect(address) else {
        return Vec::new();
    };
    let answer = wire.call(VERSION, &request);
    let mut partitions: Vec<_> = answer
        .topics
        .into_iter()
        .flat_map(|t| t.partitions)
        .collect();
    partitions.sort_by_key(|partition| partition.partition_index);
    let partition = |p: klamm_protocol::messages::metadata::MetadataResponsePartition| Partition {
        leader: p.leader_id,
        replicas: p.replica_nodes.to_vec(),
        isr: p.isr_nodes.to_vec(),
    };
    partitions.into_iter().map(partition).collect()
}

/// Waits until some brokers say the same of a topic, and it is what is waited for.
pub(crate) fn leaders(
    cluster: &Cluster,
    brokers: &[u32],
    topic: &str,
    what: &str,
    done: impl Fn(&[Partition]) -> bool,
) -> Vec<Partition> {
    let mut all = Vec::new();
    cluster.wait(
        &format!("brokers {brokers:?} to see {topic} {what}"),
        || {
            all = brokers
                .iter()
                .map(|&id| partitions(&cluster.broker(id), topic))
                .collect();
            all.iter()
                .all(|seen| *seen == all[0] && !seen.is_empty() && done(seen))
        },
    );
    all.swap_remove(0)
}

/// Moves a topic's only partition off its preferred leader, by turning its two replicas around.
pub(crate) fn unbalance(cluster: &Cluster, topic: &str) {
    let all = cluster.broker_ids();
    let before = leaders(
        cluster,
        &all,
        topic,
        "led by its preferred leader",
        |partitions| partitions[0].replicas[0] == partitions[0].leader,
    );
    let turned = [before[0].replicas[1], before[0].replicas[0]];
    cluster.admin(
        "reassign",
        json!({ "topic": topic, "partition": 0, "replicas": turned }),
    );
    leaders(
        cluster,
        &all,
        topic,
        "off its preferred leader",
        |partitions| partitions[0].leader == before[0].leader && partitions[0].replicas == turned,
    );
}
