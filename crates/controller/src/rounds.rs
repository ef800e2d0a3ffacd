//! What the controller does by itself from time to time.

use klamm_metadata::{Partition, Place};

use crate::{Decision, ElectionKind, View, WantedChange, Why};

#[cfg(test)]
mod tests;

/// How many leaders Apache Kafka elects in one round.
pub const MAX_ELECTIONS_PER_ROUND: usize = 1000;

/// Gives the lead back to preferred leaders (`auto.leader.rebalance.enable`), at most so many times.
/// The answer is whether there may be more to do, at once.
pub fn rebalance(view: &View<'_>, max_elections: usize) -> Decision<bool> {
    let places = view.image().topics().off_preferred();
    elect(
        view,
        places,
        ElectionKind::Preferred,
        Why::Rebalance,
        max_elections,
    )
}

/// Elects leaders uncleanly where there are none and the topic allows it, at most so many times. The
/// answer is whether there may be more to do, at once.
pub fn elect_uncleanly(view: &View<'_>, max_elections: usize) -> Decision<bool> {
    let topics = view.image().topics();
    let allowed = topics.leaderless().filter(|(place, _)| {
        let topic = topics.by_id(place.topic);
        topic.is_some_and(|topic| view.allows_unclean_elections(topic))
    });
    elect(
        view,
        allowed,
        ElectionKind::Unclean,
        Why::UncleanAllowed,
        max_elections,
    )
}

fn elect<'a>(
    view: &View<'_>,
    places: impl Iterator<Item = (Place, &'a Partition)>,
    kind: ElectionKind,
    why: Why,
    max_elections: usize,
) -> Decision<bool> {
    let mut decision = Decision::answer(false);
    // What a broker may bring back with it waits for it.
    for (place, partition) in places.filter(|(_, partition)| !view.awaits(partition)) {
        if decision.records.len() >= max_elections {
            decision.response = true;
            break;
        }
        let topic = view.image().topics().by_id(place.topic);
        let topic = topic.expect("an index names topics that exist");
        let change = WantedChange::new(place, partition, view.rules(topic, kind)).build(
            |broker| view.is_live(partition, broker),
            |broker| view.default_dir(broker),
        );
        if let Some(change) = change {
            decision.change(place, partition, change, why);
        }
    }
    decision
}
