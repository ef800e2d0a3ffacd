use std::time::{Duration, Instant};

use crate::row::{Figures, Measured, Row, Side};

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Samples a row and side.
    pub(crate) samples: usize,
    /// Length of one sample.
    sample: Duration,
}

impl Plan {
    pub(crate) const FULL: Self = Self {
        samples: 61,
        sample: Duration::from_millis(4),
    };
    pub(crate) const QUICK: Self = Self {
        samples: 5,
        sample: Duration::from_millis(1),
    };
}

/// Measures both sides in turns, so that whatever else the machine does meets both alike.
pub(crate) fn measure(row: Row, plan: Plan) -> Measured {
    let peer = fastest(row.peer, plan);
    let (our_repeats, peer_repeats) = (
        repeats(&*row.ours.run, plan.sample),
        repeats(&*peer.run, plan.sample),
    );
    let mut ours = Vec::with_capacity(plan.samples);
    let mut theirs = Vec::with_capacity(plan.samples);
    for sample in 0..plan.samples {
        // Who goes first changes too.
        if sample % 2 == 0 {
            ours.push(nanoseconds(&*row.ours.run, our_repeats));
            theirs.push(nanoseconds(&*peer.run, peer_repeats));
        } else {
            theirs.push(nanoseconds(&*peer.run, peer_repeats));
            ours.push(nanoseconds(&*row.ours.run, our_repeats));
        }
    }
    let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| theirs / ours);
    Measured {
        message: row.message,
        operation: row.operation,
        version: row.version,
        len: row.len,
        ratio: median(ratios.collect()),
        ours: figures(&row.ours, ours),
        peer: figures(&peer, theirs),
    }
}

/// Runs klamm's side for a while.
pub(crate) fn spin(row: &Row, seconds: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(seconds) {
        (row.ours.run)(10);
    }
}

fn figures(side: &Side, samples: Vec<f64>) -> Figures {
    let ((), allocated) = bench_alloc::measure(|| (side.run)(1));
    Figures {
        how: side.how,
        nanoseconds: median(samples),
        allocated,
    }
}

fn fastest(sides: Vec<Side>, plan: Plan) -> Side {
    let best = |side: &Side| {
        let repeats = repeats(&*side.run, plan.sample);
        let samples = (0..plan.samples.div_ceil(4)).map(|_| nanoseconds(&*side.run, repeats));
        samples.fold(f64::INFINITY, f64::min)
    };
    let timed = sides.into_iter().map(|side| (best(&side), side));
    let least = timed.min_by(|(one, _), (other, _)| one.total_cmp(other));
    least.expect("every row has a peer").1
}

/// How often something runs in a sample. This also warms it up.
fn repeats(run: &dyn Fn(u64), sample: Duration) -> u64 {
    let mut repeats = 1;
    loop {
        let start = Instant::now();
        run(repeats);
        let taken = start.elapsed();
        if taken * 2 >= sample {
            let scale = sample.as_secs_f64() / taken.as_secs_f64();
            return ((repeats as f64 * scale) as u64).max(1);
        }
        repeats *= 2;
    }
}

fn nanoseconds(run: &dyn Fn(u64), repeats: u64) -> f64 {
    let start = Instant::now();
    run(repeats);
    start.elapsed().as_secs_f64() * 1e9 / repeats as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        (values[middle - 1] + values[middle]) / 2.0
    } else {
        values[middle]
    }
}
