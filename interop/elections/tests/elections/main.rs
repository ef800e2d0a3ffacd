//! Elections on real Apache Kafka clusters: what the ElectLeaders API answers on the wire, and what
//! `klamm elect` makes of it.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod answers;
mod authorization;
mod limit;
mod refusals;
mod seen;
mod wire;

use std::cell::OnceCell;
use std::process::ExitCode;

use klamm_cluster::{Cluster, Spec};

/// What the tests share: three brokers and one controller, which is never stopped.
struct Context {
    cluster: OnceCell<Cluster>,
}

impl Context {
    fn cluster(&self) -> &Cluster {
        self.cluster.get_or_init(|| {
            Spec::separate(1, 3)
                .property("broker.session.timeout.ms", "6000")
                .property("broker.heartbeat.interval.ms", "500")
                .start()
        })
    }
}

fn main() -> ExitCode {
    klamm_suite::run(
        "elections",
        &[
            ("answers::already_preferred", answers::already_preferred),
            (
                "answers::off_the_preferred_leader",
                answers::off_the_preferred_leader,
            ),
            (
                "answers::a_null_list_is_every_partition",
                answers::null_list,
            ),
            (
                "answers::an_empty_list_is_no_partition",
                answers::empty_list,
            ),
            (
                "answers::a_topic_without_partitions",
                answers::no_partitions,
            ),
            ("answers::unknown_topics_and_partitions", answers::unknown),
            (
                "answers::the_same_topic_or_partition_twice",
                answers::duplicates,
            ),
            ("answers::an_unknown_election_type", answers::unknown_type),
            ("answers::a_timeout_of_nothing", answers::no_time),
            (
                "answers::unclean_where_there_is_a_leader",
                answers::unclean_with_leader,
            ),
            (
                "answers::every_broker_and_the_controller_answer",
                answers::every_node,
            ),
            ("refusals::frames_that_end_the_connection", refusals::closed),
            (
                "refusals::api_versions_out_of_range_is_answered",
                refusals::api_versions,
            ),
            (
                "limit::ten_thousand_elections_in_a_request",
                limit::ten_thousand,
            ),
            (
                "authorization::a_standby_controller",
                authorization::standby,
            ),
            (
                "authorization::no_alter_on_the_cluster",
                authorization::refused,
            ),
        ],
        || Context {
            cluster: OnceCell::new(),
        },
    )
}
