//! What becomes of a broker's partitions when it goes or comes.

use klamm_metadata::{Broker, Partition, Place};
use klamm_protocol::data::metadata::{BrokerRegistrationChangeRecord, UnregisterBrokerRecord};
use klamm_protocol::{BrokerId, ErrorCode};

use crate::{Decision, ElectionKind, View, WantedChange, Why};

#[cfg(test)]
mod tests;

/// What happens to a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// Nothing; leaders are elected where there are none.
    Nothing,
    /// It may be elected from now on.
    Comes(BrokerId),
    /// It is out of sync from now on and not elected; what it has it keeps.
    Goes(BrokerId),
    /// As `Goes`, and it may have lost what it had.
    LosesData(BrokerId),
}

/// Fences a broker: others lead what it led, and it is in no ISR. A fenced broker stays as it is.
///
/// While it is not certain that the broker is gone ([`Why::ConnectionLost`]), leaders are elected
/// cleanly or not at all; [`elect_leaderless`] makes up for it once its session is over.
pub fn fence(view: &View<'_>, broker: &Broker, why: Why) -> Decision<()> {
    let mut decision = Decision::answer(());
    if !broker.fenced {
        decision.leave(view, broker.id, why);
        decision.records.push(fencing(broker, true));
    }
    decision
}

/// Unfences a broker: what has no leader may have one again.
pub(crate) fn unfence<R>(view: &View<'_>, broker: &Broker, decision: &mut Decision<R>) {
    decision.records.push(fencing(broker, false));
    let places = view.image().topics().leaderless();
    let view = view.as_comes(broker.id);
    decision.move_leaders(&view, Event::Comes(broker.id), Why::Unfenced, places);
}

/// Elects leaders where there are none, as far as each topic allows.
pub fn elect_leaderless(view: &View<'_>, why: Why) -> Decision<()> {
    let mut decision = Decision::answer(());
    let places = view.image().topics().leaderless();
    decision.move_leaders(view, Event::Nothing, why, places);
    decision
}

/// Unregisters a broker: it is in no ISR, and may register again as if it were new. Where it was in
/// sync last it stays eligible; when it registers again without a clean stop, it is that no more.
pub fn unregister(view: &View<'_>, id: BrokerId) -> Result<Decision<()>, ErrorCode> {
    let broker = view.image().cluster().broker(id);
    let broker = broker.ok_or(ErrorCode::BROKER_ID_NOT_REGISTERED)?;
    let mut decision = Decision::answer(());
    decision.leave(view, id, Why::Unregistered);
    let eligible = view.image().topics().with_in_elr(id);
    decision.move_leaders(view, Event::Goes(id), Why::Unregistered, eligible);
    decision.records.push(
        UnregisterBrokerRecord {
            broker_id: id.0,
            broker_epoch: broker.epoch.0,
            ..Default::default()
        }
        .into(),
    );
    Ok(decision)
}

impl<R> Decision<R> {
    /// The broker leaves every ISR, and others lead what it led.
    pub(crate) fn leave(&mut self, view: &View<'_>, id: BrokerId, why: Why) {
        let places = view.image().topics().with_in_isr(id);
        self.move_leaders(view, Event::Goes(id), why, places);
    }

    /// The broker leaves every ISR and ELR: it may have lost what made it eligible.
    pub(crate) fn leave_uncleanly(&mut self, view: &View<'_>, id: BrokerId) {
        let topics = view.image().topics();
        let places = topics.with_in_isr(id).chain(topics.with_in_elr(id));
        self.move_leaders(view, Event::LosesData(id), Why::UncleanShutdown, places);
    }

    /// The broker leaves the ISR of the partitions that it has in directories that failed.
    pub(crate) fn leave_directories(
        &mut self,
        view: &View<'_>,
        id: BrokerId,
        is_failed: impl Fn(klamm_protocol::Uuid) -> bool,
    ) {
        let places = view.image().topics().of_broker(id);
        let places = places.filter(|(_, p)| p.directory(id).is_some_and(&is_failed));
        self.move_leaders(view, Event::Goes(id), Why::DirectoryFailed, places);
    }

    fn move_leaders<'a>(
        &mut self,
        view: &View<'_>,
        event: Event,
        why: Why,
        places: impl Iterator<Item = (Place, &'a Partition)>,
    ) {
        for (place, partition) in places {
            let topic = view.image().topics().by_id(place.topic);
            let topic = topic.expect("an index names topics that exist");
            let election = match why {
                Why::ConnectionLost => ElectionKind::CleanOnly,
                _ => view.automatic(topic, partition),
            };
            let wanted = WantedChange::new(place, partition, view.rules(topic, election));
            let without = |broker| partition.isr().filtered(|member| member != broker);
            let wanted = match event {
                Event::Nothing | Event::Comes(_) => wanted,
                Event::Goes(broker) => wanted.isr(without(broker)),
                Event::LosesData(broker) => wanted.isr(without(broker)).unclean_shutdown(broker),
            };
            let is_live = |candidate| match event {
                Event::Comes(broker) if broker == candidate => {
                    view.has_online_dir(partition, broker)
                }
                Event::Goes(broker) | Event::LosesData(broker) if broker == candidate => false,
                _ => view.is_live(partition, candidate),
            };
            let change = wanted.build(is_live, |broker| view.default_dir(broker));
            if let Some(change) = change {
                self.change(place, partition, change, why);
            }
        }
    }
}

fn fencing(broker: &Broker, fenced: bool) -> klamm_metadata::Record {
    BrokerRegistrationChangeRecord {
        broker_id: broker.id.0,
        broker_epoch: broker.epoch.0,
        fenced: if fenced { 1 } else { -1 },
        ..Default::default()
    }
    .into()
}
