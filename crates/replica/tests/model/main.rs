//! Three replicas and a controller in random schedules: crashes, elections, metadata that is late,
//! answers of the controller that get lost. Elections are clean and disks keep what was written, so
//! no acknowledged record may be lost.

#![allow(clippy::unwrap_used, reason = "it is a test")]

mod controller;
mod world;

use klamm_protocol::Offset;
use proptest::prelude::*;
use world::{BROKERS, World};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A record, with acks=all or acks=1.
    Produce(usize, bool),
    /// A follower fetches up to two records.
    Fetch(usize),
    /// A broker learns the partition's state.
    Tell(usize),
    /// The controller takes the oldest proposal; its answer arrives or not.
    Answer(bool),
    Crash(usize),
    Start(usize),
    /// The controller elects a broker, if it may lead.
    Elect(usize),
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let broker = 0..BROKERS;
    let step = prop_oneof![
        5 => (broker.clone(), any::<bool>()).prop_map(|(b, all)| Step::Produce(b, all)),
        9 => broker.clone().prop_map(Step::Fetch),
        5 => broker.clone().prop_map(Step::Tell),
        4 => prop::bool::weighted(0.8).prop_map(Step::Answer),
        1 => broker.clone().prop_map(Step::Crash),
        2 => broker.clone().prop_map(Step::Start),
        1 => broker.prop_map(Step::Elect),
        1 => Just(Step::Wait),
    ];
    prop::collection::vec(step, 1..250)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn acknowledged_records_stay(steps in steps()) {
        let mut world = World::new();
        for step in steps {
            world.step(step);
        }
        world.settle();
    }
}

/// The answer of the controller was here before the metadata log told the same: what was asked for
/// after it may still be carried out, so it counts.
#[test]
fn a_proposal_outlives_metadata_that_is_known() {
    let mut world = World::new();
    for step in [
        Step::Fetch(1),
        Step::Wait,
        Step::Answer(true),
        Step::Fetch(2),
        Step::Tell(0),
        Step::Produce(0, true),
        Step::Wait,
        Step::Fetch(1),
        Step::Fetch(1),
        Step::Answer(true),
    ] {
        world.step(step);
    }
    assert!(world.acknowledged.is_empty());
    world.settle();
    assert_eq!(world.acknowledged[0].header().base_offset, Offset(0));
}
