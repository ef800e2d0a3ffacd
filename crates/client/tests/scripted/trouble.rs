use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use klamm_client::{BrokerId, ErrorCode, ProducerOptions, ProducerRecord};
use klamm_net::testing::Reply;
use klamm_protocol::messages::produce::ProduceRequest;

use crate::log::{Logs, answer, response};
use crate::producing::producer;
use crate::support::*;

/// Whatever fails for a passing reason, in any order, nothing is lost, doubled or out of order.
#[tokio::test(start_paused = true)]
async fn trouble_of_every_kind_loses_and_doubles_nothing() {
    for seed in 0..30 {
        let cluster = Cluster::new(3);
        cluster.add_topic("a", [1, 2, 3]);
        let logs = Logs::default();
        logs.serve(&cluster);
        let epochs = Arc::new(AtomicUsize::new(1));
        let random = Arc::new(std::sync::Mutex::new(fastrand::Rng::with_seed(seed)));
        for id in 1..=3 {
            let (logs, known) = (logs.clone(), cluster.clone());
            let (epochs, random) = (epochs.clone(), random.clone());
            cluster.broker(id).on(move |_, request: ProduceRequest| {
                let mut random = random.lock().unwrap();
                if random.u8(..) < 60 {
                    let partition = random.usize(0..3);
                    let partition = &mut known.metadata().topics[0].partitions[partition];
                    partition.leader_id = random.i32(1..=3);
                    let epoch = epochs.fetch_add(1, Ordering::Relaxed);
                    partition.leader_epoch = i32::try_from(epoch).unwrap();
                }
                let leads = |partition: i32| {
                    let partition = &known.metadata().topics[0].partitions[partition as usize];
                    BrokerId(partition.leader_id) == BrokerId(id as i32)
                };
                let answer = answer(&request, |partition, records| {
                    if !leads(partition) {
                        return response(ErrorCode::NOT_LEADER_OR_FOLLOWER, -1);
                    }
                    if random.u8(..) < 20 {
                        return response(ErrorCode::NOT_ENOUGH_REPLICAS, -1);
                    }
                    logs.append(partition, records)
                });
                match random.u8(..) {
                    0..20 => Reply::Close,
                    20..30 => Reply::Silence,
                    30..40 => Reply::CloseMidAnswer(answer),
                    _ => Reply::Answer(answer),
                }
            });
        }
        let options = ProducerOptions {
            batch_size: 100,
            delivery_timeout: 10_000 * SECOND,
            ..Default::default()
        };
        let producer = producer(&cluster, options).await;
        let mut deliveries = Vec::new();
        for n in 0..300 {
            let record = ProducerRecord::new("a")
                .partition(n % 3)
                .value(n.to_string());
            deliveries.push(producer.send(record).await.unwrap());
        }
        for delivery in deliveries {
            delivery
                .await
                .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        for partition in 0..3 {
            let expected: Vec<_> = (0..100).map(|n| (3 * n + partition).to_string()).collect();
            assert_eq!(logs.values(partition), expected, "seed {seed}");
        }
    }
}
