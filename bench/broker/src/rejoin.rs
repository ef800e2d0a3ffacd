//! A broker that was killed starts again, among others that went on.

use std::path::Path;
use std::time::{Duration, Instant};

use bench_common::Client;
use klamm_cluster::{KLAMM_LEVELS, Program, Spec};
use klamm_net::ServerAddress;
use tokio::runtime::Runtime;

use crate::cluster::HEAP_MIB;
use crate::topics::{self, REPLICAS};

const BROKERS: [u32; 3] = [1, 2, 3];
/// The one that is killed.
const KILLED: u32 = 3;
const TOPIC: &str = "rejoined";
/// How long it takes, each time, from the start of its process until every ISR is whole: a controller
/// and three brokers, each a process of its own, and partitions that nobody writes to.
pub(crate) fn measure(
    runtime: &Runtime,
    klamm: Option<&Path>,
    partitions: usize,
    samples: usize,
) -> Result<Vec<Duration>, String> {
    let mut spec = Spec::separate(1, 3)
        .dynamic_quorum()
        .heap_mib(HEAP_MIB)
        .as_scripts_do()
        .format_args(KLAMM_LEVELS);
    if let Some(binary) = klamm {
        let program = Program::Klamm(binary.to_owned());
        spec = spec.controllers(program.clone());
        for id in BROKERS {
            spec = spec.broker(id, program.clone());
        }
    }
    let cluster = spec.start();
    let server = ServerAddress::parse_list(&cluster.broker(BROKERS[0]));
    let server = server.map_err(|error| error.to_string())?;
    let taken = runtime.block_on(async {
        let client = Client::connect(&server[0]).await?;
        topics::create(&client, TOPIC, partitions).await?;
        let mut taken = Vec::new();
        for _ in 0..samples {
            cluster.kill(KILLED);
            topics::in_sync(&client, TOPIC, partitions, REPLICAS - 1).await?;
            let start = Instant::now();
            cluster.restart(KILLED);
            topics::in_sync(&client, TOPIC, partitions, REPLICAS).await?;
            taken.push(start.elapsed());
        }
        Ok(taken)
    });
    taken.map_err(|error: String| format!("{error}\n{}", cluster.tails()))
}
