use std::time::Duration;

use fastrand::Rng;

use super::often;

/// What the brokers and clients of a run are like.
#[derive(Clone, Debug)]
pub struct BrokerPlan {
    /// The level of `metadata.version`.
    pub metadata_level: i16,
    /// Whether partitions have eligible leader replicas.
    pub elr: bool,
    /// `min.insync.replicas` of the cluster.
    pub min_isr: usize,
    /// `unclean.leader.election.enable` of the cluster.
    pub unclean: bool,
    /// `broker.session.timeout.ms`.
    pub session: Duration,
    /// `broker.heartbeat.interval.ms`.
    pub heartbeat: Duration,
    /// `klamm.broker.connection.loss.grace.ms`; none where brokers are fenced by their session alone.
    pub grace: Option<Duration>,
    /// `replica.lag.time.max.ms`.
    pub lag: Duration,
    /// `unclean.leader.election.interval.ms`.
    pub unclean_every: Duration,
    /// `leader.imbalance.check.interval.seconds`; none without automatic preferred elections.
    pub rebalance_every: Option<Duration>,
    /// The average time between requests of the client.
    pub request_every: Duration,
    /// The average time between records of the producer.
    pub produce_every: Duration,
    /// The average time between resets of all connections of a broker.
    pub reset_every: Option<Duration>,
    /// The average time between controlled shutdowns.
    pub stop_every: Option<Duration>,
    /// The average time between failures of a log directory.
    pub directory_every: Option<Duration>,
    /// How many of a thousand crashes of brokers lose what was not flushed.
    pub power: u32,
    /// What is done wrong on purpose: it shows that the checkers see it.
    pub flaw: Option<Flaw>,
}

/// Something that a node does wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The controller answers before what it answers is committed.
    AnswersEarly,
    /// The controller elects a replica that is not in sync.
    ElectsOutOfSync,
    /// The controller fences a broker, and leaves its partitions as they are.
    ForgetsFence,
    /// A controller that does not lead any more keeps what it had decided.
    KeepsDecisions,
    /// The controller takes every stop of a broker for a clean one.
    TrustsEveryStop,
    /// A leader acknowledges records before its followers have them.
    AcknowledgesEarly,
    /// The controller does not elect leaders where there may be one again.
    LeavesLeaderless,
}

impl BrokerPlan {
    pub(super) fn new(rng: &mut Rng) -> Self {
        let millis = |value| Duration::from_millis(value);
        let elr = rng.u8(..4) > 0;
        Self {
            // 3.9, where eligible leader replicas are not yet, or the latest.
            metadata_level: if elr || rng.bool() { 33 } else { 21 },
            elr,
            min_isr: rng.usize(1..=2),
            unclean: rng.u8(..6) == 0,
            session: millis(rng.u64(1_500..4_000)),
            heartbeat: millis(rng.u64(200..700)),
            grace: (rng.u8(..4) > 0).then(|| millis(300)),
            lag: millis(rng.u64(700..2_000)),
            unclean_every: millis(rng.u64(500..3_000)),
            rebalance_every: often(rng, 1_000..5_000),
            request_every: millis(rng.u64(100..400)),
            produce_every: millis(rng.u64(20..100)),
            reset_every: often(rng, 1_000..5_000),
            stop_every: often(rng, 1_500..6_000),
            directory_every: (rng.u8(..3) == 0).then(|| millis(rng.u64(2_000..6_000))),
            power: [0, 300, 1_000][rng.usize(..3)],
            flaw: None,
        }
    }
}
