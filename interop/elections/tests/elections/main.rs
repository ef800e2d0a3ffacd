//! Elections on real Apache Kafka clusters: what the ElectLeaders API answers on the wire, and what
//! `klamm elect` makes of it.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it is a test")]

mod answers;
mod authorization;
mod connections;
mod controllers;
mod failover;
mod klamm;
mod leaderless;
mod limit;
mod phantoms;
mod reassigning;
mod refusals;
mod seen;
mod wire;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::process::ExitCode;

use klamm_cluster::{Cluster, Spec};
use klamm_suite::Test;

/// What the tests share: three brokers and one controller, which is never stopped.
#[derive(Default)]
struct Context {
    cluster: OnceCell<Cluster>,
    down: RefCell<BTreeSet<u32>>,
}

impl Context {
    /// The cluster, started when a test first asks for it.
    fn cluster(&self) -> &Cluster {
        self.cluster.get_or_init(|| {
            Spec::separate(1, 3)
                .property("broker.session.timeout.ms", "6000")
                .property("broker.heartbeat.interval.ms", "500")
                .start()
        })
    }

    /// The cluster with exactly these brokers down: the others are in service and, if all are, in sync.
    fn with_down(&self, down: &[u32]) -> &Cluster {
        let cluster = self.cluster();
        let wanted: BTreeSet<u32> = down.iter().copied().collect();
        let mut now = self.down.borrow_mut();
        wanted.difference(&now).for_each(|&id| cluster.kill(id));
        now.difference(&wanted).for_each(|&id| cluster.restart(id));
        let up: Vec<u32> = cluster
            .broker_ids()
            .into_iter()
            .filter(|id| !wanted.contains(id))
            .collect();
        cluster.wait_for_brokers(&up);
        if wanted.is_empty() && !now.is_empty() {
            cluster.wait("every replica to be in sync", || {
                cluster
                    .all_partitions()
                    .iter()
                    .all(|p| p.isr.len() == p.replicas.len())
            });
        }
        *now = wanted;
        cluster
    }

    /// Creates a topic, unless a test before this one did.
    fn topic(&self, topic: &str, replicas: &[&[i32]]) {
        let cluster = self.cluster();
        if cluster
            .all_partitions()
            .iter()
            .all(|partition| partition.topic != topic)
        {
            cluster.create_topic(topic, replicas, &[]);
        }
    }
}

fn main() -> ExitCode {
    klamm_suite::run(
        "elections",
        &[
            Test("answers::already_preferred", answers::already_preferred),
            Test(
                "answers::off_the_preferred_leader",
                answers::off_the_preferred_leader,
            ),
            Test(
                "answers::a_null_list_is_every_partition",
                answers::null_list,
            ),
            Test(
                "answers::an_empty_list_is_no_partition",
                answers::empty_list,
            ),
            Test(
                "answers::a_topic_without_partitions",
                answers::no_partitions,
            ),
            Test("answers::unknown_topics_and_partitions", answers::unknown),
            Test(
                "answers::the_same_topic_or_partition_twice",
                answers::duplicates,
            ),
            Test("answers::an_unknown_election_type", answers::unknown_type),
            Test("answers::a_timeout_of_nothing", answers::no_time),
            Test(
                "answers::unclean_where_there_is_a_leader",
                answers::unclean_with_leader,
            ),
            Test(
                "answers::every_broker_and_the_controller_answer",
                answers::every_node,
            ),
            Test("refusals::frames_that_end_the_connection", refusals::closed),
            Test(
                "refusals::api_versions_out_of_range_is_answered",
                refusals::api_versions,
            ),
            Test(
                "failover::preferred_leaders_after_a_restart",
                failover::preferred_after_a_restart,
            ),
            Test("failover::unknown_topics_and_partitions", failover::unknown),
            Test(
                "controllers::elect_and_serve_no_metadata",
                controllers::at_the_controller,
            ),
            Test(
                "failover::the_preferred_replica_is_down",
                failover::preferred_replica_down,
            ),
            Test(
                "leaderless::no_replica_is_alive",
                leaderless::no_live_replica,
            ),
            Test("leaderless::an_unclean_election", leaderless::unclean),
            Test("connections::no_listener", connections::no_listener),
            Test("connections::a_server_that_closes", connections::closes),
            Test(
                "connections::a_server_that_answers_garbage",
                connections::garbage,
            ),
            Test("connections::a_deadline_that_passes", connections::deadline),
            Test(
                "limit::ten_thousand_elections_in_a_request",
                limit::ten_thousand,
            ),
            Test(
                "reassigning::the_preferred_replica_is_the_first_of_the_target",
                reassigning::preferred_is_the_first_of_the_target,
            ),
            Test(
                "reassigning::an_election_that_comes_too_late",
                reassigning::too_late,
            ),
            Test(
                "authorization::a_standby_controller",
                authorization::standby,
            ),
            Test(
                "authorization::no_alter_on_the_cluster",
                authorization::refused,
            ),
        ],
        Context::default,
    )
}
