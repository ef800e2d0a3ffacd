//! A controller and three Apache Kafka brokers. The controller is klamm's; with `KLAMM_CONTROLLER`
//! set to `apache` it is Apache Kafka's, which is how the suite itself is checked: what holds for
//! Apache's controller has to hold for klamm's.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod brokers;
mod changes;
mod durability;
mod elections;
mod files;
mod format;
mod klamm;
mod takeover;

use std::process::ExitCode;

use klamm_cluster::{Cluster, Program, Spec};
use klamm_suite::Test;

/// The only controller; brokers are 1, 2 and 3.
const CONTROLLER: u32 = 101;

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
        let program = match std::env::var("KLAMM_CONTROLLER").as_deref() {
            Ok("apache") => Program::Apache,
            _ => Program::Klamm(klamm_suite::binary().to_owned()),
        };
        let cluster = Spec::separate(1, 3)
            .dynamic_quorum()
            .controllers(program.clone())
            // Apache Kafka's controller waits that long before it fences a broker.
            .property("broker.session.timeout.ms", "4000")
            .property("broker.heartbeat.interval.ms", "1000")
            .property("default.replication.factor", "3")
            .property("min.insync.replicas", "2")
            .start();
        Self {
            cluster,
            program,
            topics: 0,
        }
    }

    /// The cluster with all its nodes in service.
    fn whole(&self) -> &Cluster {
        self.cluster.wait_for_brokers(&[1, 2, 3]);
        &self.cluster
    }

    /// A name that no topic has yet.
    fn topic(&mut self, name: &str) -> String {
        self.topics += 1;
        format!("{name}-{}", self.topics)
    }

    /// Starts the controller again, with the code that it has in this run.
    fn restart_controller(&self) {
        self.cluster.restart_as(CONTROLLER, self.program.clone());
    }
}

fn main() -> ExitCode {
    klamm_suite::run(
        "quorum",
        &[
            Test("format::records_are_apaches", format::records),
            Test(
                "format::tools_read_what_klamm_writes",
                format::read_by_tools,
            ),
            Test("brokers::are_in_service", brokers::in_service),
            Test("brokers::follow_the_quorum", brokers::quorum),
            Test("changes::of_topics", changes::topics),
            Test("changes::of_configs", changes::configs),
            Test("elections::by_every_tool", elections::by_every_tool),
            Test("elections::while_a_client_produces", elections::producing),
            Test("files::are_read_by_tools", files::read_by_tools),
            Test("durability::of_changes", durability::killed),
            Test("durability::of_topics", durability::killed_after_topics),
            Test("takeover::both_ways", takeover::both_ways),
        ],
        Context::start,
    )
}
