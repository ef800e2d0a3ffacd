use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;

use super::*;

fn broker(id: i32, rack: Option<&str>, fenced: bool) -> UsableBroker {
    UsableBroker {
        id: BrokerId(id),
        rack: rack.map(Into::into),
        fenced,
    }
}

fn zero(_: usize) -> usize {
    0
}

fn place<R: Random>(placer: &mut Placer<R>, factor: i32, count: usize) -> Vec<Vec<i32>> {
    (0..count)
        .map(|_| placer.place(factor).unwrap().to_wire().to_vec())
        .collect()
}

#[test]
fn partitions_are_striped_over_racks_and_brokers() {
    let brokers = (0..9).map(|id| broker(id, Some(["a", "b", "c"][id as usize / 3]), false));
    let mut placer = Placer::new(brokers, zero);
    assert_eq!(
        place(&mut placer, 3, 4),
        [vec![0, 3, 6], vec![4, 7, 1], vec![8, 2, 5], vec![0, 3, 6]]
    );
}

#[test]
fn without_racks_brokers_take_turns() {
    let mut placer = Placer::new((1..4).map(|id| broker(id, None, false)), zero);
    assert_eq!(place(&mut placer, 2, 3), [[1, 2], [2, 3], [3, 1]]);
}

#[test]
fn a_fenced_broker_comes_last_and_never_leads() {
    let brokers = [
        broker(1, None, true),
        broker(2, None, false),
        broker(3, None, false),
    ];
    let mut placer = Placer::new(brokers.clone(), zero);
    assert_eq!(place(&mut placer, 3, 2), [[2, 3, 1], [3, 2, 1]]);
    // A rack with none but fenced brokers gives no first replica.
    let racks = [broker(1, Some("a"), true), broker(2, Some("b"), false)];
    let mut placer = Placer::new(racks, zero);
    assert_eq!(place(&mut placer, 2, 2), [[2, 1], [2, 1]]);
}

#[test]
fn what_cannot_be_placed_is_refused() {
    let mut none = Placer::new([], zero);
    assert_eq!(none.place(1), Err(PlacementError::AllFenced));
    let mut placer = Placer::new([broker(1, None, false)], zero);
    assert_eq!(placer.place(0), Err(PlacementError::NotPositive(0)));
    let too_few = PlacementError::TooFewBrokers {
        wanted: 2,
        registered: 1,
    };
    assert_eq!(placer.place(2), Err(too_few));
    let mut fenced = Placer::new([broker(1, None, true)], zero);
    assert_eq!(fenced.place(1), Err(PlacementError::AllFenced));
}

#[test]
fn every_placement_keeps_the_rules() {
    for seed in 0..300 {
        let mut rng = Rng::with_seed(seed);
        let count = rng.i32(1..12);
        let racks = rng.i32(1..5);
        let mut brokers: Vec<UsableBroker> = (0..count)
            .map(|id| broker(id, Some(&format!("rack-{}", id % racks)), rng.u8(..4) == 0))
            .collect();
        brokers[0].fenced = false;
        let by_id: BTreeMap<BrokerId, &UsableBroker> =
            brokers.iter().map(|broker| (broker.id, broker)).collect();
        let factor = rng.i32(1..=count);
        let mut placer = Placer::new(brokers.clone(), |bound| rng.usize(..bound));
        let mut led = BTreeMap::new();
        for _ in 0..60 {
            let replicas = placer.place(factor).unwrap();
            let unique: BTreeSet<_> = replicas.iter().collect();
            assert_eq!(unique.len(), factor as usize, "seed {seed}: {replicas:?}");
            assert!(!by_id[&replicas[0]].fenced, "seed {seed}: {replicas:?}");
            *led.entry(replicas[0]).or_insert(0) += 1;
            // No more racks can be had: with no more replicas than racks, no rack has two.
            let used: BTreeSet<_> = replicas.iter().map(|id| by_id[id].rack.clone()).collect();
            assert_eq!(used.len(), (factor as usize).min(racks.min(count) as usize));
        }
    }
}
