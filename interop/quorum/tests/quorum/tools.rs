//! Apache Kafka's tools, which have to succeed.

use klamm_cluster::Cluster;

/// Runs a tool of `org.apache.kafka.tools` and gives what it printed.
pub(crate) fn tool(cluster: &Cluster, name: &str, args: &[&str]) -> String {
    let (status, said) = cluster.tool(name, args);
    assert_eq!(status, 0, "{name} {args:?}: {said}");
    said
}
