use std::time::Duration;

use fastrand::Rng;

mod brokers;

pub use brokers::{BrokerPlan, Flaw};

/// What a run is like. All of it comes from the seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the run is made of.
    pub seed: u64,
    /// How many voters there are, with ids from 1.
    pub voters: usize,
    /// How many observers there are, with ids from 101.
    pub observers: usize,
    /// Whether the voters are in the log (`kraft.version` 1) or in the configuration.
    pub dynamic: bool,
    /// How long faults happen.
    pub faulty: Duration,
    /// How many of a thousand messages are lost.
    pub lost: u32,
    /// How many of a thousand messages come twice.
    pub doubled: u32,
    /// How many of a thousand messages take up to a second.
    pub slow: u32,
    /// The longest time that other messages take.
    pub latency: Duration,
    /// The longest time until appended records are durable.
    pub flush: Duration,
    /// The average time between crashes; none without one.
    pub crash_every: Option<Duration>,
    /// The average time between changes of who can reach whom.
    pub partition_every: Option<Duration>,
    /// The average time between requests to the leader to resign.
    pub resign_every: Option<Duration>,
    /// The average time between snapshots that a node makes; none without one.
    pub snapshot_every: Option<Duration>,
    /// Whether disks lose what they called durable when they crash. No quorum can stand that; it
    /// shows that the checkers see it.
    pub forgetful: bool,
    /// The average time between appends.
    pub append_every: Duration,
    /// What runs on the quorum: controllers on the voters, brokers on the observers, clients.
    pub brokers: Option<BrokerPlan>,
}

impl Plan {
    /// The plan of a seed.
    pub fn new(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let millis = |value| Duration::from_millis(value);
        Self {
            seed,
            voters: [1, 2, 3, 3, 3, 3, 4, 5, 5][rng.usize(..9)],
            observers: rng.usize(..3),
            dynamic: rng.bool(),
            faulty: millis(rng.u64(5_000..20_000)),
            lost: [0, 10, 50, 200][rng.usize(..4)],
            doubled: [0, 20, 100][rng.usize(..3)],
            slow: [0, 5, 50][rng.usize(..3)],
            latency: millis(rng.u64(1..40)),
            flush: millis(rng.u64(1..50)),
            crash_every: often(rng, 800..8_000),
            partition_every: often(rng, 1_000..8_000),
            resign_every: often(rng, 3_000..15_000),
            snapshot_every: often(rng, 300..5_000),
            forgetful: false,
            append_every: millis(rng.u64(5..100)),
            brokers: None,
        }
    }

    /// The plan of a seed for a cluster: controllers, brokers and clients on a quorum.
    pub fn controller(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed ^ 0xc0de);
        let millis = |value| Duration::from_millis(value);
        Self {
            voters: [1, 1, 3][rng.usize(..3)],
            observers: rng.usize(3..=4),
            faulty: millis(rng.u64(3_000..7_000)),
            lost: [0, 0, 5, 30][rng.usize(..4)],
            doubled: 0,
            latency: millis(rng.u64(1..20)),
            crash_every: often(rng, 800..4_000),
            partition_every: often(rng, 1_500..6_000),
            brokers: Some(BrokerPlan::new(rng)),
            ..Self::new(seed)
        }
    }

    /// A run of one seed without faults, for tests of what must happen.
    pub fn calm(seed: u64, voters: usize, observers: usize) -> Self {
        Self {
            voters,
            observers,
            lost: 0,
            doubled: 0,
            slow: 0,
            crash_every: None,
            partition_every: None,
            resign_every: None,
            ..Self::new(seed)
        }
    }
}

fn often(rng: &mut Rng, millis: std::ops::Range<u64>) -> Option<Duration> {
    (rng.u8(..4) > 0).then(|| Duration::from_millis(rng.u64(millis)))
}
