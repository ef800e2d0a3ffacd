//! Every small state of a partition and every smaller or larger ISR, against a plain model of the
//! rules: what is in sync, eligible and last known afterwards, and which epochs rise.

use std::collections::BTreeSet;

use super::*;

const KINDS: [ElectionKind; 3] = [
    ElectionKind::Online,
    ElectionKind::Preferred,
    ElectionKind::Unclean,
];

fn subsets(of: &[i32]) -> Vec<Vec<i32>> {
    let pick = |bits: usize| {
        let chosen = of.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1);
        chosen.map(|(_, broker)| *broker).collect()
    };
    (0..1 << of.len()).map(pick).collect()
}

fn set(replicas: &Replicas) -> BTreeSet<i32> {
    replicas.iter().map(|broker| broker.0).collect()
}

struct Case<'a> {
    old: &'a PartitionRecord,
    isr: &'a [i32],
    live: &'a [i32],
    rules: ChangeRules,
    shutdown: Option<i32>,
}

/// What the partition is to be: leader, ISR, ELR, last known ELR, whether it recovers.
#[derive(Debug, PartialEq)]
struct State(i32, BTreeSet<i32>, BTreeSet<i32>, BTreeSet<i32>, bool);

impl State {
    fn of(partition: &Partition) -> Self {
        Self(
            partition.leader().0,
            set(partition.isr()),
            set(partition.elr()),
            set(partition.last_known_elr()),
            partition.recovery() == LeaderRecoveryState::Recovering,
        )
    }
}

/// The state after the change, and whether a leader may have lost records on the way.
fn model(case: &Case<'_>, old: &State) -> (State, bool) {
    let State(old_leader, old_isr, old_elr, old_last, _) = old;
    let elr_enabled = case.rules.elr_enabled;
    let isr: BTreeSet<i32> = case.isr.iter().copied().collect();
    let mut elr: BTreeSet<i32> = match elr_enabled {
        false => old_elr.clone(),
        true if isr.len() >= case.rules.min_isr => BTreeSet::new(),
        true => old_elr.union(old_isr).copied().collect(),
    };
    if elr_enabled {
        elr.retain(|broker| !isr.contains(broker) && case.shutdown != Some(*broker));
    }
    let valid = |broker: &i32| {
        case.live.contains(broker) && if isr.is_empty() { &elr } else { &isr }.contains(broker)
    };
    let mut order: Vec<i32> = vec![*old_leader];
    order.extend(&case.old.replicas);
    if case.rules.election == ElectionKind::Preferred {
        order.insert(0, case.old.replicas[0]);
    }
    let last_known = old_last.iter().filter(|last| {
        elr_enabled
            && old_last.len() == 1
            && isr.is_empty()
            && elr.is_empty()
            && case.live.contains(last)
    });
    let uncleanly = case.old.replicas.iter().filter(|broker| {
        case.rules.election == ElectionKind::Unclean && case.live.contains(broker)
    });
    let clean = order.iter().find(|broker| valid(broker));
    let lossy = last_known.chain(uncleanly).next();
    let after_elr = |elr: BTreeSet<i32>| if elr_enabled { elr } else { BTreeSet::new() };
    let last_after = |leader: i32| match leader {
        _ if !elr_enabled || leader == *old_leader => old_last.clone(),
        -1 if old_last.is_empty() => [*old_leader].into(),
        -1 => old_last.clone(),
        _ => BTreeSet::new(),
    };
    match (clean, lossy) {
        (Some(&leader), _) if isr.is_empty() && leader != *old_leader => {
            elr.remove(&leader);
            (
                State(
                    leader,
                    [leader].into(),
                    after_elr(elr),
                    last_after(leader),
                    old.4,
                ),
                false,
            )
        }
        (Some(&leader), _) => (
            State(leader, isr, after_elr(elr), last_after(leader), old.4),
            false,
        ),
        (None, Some(&leader)) => {
            let last = if elr_enabled {
                BTreeSet::new()
            } else {
                old_last.clone()
            };
            (
                State(leader, [leader].into(), BTreeSet::new(), last, true),
                true,
            )
        }
        (None, None) => {
            let isr = if isr.is_empty() && !elr_enabled {
                old_isr.clone()
            } else {
                isr
            };
            (State(-1, isr, after_elr(elr), last_after(-1), old.4), false)
        }
    }
}

fn check(case: &Case<'_>, old: &Partition) {
    let wanted = WantedChange::new(place(), old, case.rules).isr(ids(case.isr));
    let wanted = match case.shutdown {
        Some(broker) => wanted.unclean_shutdown(BrokerId(broker)),
        None => wanted,
    };
    let change = wanted.build(|broker| case.live.contains(&broker.0), unassigned);
    let before = State::of(old);
    let (expected, lossy) = model(case, &before);
    let context = || {
        let Case {
            old,
            isr,
            live,
            rules,
            shutdown,
        } = case;
        format!("{old:?} isr {isr:?} live {live:?} {rules:?} shutdown {shutdown:?}")
    };
    let Some(change) = change else {
        assert_eq!(before, expected, "no record: {}", context());
        return;
    };
    let new = old.changed_by(&change.record).unwrap();
    assert_eq!(State::of(&new), expected, "{}", context());
    assert!(
        lossy || before != expected,
        "a record that changes nothing: {}",
        context()
    );
    let leads = i32::from(lossy || before.0 != expected.0);
    assert_eq!(new.leader_epoch().0, 5 + leads, "{}", context());
    assert_eq!(new.partition_epoch().0, 10, "{}", context());
}

#[test]
fn every_small_state_changes_by_the_rules() {
    let mut cases = 0;
    for replicas in [&[1][..], &[2, 1], &[2, 1, 3]] {
        for isr in subsets(replicas) {
            let others: Vec<i32> = replicas
                .iter()
                .copied()
                .filter(|b| !isr.contains(b))
                .collect();
            for elr in subsets(&others) {
                let leaders = isr.iter().copied().chain([-1]);
                let lasts = replicas.iter().map(|last| vec![*last]).chain([vec![]]);
                for (leader, last) in leaders.flat_map(|l| lasts.clone().map(move |last| (l, last)))
                {
                    let mut record = partition(replicas, &isr);
                    record.leader = leader;
                    record.eligible_leader_replicas = Some(elr[..].into());
                    record.last_known_elr = Some(last[..].into());
                    cases += check_all(&record);
                }
            }
        }
    }
    assert!(cases > 100_000, "{cases}");
}

/// Checks every change of a partition. Gives how many there were.
fn check_all(record: &PartitionRecord) -> usize {
    let old = from(record);
    let mut cases = 0;
    for live in subsets(&record.replicas) {
        for isr in subsets(&record.replicas) {
            for (election, elr_enabled) in KINDS.iter().flat_map(|k| [(*k, true), (*k, false)]) {
                for min_isr in 1..=record.replicas.len() {
                    let rules = ChangeRules {
                        election,
                        elr_enabled,
                        min_isr,
                        ..rules()
                    };
                    let (isr, live) = (&isr[..], &live[..]);
                    let mut shutdowns = vec![None];
                    // Who was shut down uncleanly is neither alive nor in sync.
                    let gone = |b: &&i32| !isr.contains(b) && !live.contains(b);
                    shutdowns.extend(record.replicas.iter().find(gone).copied().map(Some));
                    for shutdown in shutdowns {
                        check(
                            &Case {
                                old: record,
                                isr,
                                live,
                                rules,
                                shutdown,
                            },
                            &old,
                        );
                        cases += 1;
                    }
                }
            }
        }
    }
    cases
}
