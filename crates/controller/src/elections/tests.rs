//! The election against the rules written down as a table, in every small state.

use super::*;

/// Brokers as bits: broker `b` is bit `b`.
fn has(set: u8, broker: i32) -> bool {
    set >> broker & 1 == 1
}

fn list(set: u8) -> Vec<BrokerId> {
    (1..=3)
        .filter(|broker| has(set, *broker))
        .map(BrokerId)
        .collect()
}

struct State {
    replicas: Vec<i32>,
    isr: u8,
    elr: u8,
    last_known: Vec<i32>,
    leader: i32,
    live: u8,
    elr_enabled: bool,
}

/// Who leads by the table: the rows in their order, each with those it names; the first who is allowed
/// in the first row that has one.
fn by_the_table(state: &State, kind: ElectionKind) -> (i32, How) {
    let has_everything = if state.isr == 0 { state.elr } else { state.isr };
    let valid = has_everything & state.live;
    let nobody_has_everything = state.isr | state.elr == 0;
    let last_known = match state.last_known[..] {
        [last] if state.elr_enabled && nobody_has_everything && kind != ElectionKind::CleanOnly => {
            vec![last]
        }
        _ => vec![],
    };
    let preferred = kind == ElectionKind::Preferred;
    let rows: [(bool, Vec<i32>, u8); 5] = [
        (preferred, state.replicas[..1].to_vec(), valid),
        (true, vec![state.leader], valid),
        (true, state.replicas.clone(), valid),
        (true, last_known, state.live),
        (
            kind == ElectionKind::Unclean,
            state.replicas.clone(),
            state.live,
        ),
    ];
    for (row, (applies, named, allowed)) in rows.into_iter().enumerate() {
        let found = named
            .into_iter()
            .find(|broker| *broker > 0 && has(allowed, *broker));
        if let Some(broker) = found.filter(|_| applies) {
            let how = match row {
                3 => How::LastKnownLeader,
                4 => How::Unclean,
                _ if broker == state.leader => How::Kept,
                _ if has(state.isr, broker) => How::InSync,
                _ => How::Eligible,
            };
            return (broker, how);
        }
    }
    (-1, How::Nobody)
}

#[test]
fn every_small_state_is_decided_by_the_table() {
    let orders: [&[i32]; 4] = [&[1], &[2, 1], &[1, 2, 3], &[3, 1, 2]];
    let sets = || (0u8..16).step_by(2);
    let mut decided = [0u32; 6];
    for replicas in orders {
        for (isr, elr, live) in
            sets().flat_map(|i| sets().flat_map(move |e| sets().map(move |l| (i, e, l))))
        {
            for (leader, last) in [-1, 1, 2, 3]
                .iter()
                .flat_map(|l| (0..5).map(move |k| (*l, k)))
            {
                for elr_enabled in [false, true] {
                    let last_known = match last {
                        0 => vec![],
                        4 => vec![1, 2],
                        last => vec![last],
                    };
                    let replicas = replicas.to_vec();
                    let state = State {
                        replicas,
                        isr,
                        elr,
                        last_known,
                        leader,
                        live,
                        elr_enabled,
                    };
                    check(&state, &mut decided);
                }
            }
        }
    }
    assert!(decided.iter().all(|count| *count > 100), "{decided:?}");
}

fn check(state: &State, decided: &mut [u32; 6]) {
    let ids = |ids: &[i32]| ids.iter().copied().map(BrokerId).collect::<Vec<_>>();
    let (replicas, last_known) = (ids(&state.replicas), ids(&state.last_known));
    let (isr, elr) = (list(state.isr), list(state.elr));
    let candidates = Candidates {
        replicas: &replicas,
        isr: &isr,
        elr: &elr,
        last_known_elr: &last_known,
        leader: BrokerId(state.leader),
        recovery: LeaderRecoveryState::Recovered,
        elr_enabled: state.elr_enabled,
    };
    use ElectionKind::{CleanOnly, Online, Preferred, Unclean};
    for kind in [Online, Preferred, Unclean, CleanOnly] {
        let elected = candidates.elect(kind, |broker| has(state.live, broker.0));
        let (leader, how) = by_the_table(state, kind);
        let context = || format!("{kind:?} {candidates:?} live {:?}", list(state.live));
        assert_eq!(
            (elected.leader, elected.how),
            (BrokerId(leader), how),
            "{}",
            context()
        );
        decided[how as usize] += 1;
        // What follows from how the leader came to lead.
        let alone = [BrokerId(leader)];
        let isr_after: &[BrokerId] = match how {
            How::Kept | How::InSync | How::Nobody => &isr,
            How::Eligible | How::LastKnownLeader | How::Unclean => &alone,
        };
        assert_eq!(&elected.isr[..], isr_after, "{}", context());
        let recovering = matches!(how, How::LastKnownLeader | How::Unclean);
        assert_eq!(
            elected.recovery == LeaderRecoveryState::Recovering,
            recovering
        );
        if recovering {
            assert!(elected.elr.is_empty(), "{}", context());
        } else if how == How::Eligible {
            assert!(!elected.elr.contains(&elected.leader), "{}", context());
            assert_eq!(elected.elr.len() + 1, elr.len(), "{}", context());
        }
        if how == How::Nobody && last_known.is_empty() {
            assert_eq!(
                elected.last_known_elr.to_vec(),
                ids(&[state.leader].repeat((state.leader > 0) as usize))
            );
        }
        assert!(
            how == How::Nobody || elected.last_known_elr.is_empty(),
            "{}",
            context()
        );
        // A clean election never picks a replica that may lack committed records, nor a dead one.
        if !recovering && how != How::Nobody {
            assert!(
                isr.contains(&elected.leader) || elr.contains(&elected.leader),
                "{}",
                context()
            );
        }
        assert!(
            how == How::Nobody || has(state.live, elected.leader.0),
            "{}",
            context()
        );
    }
}
