//! Replicas move, by Apache Kafka's tool.

use klamm_cluster::Cluster;
use klamm_java_peer::json;

use crate::Context;
use crate::tools::tool_in_time;

const TOOL: &str = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand";
/// Of records that make a move take longer than any test.
const RECORD_BYTES: u32 = 10_000;
const RECORDS: u64 = 500;

/// Generated, executed, verified.
pub(crate) fn executed(context: &mut Context) {
    let name = context.topic("reassignments");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[1, 2], &[2, 1], &[1, 2]], &[]);
    let topics = json!({ "version": 1, "topics": [{ "topic": name }] });
    let topics = file(cluster, &topics.to_string());
    let of_topics = [
        "--topics-to-move-json-file",
        &topics,
        "--broker-list",
        "2,3",
    ];
    let generated = tool_in_time(cluster, TOOL, &[&["--generate"], &of_topics[..]].concat());
    let proposed = generated.lines().rfind(|line| line.starts_with('{'));
    let plan = file(cluster, proposed.unwrap());
    let of_plan = ["--reassignment-json-file", &plan];
    let said = tool_in_time(cluster, TOOL, &[&["--execute"], &of_plan[..]].concat());
    assert!(said.contains("Successfully started"), "{said}");
    cluster.wait("the end of the reassignment", || {
        let said = tool_in_time(cluster, TOOL, &[&["--verify"], &of_plan[..]].concat());
        (0..3).all(|index| said.contains(&format!("{name}-{index} is completed")))
    });
    let on_both = |ids: &[i32]| ids.len() == 2 && ids.contains(&2) && ids.contains(&3);
    cluster.wait_for_topic(&name, "its new replicas", |partitions| {
        let mut all = partitions.iter();
        partitions.len() == 3 && all.all(|p| on_both(&p.replicas) && on_both(&p.isr))
    });
}

/// One that takes long, and is cancelled: everything is as it was, and so is every record. The order of
/// the replicas is that of the reassignment, in which the two that were there are as before.
pub(crate) fn cancelled(context: &mut Context) {
    let name = context.topic("reassignments");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[1, 2]], &[]);
    cluster.admin(
        "produce_start",
        json!({ "topic": name, "bytes": RECORD_BYTES }),
    );
    let topic = json!({ "topic": name });
    cluster.wait("records", || {
        cluster.admin("produce_count", topic.clone()).as_u64() > Some(RECORDS)
    });
    let partition = json!({ "topic": name, "partition": 0, "replicas": [1, 3] });
    let plan = json!({ "version": 1, "partitions": [partition] });
    let plan = file(cluster, &plan.to_string());
    let of_plan = ["--reassignment-json-file", &plan];
    let execute = ["--execute", "--throttle", "1000"];
    let said = tool_in_time(cluster, TOOL, &[&execute[..], &of_plan[..]].concat());
    assert!(said.contains("Successfully started"), "{said}");
    let listed = tool_in_time(cluster, TOOL, &["--list"]);
    assert!(listed.contains(&format!("{name}-0")), "{listed}");
    let said = tool_in_time(cluster, TOOL, &[&["--verify"], &of_plan[..]].concat());
    assert!(said.contains("still in progress"), "{said}");
    let said = tool_in_time(cluster, TOOL, &[&["--cancel"], &of_plan[..]].concat());
    assert!(said.contains("Successfully cancelled"), "{said}");
    cluster.wait_for_topic(&name, "what it was", |partitions| {
        partitions[0].replicas == [1, 2] && partitions[0].isr.len() == 2
    });
    let listed = tool_in_time(cluster, TOOL, &["--list"]);
    assert!(!listed.contains(&name), "{listed}");
    context.assert_nothing_lost(&name);
}

/// Another one each time.
fn file(cluster: &Cluster, text: &str) -> String {
    let count = std::fs::read_dir(cluster.dir()).unwrap().count();
    let path = cluster.dir().join(format!("reassignment-{count}.json"));
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}
