//! klamm's decisions against those of Apache Kafka's own controller classes. `KLAMM_FULL=1` tries more
//! random cases, `KLAMM_SEED=n` repeats those of a run.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it is a test")]

mod changes;
mod descriptions;
mod histories;
mod singles;

use std::process::ExitCode;

use klamm_java_peer::Peer;
use klamm_suite::Test;

/// What the tests share.
struct Context {
    java: Peer,
    seed: u64,
}

fn main() -> ExitCode {
    klamm_suite::run(
        "controller",
        &[
            Test(
                "changes::partitions_change_as_in_apache_kafka",
                changes::decided_alike,
            ),
            Test(
                "histories::configs_and_features_change_as_in_apache_kafka",
                histories::decided_alike,
            ),
            Test(
                "singles::acls_quotas_and_credentials_change_as_in_apache_kafka",
                singles::decided_alike,
            ),
            Test(
                "descriptions::configs_are_told_as_in_apache_kafka",
                descriptions::told_alike,
            ),
        ],
        || {
            let seed = std::env::var("KLAMM_SEED")
                .map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
            println!("controller: KLAMM_SEED={seed}");
            Context {
                java: Peer::start(),
                seed,
            }
        },
    )
}
