//! What holds in every run. `KLAMM_FULL=1` runs ten times as many seeds.

mod controller;

use std::ops::Range;
use std::time::Duration;

use klamm_sim::{Plan, run};

/// Runs a share of the seeds; each test has its own, so that they run side by side.
fn hold(plan: fn(u64) -> Plan, share: Range<u64>) {
    let factor = if std::env::var_os("KLAMM_FULL").is_some() {
        10
    } else {
        1
    };
    for seed in share.start * factor..share.end * factor {
        if let Err(failure) = run(plan(seed)) {
            panic!("{failure}");
        }
    }
}

#[test]
fn seeds_0_to_249_hold() {
    hold(Plan::new, 0..250);
}

#[test]
fn seeds_250_to_499_hold() {
    hold(Plan::new, 250..500);
}

#[test]
fn seeds_500_to_749_hold() {
    hold(Plan::new, 500..750);
}

#[test]
fn seeds_750_to_999_hold() {
    hold(Plan::new, 750..1_000);
}

/// A run is a function of its plan.
#[test]
fn a_seed_repeats_its_run() {
    for seed in [3, 14, 159] {
        let first = run(Plan::new(seed)).unwrap();
        let second = run(Plan::new(seed)).unwrap();
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
    }
}

/// Without faults, one election is enough.
#[test]
fn a_calm_quorum_keeps_its_first_leader() {
    for voters in 1..=5 {
        for seed in 0..5 {
            let report = run(Plan::calm(seed, voters, 2)).unwrap();
            // Two may begin an election at one time; then there is another.
            assert!(
                report.elections <= 2,
                "{voters} voters, seed {seed}: {report:?}"
            );
            assert!(report.committed.0 > 0);
        }
    }
}

/// The faults do happen: a simulation that never cuts a log or elects anew shows little.
#[test]
fn the_seeds_are_hard_on_the_cluster() {
    let reports: Vec<_> = (0..40).map(|seed| run(Plan::new(seed)).unwrap()).collect();
    assert!(reports.iter().map(|report| report.elections).sum::<u64>() > 80);
    assert!(reports.iter().map(|report| report.crashes).sum::<u64>() > 80);
    assert!(reports.iter().map(|report| report.truncations).sum::<u64>() > 5);
    assert!(reports.iter().map(|report| report.installs).sum::<u64>() > 5);
}

/// A disk that lies about being durable is found out: the checkers do not take the machine's word.
#[test]
fn a_disk_that_forgets_is_found_out() {
    let found = (0..100).any(|seed| {
        let plan = Plan {
            forgetful: true,
            crash_every: Some(Duration::from_millis(800)),
            ..Plan::new(seed)
        };
        run(plan).is_err()
    });
    assert!(found);
}
