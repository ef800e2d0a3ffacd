//! A controller and three Apache Kafka brokers. The controller is klamm's; with `KLAMM_CONTROLLER`
//! set to `apache` it is Apache Kafka's, which is how the suite itself is checked: what holds for
//! Apache's controller has to hold for klamm's.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod acls;
mod brokers;
mod changes;
mod clients;
mod durability;
mod elections;
mod failover;
mod files;
mod format;
mod gauges;
mod klamm;
mod log;
mod moves;
mod oldest;
mod reassignments;
mod takeover;
mod tokens;
mod tools;
mod voters;

use std::process::ExitCode;

use klamm_cluster::{Cluster, Program, Role, Spec};
use klamm_java_peer::json;
use klamm_suite::Test;

/// The only controller; brokers are 1, 2 and 3.
const CONTROLLER: u32 = 101;

/// How long a broker is silent before it is fenced, unless a test says otherwise: longer than one that
/// is alive is silent on a busy machine. That long Apache Kafka's controller waits when one is killed.
const SESSION_MS: &str = "12000";

/// The topic that a client produces to while the other tests run.
const ALL_ALONG: &str = "all-along";

/// What the tests share.
struct Context {
    cluster: Cluster,
    /// Whose code the controller runs.
    program: Program,
    /// How many topics the tests have made, for their names.
    topics: u32,
}

impl Context {
    fn start() -> Self {
        let program = program();
        let cluster = Spec::separate(1, 3)
            .spare_broker()
            .dynamic_quorum()
            .controllers(program.clone())
            .proxied_controller()
            .sasl_listener()
            .metrics()
            .property("authorizer.class.name", AUTHORIZER)
            .property("super.users", "User:ANONYMOUS")
            .property("broker.session.timeout.ms", SESSION_MS)
            .property("broker.heartbeat.interval.ms", "2000")
            .property("default.replication.factor", "3")
            .property("min.insync.replicas", "2")
            .property("offsets.topic.replication.factor", "3")
            .property("transaction.state.log.replication.factor", "3")
            .property("transaction.state.log.min.isr", "2")
            .property("unclean.leader.election.interval.ms", "1000")
            .property("log.segment.delete.delay.ms", "1000")
            .property("log.initial.task.delay.ms", "1000")
            // Who is throttled stays so, however long a test takes on a slow machine.
            .property("replication.quota.window.size.seconds", "3600")
            .role_property(
                Role::Controller,
                "metadata.log.max.record.bytes.between.snapshots",
                "20000",
            )
            .start();
        let context = Self {
            cluster,
            program,
            topics: 0,
        };
        let replicas: [&[i32]; 3] = [&[1, 2, 3], &[2, 3, 1], &[3, 1, 2]];
        context.cluster.create_topic(ALL_ALONG, &replicas, &[]);
        let run = json!({ "topic": ALL_ALONG, "pause_ms": 10 });
        context.cluster.admin("produce_start", run);
        context
    }

    /// Ends the cluster, and starts another in its place.
    fn replace(&mut self, spec: Spec) {
        self.cluster.end();
        self.cluster = spec.controllers(self.program.clone()).start();
    }

    /// The cluster with all its nodes in service.
    fn whole(&self) -> &Cluster {
        self.cluster.wait_for_brokers(&[1, 2, 3]);
        &self.cluster
    }

    /// Waits until all replicas of topics are in sync.
    fn in_sync(&self, topics: &[&str]) {
        self.whole();
        for topic in topics {
            self.cluster
                .wait_for_topic(topic, "full ISRs", |partitions| {
                    partitions.iter().all(|p| p.isr.len() == p.replicas.len())
                });
        }
    }

    /// Ends a client that produces to a topic: what was acknowledged is there, once and in order.
    fn assert_nothing_lost(&self, topic: &str) {
        let outcome = self
            .cluster
            .admin("produce_stop", json!({ "topic": topic }));
        for what in ["missing", "twice", "out_of_order"] {
            assert_eq!(outcome[what], 0, "{topic}: {outcome}");
        }
        assert!(
            outcome["acknowledged"].as_u64() > Some(0),
            "{topic}: {outcome}"
        );
        assert_eq!(
            outcome["read"], outcome["acknowledged"],
            "{topic}: {outcome}"
        );
    }

    /// A name that no topic has yet.
    fn topic(&mut self, name: &str) -> String {
        self.topics += 1;
        format!("{name}-{}", self.topics)
    }

    /// Starts the controller again, with the code that it has in this run and the suite's settings.
    fn restart_controller(&self) {
        self.cluster.kill(CONTROLLER);
        self.start_controller_with(SESSION_MS, GRACE_MS);
    }

    /// Kills the controller, and starts it with another session timeout and another grace for brokers
    /// that have lost their connections.
    fn restart_controller_with(&self, session_ms: &str, grace_ms: &str) {
        self.cluster.kill(CONTROLLER);
        self.start_controller_with(session_ms, grace_ms);
    }

    fn start_controller_with(&self, session_ms: &str, grace_ms: &str) {
        let set = |key, value| self.cluster.set_property(CONTROLLER, key, value);
        set("broker.session.timeout.ms", session_ms);
        set("klamm.broker.connection.loss.grace.ms", grace_ms);
        self.cluster.restart_as(CONTROLLER, self.program.clone());
    }
}

const AUTHORIZER: &str = "org.apache.kafka.metadata.authorizer.StandardAuthorizer";
/// klamm's default.
const GRACE_MS: &str = "300";

/// Whose code the controller runs.
fn program() -> Program {
    match std::env::var("KLAMM_CONTROLLER").as_deref() {
        Ok("apache") => Program::Apache,
        _ => Program::Klamm(klamm_suite::binary().to_owned()),
    }
}

fn main() -> ExitCode {
    let mut tests = vec![
        Test("format::records_are_apaches", format::records),
        Test(
            "format::tools_read_what_klamm_writes",
            format::read_by_tools,
        ),
        Test("brokers::are_in_service", brokers::in_service),
        Test("brokers::follow_the_quorum", brokers::quorum),
        Test("changes::of_topics", changes::topics),
        Test("changes::of_configs", changes::configs),
        Test("changes::of_features", changes::features),
        Test("acls::through_brokers", acls::through_brokers),
        Test("reassignments::executed", reassignments::executed),
        Test("reassignments::cancelled", reassignments::cancelled),
        Test("elections::by_every_tool", elections::by_every_tool),
        Test("elections::while_a_client_produces", elections::producing),
        Test("clients::of_transactions", clients::transactions),
        Test("files::are_read_by_tools", files::read_by_tools),
        Test("files::snapshots_are_read_by_tools", files::snapshots),
        Test("gauges::as_told", gauges::as_told),
        Test("durability::of_changes", durability::killed),
        Test("durability::of_topics", durability::killed_after_topics),
        Test("moves::controlled_shutdown", moves::controlled_shutdown),
    ];
    if program() != Program::Apache {
        // Apache Kafka's controller always waits for the session: these are klamm's own rules.
        tests.extend([
            Test("failover::connections_cut", failover::connections_cut),
            Test("failover::controller_restart", failover::controller_restart),
            Test("failover::killed_and_back", failover::killed_and_back),
            Test("failover::next_run_at_once", failover::next_run),
            Test(
                "failover::unclean_after_the_session",
                failover::unclean_after_the_session,
            ),
        ]);
    }
    tests.extend([
        Test("takeover::both_ways", takeover::both_ways),
        Test("moves::fourth_broker", moves::fourth_broker),
        Test("clients::lost_nothing_all_along", clients::all_along),
        // The last: they have other clusters.
        Test("voters::in_the_log", voters::dynamic),
        Test("voters::in_the_configuration", voters::configured),
        Test("tokens::who_may_have_them", tokens::allowed),
        Test("oldest::smoke", oldest::smoke),
    ]);
    klamm_suite::run("quorum", &tests, Context::start)
}
