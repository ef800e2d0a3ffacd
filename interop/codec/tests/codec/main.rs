//! klamm's codec against Apache Kafka's own, both ways: everything is written by one and read by the
//! other. `KLAMM_FULL=1` tries more random instances, `KLAMM_SEED=n` repeats those of a run.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "it is a test")]

mod batch;
mod explain;
mod messages;
mod records;
mod schemas;
mod smallest;
mod subjects;
mod tables;

use std::process::ExitCode;

use klamm_java_peer::Peer;
use klamm_suite::Test;
use subjects::Subject;

/// What the tests share.
struct Context {
    java: Peer,
    subjects: Vec<Subject>,
    seed: u64,
}

fn main() -> ExitCode {
    klamm_suite::run(
        "codec",
        &[
            Test(
                "tables::api_keys_versions_and_headers_are_java_s",
                tables::apis,
            ),
            Test("tables::error_codes_are_java_s", tables::errors),
            Test(
                "tables::klamm_codes_every_message_that_java_has",
                tables::messages,
            ),
            Test(
                "schemas::those_in_the_jars_say_what_klamm_s_copies_say",
                schemas::equal,
            ),
            Test(
                "smallest::every_message_is_as_long_as_in_java",
                smallest::all,
            ),
            Test(
                "smallest::elect_leaders_frames_have_29_and_28_bytes",
                smallest::elect_leaders,
            ),
            Test(
                "explain::smallest_frames_are_what_java_writes",
                explain::smallest_frames,
            ),
            Test(
                "messages::klamm_reads_and_rewrites_what_java_writes",
                messages::from_java,
            ),
            Test(
                "messages::java_reads_equal_values_from_what_klamm_writes",
                messages::to_java,
            ),
            Test(
                "messages::klamm_and_java_refuse_what_another_version_cannot_carry",
                messages::recoded,
            ),
            Test(
                "records::klamm_reads_batches_that_java_writes",
                records::from_java,
            ),
            Test(
                "records::java_reads_batches_that_klamm_writes",
                records::to_java,
            ),
            Test(
                "records::uncompressed_batches_are_equal_bytes",
                records::equal_bytes,
            ),
            Test(
                "records::klamm_reads_message_sets_that_java_writes",
                records::message_sets,
            ),
            Test(
                "records::control_batches_go_both_ways",
                records::control_batches,
            ),
            Test("records::many_batches_and_a_cut_one", records::many_batches),
        ],
        || {
            let seed = std::env::var("KLAMM_SEED")
                .map_or_else(|_| fastrand::u64(..), |seed| seed.parse().unwrap());
            println!("codec: KLAMM_SEED={seed}");
            Context {
                java: Peer::start(),
                subjects: subjects::all(),
                seed,
            }
        },
    )
}
