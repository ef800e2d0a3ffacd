//! Brokers of Apache Kafka 4.0, in a cluster of their release.

use klamm_cluster::{Release, Spec};
use klamm_java_peer::json;

use crate::Context;
use crate::tools::tool;

/// They join, get topics, one is killed under load and comes back, and leads again.
pub(crate) fn smoke(context: &mut Context) {
    context.replace(
        Spec::separate(1, 3)
            .dynamic_quorum()
            .brokers(Release::Oldest)
            .format_args(&["--release-version", "4.0"]),
    );
    let name = context.topic("oldest");
    let cluster = context.whole();
    let said = tool(cluster, "FeatureCommand", &["describe"]);
    let version = said.lines().find(|line| line.contains("metadata.version"));
    let version = version.unwrap_or_else(|| panic!("{said}"));
    assert!(version.contains("FinalizedVersionLevel: 4.0-IV3"), "{said}");
    cluster.create_topic(&name, &[&[1, 2, 3], &[2, 3, 1], &[3, 1, 2]], &[]);
    let topic = json!({ "topic": name });
    cluster.admin("produce_start", topic.clone());
    let wait_for_more = |what: &str| {
        let count = || {
            cluster
                .admin("produce_count", topic.clone())
                .as_u64()
                .unwrap()
        };
        let before = count();
        cluster.wait(what, || count() > before + 200);
    };
    wait_for_more("records with all brokers");
    cluster.kill(2);
    cluster.wait_for_topic(&name, "other leaders", |partitions| {
        partitions.iter().all(|p| p.leader >= 0 && p.leader != 2)
    });
    wait_for_more("records while a broker is dead");
    cluster.restart(2);
    context.in_sync(&[&name]);
    let elect = ["--election-type", "preferred", "--all-topic-partitions"];
    tool(cluster, "LeaderElectionCommand", &elect);
    cluster.wait_for_topic(&name, "preferred leaders", |partitions| {
        partitions.iter().all(|p| p.is_preferred())
    });
    wait_for_more("records after the election");
    context.assert_nothing_lost(&name);
    let cluster = context.whole();
    cluster.stop(3);
    cluster.wait_for_brokers(&[1, 2]);
    cluster.restart(3);
    context.in_sync(&[&name]);
}
