//! Many histories with one pair of controllers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::args::Args;
use crate::history::{self, Tally};
use crate::pair::Pair;
use crate::shrink;

/// After so many differences there is enough to look at.
const MAX_DIFFERENCES: usize = 12;

/// What came of histories.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) tally: Tally,
    pub(crate) passed: usize,
    /// The seeds of those in which something was not the same.
    pub(crate) different: Vec<u64>,
}

/// Runs histories, one after the other, on a cluster with these feature levels.
pub(crate) fn run(levels: &'static [&'static str], seeds: &[u64], args: &Args) -> Report {
    let mut report = Report::default();
    let start = Instant::now();
    let mut pair = Pair::start(levels);
    println!(
        "twins: controllers with {levels:?} after {:.1?}",
        start.elapsed()
    );
    for seed in seeds {
        let mut steps = Vec::new();
        let history = || {
            pair.clean();
            let (count, tally) = (args.operations, &mut report.tally);
            history::random(&mut pair, *seed, count, &mut steps, tally)
        };
        // A controller that gives up ends its history, not the others.
        let ended = catch_unwind(AssertUnwindSafe(history));
        match ended {
            Ok(None) => {
                report.passed += 1;
                continue;
            }
            Ok(Some(difference)) => {
                println!(
                    "\nseed {seed}, operation {}: {}\n  kind: {}",
                    difference.at, difference.text, difference.kind
                );
                if args.shrink {
                    shrink::shrink(&mut pair, &steps, &difference);
                }
            }
            Err(_) => {
                let at = steps.len().saturating_sub(1);
                println!("\nseed {seed}, operation {at}: a controller ended as said above");
                let shown = if args.shrink { steps.len() } else { 1 };
                steps
                    .iter()
                    .rev()
                    .take(shown)
                    .rev()
                    .for_each(|step| println!("  {step:?}"));
                pair = Pair::start(levels);
            }
        }
        report.different.push(*seed);
        if report.different.len() == MAX_DIFFERENCES {
            break;
        }
    }
    report
}
