#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeSet;

use super::*;

const SEEDS: u64 = 3_000;

/// What a cluster is like while a plan is carried out.
#[derive(Default)]
struct Model {
    killed: BTreeSet<u32>,
    paused: BTreeSet<u32>,
    broken: Vec<Ways>,
}

impl Model {
    fn act(&mut self, action: Action) {
        match action {
            Action::Kill(node) => {
                self.paused.remove(&node);
                assert!(self.killed.insert(node), "{action}: it is dead");
            }
            Action::Start(node) => assert!(self.killed.remove(&node), "{action}: it runs"),
            Action::Pause(node) => {
                assert!(!self.killed.contains(&node), "{action}: it is dead");
                assert!(self.paused.insert(node), "{action}: it is paused");
            }
            Action::Resume(node) => assert!(self.paused.remove(&node), "{action}: it runs"),
            Action::Cut(ways) | Action::Stall(ways) => {
                assert!(!self.broken.contains(&ways), "{action}: they are broken");
                self.broken.push(ways);
            }
            Action::Heal(ways) => {
                let at = self.broken.iter().position(|other| *other == ways);
                self.broken.remove(at.unwrap());
            }
            Action::Elect => {}
        }
    }
}

#[test]
fn a_seed_is_one_plan() {
    for seed in 0..SEEDS {
        assert_eq!(Plan::new(seed), Plan::new(seed));
    }
    assert_ne!(Plan::new(1).steps, Plan::new(2).steps);
}

#[test]
fn plans_can_be_carried_out_and_leave_nothing_broken() {
    for seed in 0..SEEDS {
        let plan = Plan::new(seed);
        let mut model = Model::default();
        for step in &plan.steps {
            model.act(step.action);
        }
        let Model {
            killed,
            paused,
            broken,
        } = model;
        assert!(
            killed.is_empty() && paused.is_empty() && broken.is_empty(),
            "{plan}"
        );
        assert!(plan.steps.is_sorted_by_key(|step| step.at), "{plan}");
        assert!(
            plan.steps.last().unwrap().at < Duration::from_secs(10),
            "{plan}"
        );
    }
}

#[test]
fn where_a_disk_forgets_no_other_broker_dies() {
    let forgetful = (0..SEEDS)
        .map(Plan::new)
        .filter(|plan| plan.forgetful.is_some());
    let mut killed = BTreeSet::new();
    for plan in forgetful {
        for step in &plan.steps {
            if let Action::Kill(node) = step.action
                && node != CONTROLLER
            {
                assert_eq!(Some(node), plan.forgetful, "{plan}");
                killed.insert(node);
            }
        }
    }
    assert_eq!(killed, BROKERS.into());
}

#[test]
fn everything_happens_in_some_plan() {
    let plans = (0..SEEDS).map(Plan::new);
    let actions: Vec<Action> = plans
        .flat_map(|plan| plan.steps)
        .map(|step| step.action)
        .collect();
    let nodes = BROKERS.into_iter().chain([CONTROLLER]);
    let mut ways: Vec<Ways> = all_links()
        .map(|(from, to)| Ways::One { from, to })
        .collect();
    ways.extend(BROKERS.iter().flat_map(|node| {
        let node = *node;
        [Ways::To(node), Ways::From(node), Ways::Around(node)]
    }));
    ways.push(Ways::To(CONTROLLER));
    let of_nodes = nodes.flat_map(|node| [Action::Kill(node), Action::Pause(node)]);
    let of_ways = ways
        .into_iter()
        .flat_map(|ways| [Action::Cut(ways), Action::Stall(ways)]);
    for action in of_nodes.chain(of_ways).chain([Action::Elect]) {
        assert!(actions.contains(&action), "{action}");
    }
}

#[test]
fn links_are_as_the_worst_of_what_is_broken() {
    let cut = Action::Cut(Ways::One { from: 1, to: 2 });
    let stall = Action::Stall(Ways::Around(1));
    assert_eq!(link_state(&[stall, cut], (1, 2)), LinkState::Cut);
    assert_eq!(link_state(&[cut, stall], (2, 1)), LinkState::Stalled);
    assert_eq!(
        link_state(&[cut, stall], (1, CONTROLLER)),
        LinkState::Stalled
    );
    assert_eq!(link_state(&[cut, stall], (2, 3)), LinkState::Open);
    assert_eq!(link_state(&[], (1, 2)), LinkState::Open);
    assert_eq!(all_links().count(), 9);
}
