//! Elections on real Apache Kafka clusters: what the ElectLeaders API answers on the wire, and what
//! `klamm elect` makes of it.
//!
//! With `KLAMM_CONTROLLER` set to `klamm` the cluster's controller is klamm's, and the tests are those
//! of what it answers: the same rows, which name where klamm differs on purpose.

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

use expect_test::Expect;
use klamm_cluster::{Cluster, Program, Spec};
use klamm_suite::Test;

/// What the tests share: three brokers and one controller, which is never stopped.
struct Context {
    /// Whose code the controller runs.
    program: Program,
    cluster: OnceCell<Cluster>,
    down: RefCell<BTreeSet<u32>>,
}

impl Context {
    fn new(program: Program) -> Self {
        Self {
            program,
            cluster: OnceCell::new(),
            down: RefCell::default(),
        }
    }

    fn is_klamms(&self) -> bool {
        self.program != Program::Apache
    }

    /// Who may be asked: a broker, which passes it on, and the controller itself.
    fn nodes(&self) -> [String; 2] {
        let cluster = self.cluster();
        [cluster.broker(1), cluster.controller(101)]
    }

    /// Holds answers to those of Apache Kafka's controller. klamm's gives the same ones in other words.
    fn agree(&self, expected: &Expect, answers: &str) {
        if !self.is_klamms() {
            return expected.assert_eq(answers);
        }
        let without_texts = |text: &str| -> Vec<String> {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            let answer = |line: &str| line.split_once(" \"").map_or(line, |(a, _)| a).to_owned();
            lines.map(answer).collect()
        };
        assert_eq!(without_texts(answers), without_texts(expected.data()));
    }

    /// The cluster, started when a test first asks for it.
    fn cluster(&self) -> &Cluster {
        self.cluster.get_or_init(|| {
            Spec::separate(1, 3)
                .controllers(self.program.clone())
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

/// Which clusters a test is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    /// Every one: a row of what ElectLeaders answers.
    All,
    /// Where the controller is Apache Kafka's.
    Apache,
    /// Where it is klamm's, which differs.
    Klamm,
}

use For::{All, Apache, Klamm};

const TESTS: &[(For, Test<Context>)] = &[
    (
        All,
        Test("answers::already_preferred", answers::already_preferred),
    ),
    (
        All,
        Test(
            "answers::off_the_preferred_leader",
            answers::off_the_preferred_leader,
        ),
    ),
    (
        All,
        Test(
            "answers::a_null_list_is_every_partition",
            answers::null_list,
        ),
    ),
    (
        All,
        Test(
            "answers::an_empty_list_is_no_partition",
            answers::empty_list,
        ),
    ),
    (
        All,
        Test(
            "answers::a_topic_without_partitions",
            answers::no_partitions,
        ),
    ),
    (
        All,
        Test("answers::unknown_topics_and_partitions", answers::unknown),
    ),
    (
        All,
        Test(
            "answers::the_same_topic_or_partition_twice",
            answers::duplicates,
        ),
    ),
    (
        All,
        Test("answers::an_unknown_election_type", answers::unknown_type),
    ),
    (All, Test("answers::a_timeout_of_nothing", answers::no_time)),
    (
        All,
        Test(
            "answers::unclean_where_there_is_a_leader",
            answers::unclean_with_leader,
        ),
    ),
    (
        All,
        Test(
            "answers::every_broker_and_the_controller_answer",
            answers::every_node,
        ),
    ),
    (
        All,
        Test("refusals::frames_that_end_the_connection", refusals::closed),
    ),
    (
        All,
        Test(
            "refusals::api_versions_out_of_range_is_answered",
            refusals::api_versions,
        ),
    ),
    (
        Apache,
        Test(
            "failover::preferred_leaders_after_a_restart",
            failover::preferred_after_a_restart,
        ),
    ),
    (
        Apache,
        Test("failover::unknown_topics_and_partitions", failover::unknown),
    ),
    (
        Apache,
        Test(
            "controllers::elect_and_serve_no_metadata",
            controllers::at_the_controller,
        ),
    ),
    (
        All,
        Test(
            "failover::the_preferred_replica_is_down",
            failover::preferred_replica_down,
        ),
    ),
    (
        Apache,
        Test(
            "failover::klamm_says_who_is_down",
            failover::preferred_replica_down_said,
        ),
    ),
    (
        All,
        Test(
            "leaderless::no_replica_is_alive",
            leaderless::no_live_replica,
        ),
    ),
    (
        Apache,
        Test(
            "leaderless::klamm_says_that_nobody_is_alive",
            leaderless::no_live_replica_said,
        ),
    ),
    (
        All,
        Test("leaderless::an_unclean_election", leaderless::unclean),
    ),
    (
        Apache,
        Test(
            "leaderless::klamm_elects_uncleanly",
            leaderless::unclean_by_klamm,
        ),
    ),
    (
        Apache,
        Test("connections::no_listener", connections::no_listener),
    ),
    (
        Apache,
        Test("connections::a_server_that_closes", connections::closes),
    ),
    (
        Apache,
        Test(
            "connections::a_server_that_answers_garbage",
            connections::garbage,
        ),
    ),
    (
        Apache,
        Test("connections::a_deadline_that_passes", connections::deadline),
    ),
    (
        Apache,
        Test(
            "limit::ten_thousand_elections_in_a_request",
            limit::ten_thousand,
        ),
    ),
    (Klamm, Test("limit::there_is_none", limit::none)),
    (
        All,
        Test(
            "reassigning::the_preferred_replica_is_the_first_of_the_target",
            reassigning::preferred_is_the_first_of_the_target,
        ),
    ),
    (
        All,
        Test(
            "reassigning::an_election_that_comes_too_late",
            reassigning::too_late,
        ),
    ),
    (
        Apache,
        Test(
            "authorization::a_standby_controller",
            authorization::standby,
        ),
    ),
    (
        All,
        Test(
            "authorization::no_alter_on_the_cluster",
            authorization::refused,
        ),
    ),
];

fn main() -> ExitCode {
    let (program, other) = match std::env::var("KLAMM_CONTROLLER").as_deref() {
        Ok("klamm") => (Program::Klamm(klamm_suite::binary().to_owned()), Apache),
        _ => (Program::Apache, Klamm),
    };
    let tests = TESTS.iter().filter(|(whose, _)| *whose != other);
    let tests: Vec<Test<Context>> = tests.map(|(_, Test(name, run))| Test(name, *run)).collect();
    klamm_suite::run("elections", &tests, || Context::new(program))
}
