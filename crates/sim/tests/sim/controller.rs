//! What holds in every run of a cluster: controllers, brokers, clients.

use std::time::Duration;

use klamm_sim::{BrokerPlan, Flaw, Plan, Report, run};

use super::hold;

#[test]
fn controller_seeds_0_to_249_hold() {
    hold(Plan::controller, 0..250);
}

#[test]
fn controller_seeds_250_to_499_hold() {
    hold(Plan::controller, 250..500);
}

#[test]
fn controller_seeds_500_to_749_hold() {
    hold(Plan::controller, 500..750);
}

#[test]
fn controller_seeds_750_to_999_hold() {
    hold(Plan::controller, 750..1_000);
}

#[test]
fn a_controller_seed_repeats_its_run() {
    for seed in [2, 71, 82] {
        let first = run(Plan::controller(seed)).unwrap();
        let second = run(Plan::controller(seed)).unwrap();
        assert_eq!(format!("{first:?}"), format!("{second:?}"));
    }
}

/// The faults do happen, and the work is done in spite of them.
#[test]
fn the_seeds_are_hard_on_brokers() {
    let mut total = Report::default();
    for seed in 0..60 {
        total.add(run(Plan::controller(seed)).unwrap());
    }
    for (what, count, least) in [
        ("answers", total.answers, 3_000),
        ("brokers fenced", total.fenced, 30),
        ("controlled shutdowns", total.stops, 30),
        ("leaders elected", total.leaders, 300),
        ("unclean elections", total.unclean, 30),
        ("records acknowledged", total.acknowledged, 1_500),
        ("replicas that lost records", total.lost, 20),
        ("crashes", total.crashes, 100),
        ("leaders of the quorum", total.elections, 80),
    ] {
        assert!(count >= least, "{what}: {count}");
    }
}

/// A run of a cluster with some of its settings changed.
fn plan(seed: u64, change: impl Fn(&mut BrokerPlan)) -> Plan {
    let mut plan = Plan::controller(seed);
    if let Some(brokers) = &mut plan.brokers {
        change(brokers);
    }
    plan
}

/// What is done wrong on purpose is found out, each by the checker that is there for it.
#[track_caller]
fn is_found_out(flaw: Flaw, by: &str, change: impl Fn(&mut BrokerPlan)) {
    let mut others = Vec::new();
    for seed in 0..100 {
        let plan = plan(seed, |brokers| {
            brokers.flaw = Some(flaw);
            change(brokers);
        });
        match run(plan) {
            Err(failure) if failure.what.contains(by) => return,
            Err(failure) => others.push(failure.what),
            Ok(_) => {}
        }
    }
    panic!("{flaw:?} is not found out; what failed: {others:#?}");
}

#[test]
fn an_answer_before_its_commit_is_found_out() {
    is_found_out(
        Flaw::AnswersEarly,
        "an answer of what is not committed",
        |_| {},
    );
}

#[test]
fn a_leader_that_is_not_in_sync_is_found_out() {
    is_found_out(
        Flaw::ElectsOutOfSync,
        "a leader outside of the rules",
        |plan| {
            plan.unclean = false;
        },
    );
}

#[test]
fn a_fence_that_leaves_partitions_alone_is_found_out() {
    is_found_out(Flaw::ForgetsFence, "who is not live is in sync", |_| {});
}

#[test]
fn a_controller_that_keeps_what_it_had_decided_is_found_out() {
    is_found_out(Flaw::KeepsDecisions, "the image of", |_| {});
}

#[test]
fn a_lost_disk_that_counts_as_whole_is_found_out() {
    is_found_out(Flaw::TrustsEveryStop, "has no acknowledged", |plan| {
        plan.elr = true;
        plan.metadata_level = 33;
        plan.power = 1_000;
        plan.produce_every = Duration::from_millis(10);
    });
}

#[test]
fn records_that_are_acknowledged_too_early_are_found_out() {
    is_found_out(Flaw::AcknowledgesEarly, "is acknowledged in epoch", |_| {});
}

#[test]
fn a_partition_without_the_leader_that_it_could_have_is_found_out() {
    is_found_out(Flaw::LeavesLeaderless, "no leader although", |_| {});
}

/// Nothing but resets of all connections of brokers that live: nobody is fenced for it.
#[test]
fn a_broker_that_connects_again_is_not_fenced() {
    for seed in 0..10 {
        let mut plan = plan(seed, |brokers| {
            brokers.grace = Some(Duration::from_millis(300));
            brokers.reset_every = Some(Duration::from_millis(400));
            brokers.stop_every = None;
            brokers.directory_every = None;
        });
        plan.lost = 0;
        plan.slow = 0;
        plan.crash_every = None;
        plan.partition_every = None;
        plan.resign_every = None;
        let report = run(plan).unwrap();
        assert_eq!((report.fenced, report.crashes), (0, 0), "seed {seed}");
    }
}
