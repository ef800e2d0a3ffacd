//! Apache Kafka's tools, which have to succeed.

use klamm_cluster::Cluster;

/// Runs a tool of `org.apache.kafka.tools` and gives what it printed.
pub(crate) fn tool(cluster: &Cluster, name: &str, args: &[&str]) -> String {
    let (status, said) = cluster.tool(name, args);
    assert_eq!(status, 0, "{name} {args:?}: {said}");
    said
}

/// Runs one until it succeeds: it asks any broker, and one that has not heard of the latest change yet
/// refuses what is right.
pub(crate) fn tool_in_time(cluster: &Cluster, name: &str, args: &[&str]) -> String {
    let mut said = String::new();
    cluster.wait(&format!("{name} {args:?} to succeed"), || {
        let (status, output) = cluster.tool(name, args);
        said = output;
        status == 0
    });
    said
}
