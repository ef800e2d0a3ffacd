//! Plans from seeds.

use std::time::Duration;

use fastrand::Rng;
use klamm_client::Compression;

use super::{Action, BROKERS, CONTROLLER, Load, Plan, Sender, Step, Ways, all_links};

/// How long things break.
const FAULTY_MS: std::ops::Range<u64> = 3_500..5_500;

impl Plan {
    /// The plan of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let forgetful = (rng.u8(..4) == 0).then(|| BROKERS[rng.usize(..BROKERS.len())]);
        Self {
            seed,
            properties: properties(rng),
            load: load(rng),
            forgetful,
            steps: steps(rng, forgetful),
        }
    }
}

fn properties(rng: &mut Rng) -> Vec<(&'static str, u64)> {
    let session = rng.u64(1_500..4_000);
    vec![
        ("broker.session.timeout.ms", session),
        ("broker.heartbeat.interval.ms", session / rng.u64(4..8)),
        // 0: brokers are fenced by the session alone, as with Apache Kafka's controller.
        (
            "klamm.broker.connection.loss.grace.ms",
            [0, 100, 300][rng.usize(..3)],
        ),
        ("replica.lag.time.max.ms", rng.u64(400..2_500)),
        ("replica.fetch.wait.max.ms", rng.u64(20..500)),
        ("replica.socket.timeout.ms", rng.u64(500..2_000)),
        ("num.replica.fetchers", rng.u64(1..3)),
        ("controller.socket.timeout.ms", rng.u64(500..2_000)),
        ("controller.quorum.request.timeout.ms", rng.u64(500..2_000)),
        ("controller.quorum.fetch.timeout.ms", rng.u64(500..2_000)),
        ("request.timeout.ms", rng.u64(500..3_000)),
        (
            "replica.high.watermark.checkpoint.interval.ms",
            rng.u64(50..5_000),
        ),
        (
            "log.flush.offset.checkpoint.interval.ms",
            rng.u64(50..5_000),
        ),
        // Few records make a snapshot of the metadata.
        (
            "metadata.log.max.record.bytes.between.snapshots",
            rng.u64(1_000..50_000),
        ),
    ]
}

fn load(rng: &mut Rng) -> Load {
    let producers = rng.usize(1..=3);
    Load {
        partitions: rng.usize(3..=6),
        segment_bytes: rng.u64(8..200) << 10,
        producers: (0..producers).map(|_| sender(rng)).collect(),
    }
}

fn sender(rng: &mut Rng) -> Sender {
    let millis = Duration::from_millis;
    Sender {
        rate: rng.u32(50..400),
        value_bytes: [60, 300, 3_000][rng.usize(..3)],
        linger: millis(rng.u64(..15)),
        batch_size: [200, 2_000, 16_384][rng.usize(..3)],
        max_in_flight: rng.usize(1..=5),
        request_timeout: millis(rng.u64(400..3_000)),
        // Some give up records while things are broken.
        delivery_timeout: match rng.u8(..3) {
            0 => millis(rng.u64(1_500..4_000)),
            _ => Duration::from_secs(600),
        },
        compression: Compression::ALL[rng.usize(..Compression::ALL.len())],
    }
}

fn steps(rng: &mut Rng, forgetful: Option<u32>) -> Vec<Step> {
    let end = rng.u64(FAULTY_MS);
    // How much is broken at a time at most, and how often something happens.
    let most = rng.usize(1..=4);
    let pause = rng.u64(60..500);
    let mut steps = Vec::new();
    let mut broken: Vec<Action> = Vec::new();
    let mut at = rng.u64(100..500);
    while at < end {
        let mends = !broken.is_empty() && (broken.len() >= most || rng.bool());
        let action = match () {
            () if rng.u8(..8) == 0 => Action::Elect,
            () if mends => mend(rng, &broken),
            () => break_something(rng, &broken, forgetful),
        };
        action.note(&mut broken);
        steps.push(Step {
            at: Duration::from_millis(at),
            action,
        });
        at += rng.u64(10..2 * pause);
    }
    while !broken.is_empty() {
        let action = mend(rng, &broken);
        action.note(&mut broken);
        steps.push(Step {
            at: Duration::from_millis(at),
            action,
        });
        at += rng.u64(..100);
    }
    steps
}

fn mend(rng: &mut Rng, broken: &[Action]) -> Action {
    let action = broken[rng.usize(..broken.len())];
    action
        .undone_by()
        .expect("it is in the list of what is broken")
}

/// Something that is not broken yet.
fn break_something(rng: &mut Rng, broken: &[Action], forgetful: Option<u32>) -> Action {
    loop {
        let node = match rng.u8(..6) {
            0 => CONTROLLER,
            at => BROKERS[usize::from(at) % BROKERS.len()],
        };
        let action = match rng.u8(..10) {
            0..=2 if node != CONTROLLER => Action::Kill(forgetful.unwrap_or(node)),
            0..=2 => Action::Kill(node),
            3..=4 => Action::Pause(node),
            5..=7 => Action::Cut(ways(rng)),
            _ => Action::Stall(ways(rng)),
        };
        let is_possible = match action {
            Action::Kill(node) => !broken.contains(&Action::Kill(node)),
            Action::Pause(node) => {
                let down = [Action::Kill(node), Action::Pause(node)];
                !down.iter().any(|action| broken.contains(action))
            }
            // Healing ways heals all that is wrong with the same.
            action => !broken
                .iter()
                .any(|other| other.undone_by() == action.undone_by()),
        };
        if is_possible {
            return action;
        }
    }
}

fn ways(rng: &mut Rng) -> Ways {
    let broker = BROKERS[rng.usize(..BROKERS.len())];
    match rng.u8(..10) {
        0..=3 => {
            let links: Vec<_> = all_links().collect();
            let (from, to) = links[rng.usize(..links.len())];
            Ways::One { from, to }
        }
        4 => Ways::To(CONTROLLER),
        5 => Ways::To(broker),
        6 => Ways::From(broker),
        _ => Ways::Around(broker),
    }
}
