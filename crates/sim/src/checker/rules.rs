//! What every committed state of a cluster has to be like.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use klamm_metadata::Place;
use klamm_protocol::{LeaderEpoch, Offset};

use super::model::{Changed, Model, Registered, State};

/// What besides the records bears on a change of a leader.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// Where records begin that answer a client's request for unclean elections: epoch and offset.
    pub(crate) unclean: BTreeSet<(LeaderEpoch, Offset)>,
    /// Where the batch that is judged begins.
    pub(crate) batch: (LeaderEpoch, Offset),
    /// ISRs that leaders have asked for: partition, its epoch then, members.
    pub(crate) isr: BTreeSet<(Place, i32, Vec<i32>)>,
    /// Brokers that were fenced early: the epoch, and until when they may come back.
    pub(crate) uncertain: BTreeMap<i32, (i64, Duration)>,
    /// The time.
    pub(crate) now: Duration,
}

/// How a leader came to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Election {
    /// It leads already, or nobody does.
    None,
    Clean,
    LastKnown,
    Unclean,
}

impl Asked {
    /// Whether a client has asked for the batch's elections to be unclean.
    fn was_unclean(&self) -> bool {
        self.unclean.contains(&self.batch)
    }
}

impl Model {
    /// Holds a change of a partition to the rules, in the cluster as it is after the batch.
    pub(crate) fn judge(&self, changed: &Changed, asked: &Asked) -> Result<Election, String> {
        let (place, after) = (changed.place, &changed.after);
        let fail = |what: &str| Err(format!("{place}: {what}: {changed:?}"));
        let Some(before) = &changed.before else {
            let is_first = after.leader_epoch == 0 && after.partition_epoch == 0;
            return match is_first && after.isr.contains(&after.leader) {
                true => Ok(Election::None),
                false => fail("a new partition begins with a wrong state"),
            };
        };
        if before == after {
            return fail("a record that changes nothing");
        }
        if gives_up(before, after) {
            let is_right = after.isr.iter().all(|id| after.replicas.contains(id))
                && (after.leader == -1 || after.isr == [after.leader])
                && after.recovery == 1;
            return match is_right && self.allows_unclean(place) {
                true => Ok(Election::Unclean),
                false => fail("a reassignment is cancelled that has all records"),
            };
        }
        let wanted = |isr: &Vec<i32>| {
            let mut sorted = isr.clone();
            sorted.sort_unstable();
            asked
                .isr
                .range((place, before.partition_epoch, Vec::new())..)
                .take_while(|(at, epoch, _)| *at == place && *epoch == before.partition_epoch)
                .any(|(_, _, members)| sorted.iter().all(|id| members.contains(id)))
        };
        let leader = after.leader;
        let is_new = leader != before.leader || after.leader_epoch != before.leader_epoch;
        let election = match leader {
            -1 => Election::None,
            _ if leader == before.leader && before.isr.contains(&leader) => Election::None,
            _ if before.isr.contains(&leader) => Election::Clean,
            _ if before.elr.contains(&leader) && after.isr == [leader] => Election::Clean,
            _ if wanted(&after.isr) => Election::Clean,
            _ if self.elr_enabled && before.last_known == [leader] && after.isr == [leader] => {
                Election::LastKnown
            }
            _ if after.isr == [leader] && (asked.was_unclean() || self.allows_unclean(place)) => {
                Election::Unclean
            }
            _ => return fail("a leader outside of the rules"),
        };
        if election == Election::Clean && before.isr.iter().any(|id| self.is_live(after, *id)) {
            // Who is in sync comes before who is eligible.
            let has_everything = before.isr.contains(&leader) || wanted(&after.isr);
            if !has_everything {
                return fail("an eligible replica leads where one in sync could");
            }
        }
        let is_unclean = matches!(election, Election::LastKnown | Election::Unclean);
        let others = before.isr.iter().chain(&before.elr);
        if is_unclean && others.clone().any(|id| self.is_live(after, *id)) {
            return fail("a leader that may lack records where another has all");
        }
        if is_unclean && after.recovery != 1 {
            return fail("a leader that may lack records counts as recovered");
        }
        let has_all = |id: &i32| before.isr.contains(id) || before.elr.contains(id);
        let waits = others.chain(&before.last_known);
        if is_unclean
            && !asked.was_unclean()
            && waits
                .clone()
                .any(|id| *id != leader && self.may_return(*id, asked))
        {
            return fail("an unclean election before it is certain that the others are gone");
        }
        if election == Election::None && leader != -1 && is_new && after.leader_epoch == 0 {
            return fail("a leader epoch that does not grow");
        }
        let grows = after.isr.iter().any(|id| !before.isr.contains(id));
        if grows && !is_unclean && !after.isr.iter().all(has_all) && !wanted(&after.isr) {
            return fail("an ISR that grows, and no leader has asked for it");
        }
        Ok(election)
    }

    /// Whether a broker that was fenced early may still come back as it was.
    fn may_return(&self, id: i32, asked: &Asked) -> bool {
        let broker = self.brokers.get(&id);
        asked.uncertain.get(&id).is_some_and(|(epoch, until)| {
            let is_same = |broker: &Registered| broker.fenced && broker.epoch == *epoch;
            asked.now < *until && broker.is_some_and(is_same)
        })
    }

    fn allows_unclean(&self, place: Place) -> bool {
        let config = self.topic_config(place.topic, "unclean.leader.election.enable");
        config == Some("true")
    }

    /// Whether a partition without a leader is to have one, without a client's help.
    pub(crate) fn can_be_led(&self, place: Place, state: &State) -> bool {
        let is_live = |id: &i32| self.is_live(state, *id);
        let clean = match state.isr.is_empty() {
            true => &state.elr,
            false => &state.isr,
        };
        let nobody = state.isr.is_empty() && state.elr.is_empty();
        let last = (self.elr_enabled && nobody && state.last_known.len() == 1)
            .then_some(&state.last_known);
        let unclean = self.allows_unclean(place).then_some(&state.replicas);
        clean.iter().chain(last.into_iter().flatten()).any(is_live)
            || unclean.into_iter().flatten().any(is_live)
    }

    /// Holds every partition to what must be so after each batch.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (place, state) in &self.partitions {
            self.check_partition(state)
                .map_err(|what| format!("{place}: {what}: {state:?}"))?;
        }
        Ok(())
    }

    fn check_partition(&self, state: &State) -> Result<(), &'static str> {
        let within = |some: &[i32], all: &[i32]| some.iter().all(|id| all.contains(id));
        let lists = [
            &state.replicas,
            &state.isr,
            &state.elr,
            &state.adding,
            &state.removing,
        ];
        let is_set = |list: &&Vec<i32>| list.iter().collect::<BTreeSet<_>>().len() == list.len();
        if !lists
            .iter()
            .all(|list| is_set(list) && within(list, &state.replicas))
        {
            return Err("a list with others than replicas, or one twice");
        }
        if state.isr.iter().any(|id| state.elr.contains(id)) {
            return Err("in the ISR and in the ELR");
        }
        if state.adding.iter().any(|id| state.removing.contains(id)) {
            return Err("added and removed");
        }
        let has_elr = !state.elr.is_empty() || !state.last_known.is_empty();
        if has_elr && !self.elr_enabled {
            return Err("an ELR in a cluster that has none");
        }
        if state.leader != -1 && !state.last_known.is_empty() {
            return Err("a last known leader beside a leader");
        }
        // Without ELR the last one stays; and so does who is to lead after an unclean cancellation.
        let may_stay = !self.elr_enabled || state.recovery == 1;
        let is_last = |_: &i32| may_stay && state.isr.len() == 1 && state.leader == -1;
        if !state
            .isr
            .iter()
            .all(|id| self.is_live(state, *id) || is_last(id))
        {
            return Err("who is not live is in sync");
        }
        if state.leader != -1 && !(state.isr.contains(&state.leader)) {
            return Err("the leader is not in sync");
        }
        let clean = match state.isr.is_empty() {
            true => &state.elr,
            false => &state.isr,
        };
        if state.leader == -1 && clean.iter().any(|id| self.is_live(state, *id)) {
            return Err("no leader although a replica that has everything is live");
        }
        Ok(())
    }
}

/// Whether a reassignment is cancelled although only replicas that it added are in sync: that is a
/// client's wish, and loses records.
fn gives_up(before: &State, after: &State) -> bool {
    let is_added = |id: &i32| before.adding.contains(id);
    after.adding.is_empty()
        && !before.isr.is_empty()
        && before.isr.iter().all(is_added)
        && !after.replicas.iter().any(is_added)
}
