//! What a broker makes of the metadata.

use klamm_metadata::{Partition, Place, directory};
use klamm_protocol::{BrokerId, Uuid};

use crate::broker::{Broker, Known, Leading, Replica};
use crate::cluster::Cluster;
use crate::data::DataLog;

impl Cluster {
    /// A broker acts on the metadata, once it knows what it may not know less of.
    pub(super) fn publish(&mut self, id: BrokerId) {
        if !self.brokers[&id].is_ready() {
            return;
        }
        let broker = &self.brokers[&id];
        let topics = broker.image().topics();
        let mine: Vec<(Place, Partition)> = topics
            .iter()
            .flat_map(|topic| {
                let of = topic.id();
                topic
                    .partitions()
                    .map(move |(index, p)| (Place { topic: of, index }, p))
            })
            .filter(|(_, partition)| partition.replicas().contains(&id))
            .map(|(place, partition)| (place, partition.clone()))
            .collect();
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        let is_mine = |place: &Place| mine.binary_search_by_key(place, |(at, _)| *at).is_ok();
        broker.replicas.retain(|place, _| is_mine(place));
        for (place, partition) in mine {
            self.publish_partition(id, place, &partition);
        }
    }

    fn publish_partition(&mut self, id: BrokerId, place: Place, partition: &Partition) {
        let min_isr = self.min_isr(id, place, partition);
        let (pick, began) = (self.rng.usize(..8), self.now);
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        if !broker.replicas.contains_key(&place) {
            let Some(dir) = choose_dir(broker, partition.directory(id), pick) else {
                return;
            };
            broker.replicas.insert(place, Replica::new(dir));
        }
        let Some(replica) = broker.online(place) else {
            return;
        };
        let known = Known {
            leader: partition.leader(),
            leader_epoch: partition.leader_epoch(),
            partition_epoch: partition.partition_epoch(),
        };
        if replica
            .known
            .is_some_and(|old| old.partition_epoch >= known.partition_epoch)
        {
            return;
        }
        let old = replica.known.replace(known);
        if known.leader != id {
            replica.lead = None;
            return;
        }
        let is_new = old.is_none_or(|old| old.leader_epoch < known.leader_epoch);
        match &mut replica.lead {
            // Neither leader nor epoch have changed: followers go on as they were.
            Some(lead) => {
                lead.isr = partition.isr().clone();
                lead.wanted = None;
                lead.min_isr = min_isr;
                if is_new {
                    lead.start = replica.log.end();
                    lead.began = began;
                    lead.followers.clear();
                }
            }
            None => {
                replica.lead = Some(Leading {
                    start: replica.log.end(),
                    began,
                    isr: partition.isr().clone(),
                    wanted: None,
                    followers: Default::default(),
                    waiting: Default::default(),
                    min_isr,
                });
            }
        }
        if is_new {
            let log = replica.log.clone();
            let led = self
                .truth
                .leads(place, known.leader_epoch, id)
                .and_then(|()| {
                    self.truth
                        .acknowledged
                        .check(place, known.leader_epoch, &log)
                });
            self.fail_with(led);
        }
        self.advance(id, place);
    }

    /// `min.insync.replicas` as a broker applies it.
    fn min_isr(&self, id: BrokerId, place: Place, partition: &Partition) -> usize {
        let image = self.brokers[&id].image();
        let topic = image.topics().by_id(place.topic);
        let value = topic.and_then(|topic| {
            let key = "min.insync.replicas";
            image.configs().topic_value(topic.name(), id, key)
        });
        let wanted: usize = value.and_then(|value| value.parse().ok()).unwrap_or(1);
        wanted.min(partition.replicas().len())
    }
}

/// The directory of a new replica: the one that it was assigned, or any.
fn choose_dir(broker: &Broker, assigned: Option<Uuid>, pick: usize) -> Option<Uuid> {
    let online: Vec<Uuid> = broker.online_dirs().collect();
    let assigned = assigned.filter(|id| !directory::is_reserved(*id));
    if let Some(assigned) = assigned.filter(|id| online.contains(id) || !broker.failed.is_empty()) {
        // It may be in the directory that has failed.
        return Some(assigned).filter(|id| online.contains(id));
    }
    online.get(pick % online.len().max(1)).copied()
}

impl Replica {
    fn new(dir: Uuid) -> Self {
        Self {
            log: DataLog::default(),
            high_watermark: 0,
            dir,
            known: None,
            lead: None,
        }
    }
}
