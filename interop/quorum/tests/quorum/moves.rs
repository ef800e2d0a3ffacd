//! Brokers stop in good order, come new, and go for good.

use klamm_java_peer::json;

use crate::log::{end, since, topic_id};
use crate::tools::tool;
use crate::{Context, log::Logged};

/// A broker that is told to stop hands over what it leads first: no partition is without a leader.
pub(crate) fn controlled_shutdown(context: &mut Context) {
    const LEAVING: i32 = 2;
    let name = context.topic("shutdown");
    let cluster = context.whole();
    cluster.create_topic(&name, &[&[2, 3, 1], &[2, 1, 3], &[1, 2, 3]], &[]);
    let id = topic_id(cluster, &name);
    let topic = json!({ "topic": name });
    cluster.admin("produce_start", topic.clone());
    let count = || {
        cluster
            .admin("produce_count", topic.clone())
            .as_u64()
            .unwrap()
    };
    cluster.wait("records", || count() > 100);
    let from = end(cluster);
    cluster.stop(LEAVING as u32);
    let mut records = Vec::new();
    cluster.wait("the broker to be fenced", || {
        records = since(cluster, from);
        records.iter().any(|record| record.fences(LEAVING))
    });
    let at = |found: &dyn Fn(&Logged) -> bool| records.iter().position(found);
    let told =
        at(&|record| record.changes_broker(LEAVING) && record.data["inControlledShutdown"] == 1);
    let fenced = at(&|record| record.fences(LEAVING));
    let (told, fenced) = (told.unwrap(), fenced.unwrap());
    assert!(told < fenced, "{records:?}");
    let leaders = |records: &[Logged]| -> Vec<i64> {
        records
            .iter()
            .filter_map(|record| record.new_leader(&id))
            .collect()
    };
    let moved = leaders(&records[told..fenced]);
    assert_eq!(moved.len(), 2, "{records:?}");
    let elsewhere = |leader: &i64| [1, 3].contains(leader);
    assert!(moved.iter().all(elsewhere), "{records:?}");
    assert_eq!(leaders(&records[fenced..]), [0; 0], "{records:?}");
    let before = count();
    cluster.wait("records without it", || count() > before + 100);
    cluster.restart(LEAVING as u32);
    context.in_sync(&[&name]);
    context.assert_nothing_lost(&name);
}

/// A new broker gets replicas and leads; then it gives them back, stops and is unregistered.
pub(crate) fn fourth_broker(context: &mut Context) {
    const NEW: i32 = 4;
    let names = [0; 2].map(|_| context.topic("fourth"));
    let [old, new] = &names;
    let cluster = context.whole();
    cluster.create_topic(old, &[&[1, 2, 3]], &[]);
    cluster.admin("produce_start", json!({ "topic": old }));
    cluster.join(NEW as u32);
    cluster.wait_for_brokers(&[1, 2, 3, 4]);
    cluster.create_topic(new, &[&[4, 1, 2], &[1, 4, 3]], &[]);
    let elect = [
        "--election-type",
        "preferred",
        "--topic",
        old,
        "--partition",
        "0",
    ];
    for replicas in [[NEW, 2, 3], [1, 2, 3]] {
        let to = json!({ "topic": old, "partition": 0, "replicas": replicas });
        cluster.admin("reassign", to);
        cluster.wait_for_topic(old, "its new replicas", |partitions| {
            partitions[0].replicas == replicas && partitions[0].isr.len() == 3
        });
        // One that leaves takes its leadership with it, one that comes may have it.
        if cluster.partitions(old)[0].leader != replicas[0] {
            tool(cluster, "LeaderElectionCommand", &elect);
        }
        cluster.wait_for_topic(old, "its preferred leader", |p| p[0].is_preferred());
    }
    cluster.admin("delete_topics", json!({ "topics": [new] }));
    cluster.stop(NEW as u32);
    let servers = cluster.bootstrap();
    let unregister = ["unregister", "--bootstrap-server", &servers, "--id", "4"];
    let (status, said) = cluster.offline_tool("ClusterTool", &unregister);
    assert_eq!(status, 0, "{said}");
    context.whole();
    context.assert_nothing_lost(old);
}
