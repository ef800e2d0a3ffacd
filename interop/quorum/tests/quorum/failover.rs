//! Where klamm fences earlier than Apache Kafka's controller, and where it must not.
//!
//! Sessions are so long here that whatever happens before one ends cannot be for its end: nothing
//! depends on how fast the machine is.

use klamm_cluster::Cluster;
use klamm_java_peer::json;

use crate::log::{Logged, end, since};
use crate::tools::tool;
use crate::{CONTROLLER, Context, SESSION_MS};

/// Longer than the suite.
const ENDLESS_MS: &str = "3600000";
/// Longer than a broker needs to come back on any machine that tests run on.
const PATIENT_MS: &str = "60000";
/// Rounds of connections cut; between two of them the brokers come back.
const CUTS: usize = 5;

/// All connections of brokers that are alive are cut, again and again: nobody is fenced.
pub(crate) fn connections_cut(context: &mut Context) {
    context.restart_controller_with(ENDLESS_MS, PATIENT_MS);
    let cluster = context.whole();
    let from = end(cluster);
    for _ in 0..CUTS {
        let (_, before) = cluster.proxy().connections();
        cluster.proxy().cut();
        // Each of the three has one to fetch by and one for heartbeats.
        cluster.wait("the brokers to come back", || {
            cluster.proxy().connections().1 >= before + 6
        });
    }
    assert_eq!(fenced(cluster, from), [0; 0]);
    assert_usable(context);
}

/// A controller that starts has seen nobody yet: brokers that cannot reach it for longer than the grace
/// are not fenced for that.
pub(crate) fn controller_restart(context: &mut Context) {
    let cluster = context.whole();
    cluster.kill(CONTROLLER);
    cluster.proxy().close();
    let from = end(cluster);
    context.start_controller_with(ENDLESS_MS, "1");
    // Some time for it to do what it must not do; what it does is in its log.
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(fenced(cluster, from), [0; 0]);
    cluster.proxy().open();
    // With a grace this short a broker whose two connections come one after the other may lose
    // both for a moment: patience again, before they come.
    context.restart_controller_with(ENDLESS_MS, PATIENT_MS);
    assert_eq!(cluster.active_controller(), CONTROLLER);
    assert_usable(context);
    assert_eq!(fenced(&context.cluster, from), [0; 0]);
}

/// A broker that is killed is replaced long before its session ends; its next run registers at once,
/// and leads again what nobody else could lead without a loss.
pub(crate) fn killed_and_back(context: &mut Context) {
    let names = [0; 2].map(|_| context.topic("failover"));
    let [clean, unclean] = &names;
    context.restart_controller_with(ENDLESS_MS, "300");
    let behind = OutOfSync::made(context, unclean);
    let cluster = context.whole();
    cluster.create_topic(clean, &[&[1, 2, 3]], &[]);
    cluster.admin("produce_start", json!({ "topic": clean }));
    cluster.kill(1);
    cluster.wait_for_topic(clean, "another leader", |p| [2, 3].contains(&p[0].leader));
    cluster.wait_for_topic(unclean, "no leader", |p| p[0].leader == -1);
    // Rounds of unclean elections come each second here, and find nothing that they may do. Apache
    // Kafka's tool is not told to: who asks for an unclean election gets one.
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(cluster.partitions(unclean)[0].leader, -1);
    cluster.restart(1);
    cluster.wait_for_topic(unclean, "its old leader", |p| p[0].leader == 1);
    behind.catch_up(context);
    // No acknowledged record is gone, so no offset went back.
    context.assert_nothing_lost(unclean);
    context.in_sync(&[clean]);
    context.assert_nothing_lost(clean);
}

/// The next run of a broker does not wait for the session of the one before, which is over with its
/// connections: those that the controller has seen end, and those that it never saw since it began.
pub(crate) fn next_run(context: &mut Context) {
    const ID: i32 = 1;
    context.restart_controller_with(ENDLESS_MS, ENDLESS_MS);
    for controller_too in [false, true] {
        let cluster = context.whole();
        let from = end(cluster);
        cluster.kill(ID as u32);
        if controller_too {
            context.restart_controller_with(ENDLESS_MS, ENDLESS_MS);
        }
        cluster.restart(ID as u32);
        cluster.wait("its next run to be in service", || {
            let records = since(cluster, from);
            let registered = records.iter().position(|record| record.registers(ID));
            registered.is_some_and(|at| records[at..].iter().any(|record| record.unfences(ID)))
        });
    }
    context.restart_controller();
    assert_usable(context);
}

/// When the broker does not come back until its session would have ended, an unclean election is made
/// where it is allowed, and not before.
pub(crate) fn unclean_after_the_session(context: &mut Context) {
    let name = context.topic("failover");
    context.restart_controller_with(SESSION_MS, "300");
    let behind = OutOfSync::made(context, &name);
    let cluster = context.whole();
    let from = end(cluster);
    cluster.kill(1);
    cluster.wait_for_topic(&name, "an unclean leader", |p| p[0].leader == 2);
    let id = crate::log::topic_id(cluster, &name);
    let records = since(cluster, from);
    let fenced = records.iter().find(|record| record.fences(1)).unwrap();
    let elected = |record: &&Logged| record.new_leader(&id) == Some(2);
    let elected = records.iter().find(elected).unwrap();
    let waited = elected.time_ms - fenced.time_ms;
    // The clock that records are stamped with is not the one that waits: a millisecond may be
    // between.
    assert!(waited + 1 >= SESSION_MS.parse().unwrap(), "{waited} ms");
    cluster.restart(1);
    // What broker 1 had alone was lost by decision, so what was acknowledged is not asked for.
    behind.catch_up(context);
    cluster.admin("produce_stop", json!({ "topic": name }));
    context.restart_controller();
}

/// A partition of 2 and 1 whose leader is 1, while 2 is in service and behind, and a client produces.
///
/// The leader's throttle holds 2 back: it is in force before the topic is made, where that of a
/// follower comes into force some time after a start.
struct OutOfSync<'a>(&'a str);

impl<'a> OutOfSync<'a> {
    const LEADER: [&'static str; 4] = ["--entity-type", "brokers", "--entity-name", "1"];
    const RATE: &'static str = "leader.replication.throttled.rate";

    fn made(context: &Context, name: &'a str) -> Self {
        let cluster = context.whole();
        let rate = format!("{}=1", Self::RATE);
        let throttle = ["--alter", "--add-config", &rate];
        let of_leader = [&throttle[..], &Self::LEADER].concat();
        tool(cluster, "ConfigCommand", &of_leader);
        let configs = [
            ("unclean.leader.election.enable", "true"),
            ("min.insync.replicas", "1"),
            ("leader.replication.throttled.replicas", "*"),
        ];
        cluster.create_topic(name, &[&[2, 1]], &configs);
        cluster.kill(2);
        cluster.wait_for_topic(name, "1 alone", |p| p[0].leader == 1 && p[0].isr == [1]);
        let topic = json!({ "topic": name });
        let run = json!({ "topic": name, "bytes": 2_000 });
        cluster.admin("produce_start", run);
        let count = || {
            cluster
                .admin("produce_count", topic.clone())
                .as_u64()
                .unwrap()
        };
        // More than the one response that a follower gets before it is throttled.
        cluster.wait("records", || count() > 1_500);
        cluster.restart(2);
        context.whole();
        let before = count();
        cluster.wait("records", || count() > before + 500);
        let partitions = cluster.partitions(name);
        assert_eq!(partitions[0].isr, [1], "broker 2 is to be behind");
        Self(name)
    }

    /// Takes the throttle off, and waits until both replicas are in sync.
    fn catch_up(self, context: &Context) {
        let cluster = context.whole();
        let free = ["--alter", "--delete-config", Self::RATE];
        let of_leader = [&free[..], &Self::LEADER].concat();
        tool(cluster, "ConfigCommand", &of_leader);
        context.in_sync(&[self.0]);
    }
}

/// The brokers that were fenced since an offset.
fn fenced(cluster: &Cluster, from: i64) -> Vec<i64> {
    let records = since(cluster, from);
    let fenced = |record: &Logged| (1..=3).find(|id| record.fences(*id));
    records.iter().filter_map(fenced).map(i64::from).collect()
}

/// The controller takes changes, and the brokers follow.
fn assert_usable(context: &mut Context) {
    let name = context.topic("failover");
    context.whole().create_topic(&name, &[&[1, 2, 3]], &[]);
}
