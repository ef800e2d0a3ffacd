//! A cluster of klamm's brokers, and the Kafka clients that people have.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod clients;
mod each;
mod java;
mod page;
mod records;
mod tools;
mod up;

use std::process::ExitCode;

use klamm_java_peer::Peer;
use klamm_suite::Test;
use tokio::runtime::Runtime;

use up::Up;

/// What the tests share.
struct Context {
    up: Up,
    peer: Peer,
    runtime: Runtime,
}

impl Context {
    fn start() -> Self {
        Self {
            up: Up::start(),
            peer: Peer::start(),
            runtime: Runtime::new().unwrap(),
        }
    }
}

fn main() -> ExitCode {
    let tests = [
        Test("clients::each", each::client as fn(&mut Context)),
        Test("clients::page", page::tells_what_is_tested),
        Test("tools::topics", tools::topics),
        Test("tools::configs", tools::configs),
        Test("tools::moves", tools::moves),
        Test("tools::records", tools::records),
        Test("tools::performance", tools::performance),
        Test("tools::the_cluster", tools::cluster),
        Test("tools::files", tools::files),
    ];
    klamm_suite::run("broker", &tests, Context::start)
}
