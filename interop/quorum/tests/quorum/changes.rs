//! Topics and configs, changed with Apache Kafka's tools through a broker.

use klamm_cluster::Cluster;

use crate::Context;
use crate::tools::tool;

/// Made, described, given more partitions, deleted with all files.
pub(crate) fn topics(context: &mut Context) {
    let name = context.topic("changes");
    let cluster = context.whole();
    let topics = |args: &[&str]| tool(cluster, "TopicCommand", args);
    topics(&["--create", "--topic", &name, "--partitions", "3"]);
    cluster.wait_for_topic(&name, "leaders and full ISRs", |partitions| {
        partitions.len() == 3
            && partitions
                .iter()
                .all(|p| p.is_preferred() && p.isr.len() == 3)
    });
    let described = topics(&["--describe", "--topic", &name]);
    assert!(described.contains("PartitionCount: 3"), "{described}");
    assert!(described.contains("ReplicationFactor: 3"), "{described}");
    // Who leads now may be another one already, where a broker is slow.
    let partitions = cluster.partitions(&name);
    let mut preferred: Vec<i32> = partitions.iter().map(|p| p.replicas[0]).collect();
    preferred.sort_unstable();
    assert_eq!(preferred, [1, 2, 3], "leaders are spread");

    topics(&["--alter", "--topic", &name, "--partitions", "5"]);
    cluster.wait_for_topic(&name, "five partitions", |partitions| {
        partitions.len() == 5 && partitions.iter().all(|p| p.isr.len() == 3)
    });

    let again = ["--create", "--topic", &name, "--partitions", "1"];
    let (status, said) = cluster.tool("TopicCommand", &again);
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("exist"), "{said}");
    assert!(has_files(cluster, &name));
    topics(&["--delete", "--topic", &name]);
    cluster.wait("the topic to be gone", || {
        !topics(&["--list"]).lines().any(|line| line == name)
    });
    cluster.wait("its files to be gone", || !has_files(cluster, &name));
}

/// Set, shown and removed again.
pub(crate) fn configs(context: &mut Context) {
    let name = context.topic("configs");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[1, 2, 3]], &[("retention.ms", "1234567")]);
    let of = |more: &[&str]| {
        let entity = ["--entity-type", "topics", "--entity-name", &name];
        tool(cluster, "ConfigCommand", &[more, &entity].concat())
    };
    assert!(of(&["--describe"]).contains("retention.ms=1234567"));
    of(&["--alter", "--add-config", "retention.ms=7654321"]);
    cluster.wait("the broker to know", || {
        of(&["--describe"]).contains("retention.ms=7654321")
    });
    of(&["--alter", "--delete-config", "retention.ms"]);
    cluster.wait("the broker to know", || {
        !of(&["--describe"]).contains("retention.ms=")
    });
}

/// A feature is turned off and on again.
pub(crate) fn features(context: &mut Context) {
    const FEATURE: &str = "share.version";
    let cluster = context.whole();
    let level = || {
        let said = tool(cluster, "FeatureCommand", &["describe"]);
        let of_feature = said.lines().find(|line| line.contains(FEATURE));
        let level = of_feature.and_then(|line| line.split_once("FinalizedVersionLevel: "));
        let (_, level) = level.unwrap_or_else(|| panic!("no level of {FEATURE}: {said}"));
        level.split_whitespace().next().unwrap().to_owned()
    };
    let before = level();
    assert_ne!(before, "0");
    tool(
        cluster,
        "FeatureCommand",
        &["disable", "--feature", FEATURE],
    );
    cluster.wait("the feature to be off", || level() == "0");
    let on = format!("{FEATURE}={before}");
    tool(cluster, "FeatureCommand", &["upgrade", "--feature", &on]);
    cluster.wait("the feature to be on", || level() == before);
}

/// Whether any broker still has files of a topic's partitions.
fn has_files(cluster: &Cluster, topic: &str) -> bool {
    cluster.broker_ids().into_iter().any(|id| {
        let entries = std::fs::read_dir(cluster.data_dir(id)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        let mut names = names.map(|name| name.into_string().unwrap());
        names.any(|name| name.starts_with(&format!("{topic}-")))
    })
}
