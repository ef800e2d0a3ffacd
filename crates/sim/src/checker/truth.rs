//! What is committed, and what must hold of it and of all that is said about it.

use std::collections::BTreeMap;

use klamm_metadata::{Image, Loader, Place, Record, Topics};
use klamm_protocol::records::RecordBatch;
use klamm_protocol::{BrokerId, LeaderEpoch, Offset};

use super::acknowledged::Acknowledged;
use super::model::{Changed, Model, State};
use super::rules::{Asked, Election};
use crate::controller::records_of;

/// The checkers' own copy of the cluster.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    /// The end of what it has.
    pub(crate) end: Offset,
    pub(crate) model: Model,
    pub(crate) asked: Asked,
    pub(crate) acknowledged: Acknowledged,
    /// What klamm makes of the same records.
    loader: Loader,
    /// The records of the transaction that is open.
    open: Option<Vec<Record>>,
    /// Who took the lead of a partition in which epoch.
    leaders: BTreeMap<(Place, LeaderEpoch), BrokerId>,
    batches: u64,
    pub(crate) elections: u64,
    pub(crate) unclean: u64,
}

impl Truth {
    pub(crate) fn image(&self) -> &Image {
        self.loader.image()
    }

    /// Takes over a batch that is committed.
    pub(crate) fn committed(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let base = batch.header().base_offset;
        let mut effective = Vec::new();
        for record in records_of(batch)? {
            let applied = self.loader.apply(record.clone());
            applied.map_err(|error| format!("a committed record does not fit: {error}"))?;
            match (&record, &mut self.open) {
                (Record::BeginTransaction(_), _) => self.open = Some(Vec::new()),
                (Record::EndTransaction(_), open) => {
                    effective.extend(open.take().unwrap_or_default());
                }
                (Record::AbortTransaction(_), open) => *open = None,
                (_, Some(open)) => open.push(record),
                (_, None) => effective.push(record),
            }
        }
        self.asked.batch = (batch.header().partition_leader_epoch, base);
        self.end = Offset(batch.header().last_offset().0 + 1);
        let mut changes: Vec<Changed> = Vec::new();
        for record in &effective {
            changes.extend(self.model.apply(record, base)?);
        }
        if effective.is_empty() {
            return Ok(());
        }
        for changed in &changes {
            // A topic may be gone already with the next record.
            if self.model.partitions.contains_key(&changed.place) {
                self.elected(changed)?;
            }
        }
        self.model.check()?;
        same(&self.model, self.loader.image())?;
        self.batches += 1;
        if self.batches.is_multiple_of(16) {
            indexes(self.loader.image())?;
        }
        Ok(())
    }

    fn elected(&mut self, changed: &Changed) -> Result<(), String> {
        let election = self.model.judge(changed, &self.asked)?;
        self.elections += u64::from(election != Election::None);
        if matches!(election, Election::LastKnown | Election::Unclean) {
            self.unclean += 1;
            let epoch = LeaderEpoch(changed.after.leader_epoch);
            self.acknowledged.forgive(changed.place, epoch);
        }
        Ok(())
    }

    /// A broker begins to lead a partition.
    pub(crate) fn leads(
        &mut self,
        place: Place,
        epoch: LeaderEpoch,
        broker: BrokerId,
    ) -> Result<(), String> {
        let first = *self.leaders.entry((place, epoch)).or_insert(broker);
        match first == broker {
            true => Ok(()),
            false => Err(format!(
                "{first} and {broker} both lead {place} in epoch {epoch}"
            )),
        }
    }

    /// Holds a node's image to the committed one, where the two are of one offset.
    pub(crate) fn holds(&self, node: BrokerId, image: &Image, at: Offset) -> Result<(), String> {
        match at != self.end || image == self.loader.image() {
            true => Ok(()),
            false => Err(format!(
                "the image of {node} is not that of the log up to {at}"
            )),
        }
    }

    /// What is checked once a run is over.
    pub(crate) fn over(&self) -> Result<(), String> {
        let image = self.loader.image();
        same(&self.model, image)?;
        indexes(image)?;
        let mut recreated = Image::new();
        for record in image.snapshot() {
            let applied = recreated.apply(&record);
            applied.map_err(|error| format!("a snapshot does not fit: {error}"))?;
        }
        match recreated == *image {
            true => Ok(()),
            false => Err("a snapshot does not recreate the image".into()),
        }
    }
}

/// The image is what the records say.
fn same(model: &Model, image: &Image) -> Result<(), String> {
    let topics = image.topics();
    let partitions: usize = topics.iter().map(|topic| topic.partition_count()).sum();
    if topics.len() != model.topics.len() || partitions != model.partitions.len() {
        return Err("the image has other topics than the records".into());
    }
    for (place, state) in &model.partitions {
        let has = topics.partition(*place).map(|partition| State {
            replicas: ids(partition.replicas()),
            isr: ids(partition.isr()),
            elr: ids(partition.elr()),
            last_known: ids(partition.last_known_elr()),
            adding: ids(partition.adding()),
            removing: ids(partition.removing()),
            directories: match state.directories.is_empty() {
                true => Vec::new(),
                false => partition.directories(),
            },
            leader: partition.leader().0,
            leader_epoch: partition.leader_epoch().0,
            partition_epoch: partition.partition_epoch().0,
            recovery: partition.recovery().to_wire(),
        });
        if has.as_ref() != Some(state) {
            return Err(format!(
                "{place}: the image has {has:?}, the records {state:?}"
            ));
        }
    }
    let brokers = image.cluster().brokers();
    let active = brokers.map(|broker| (broker.id.0, broker.epoch.0, broker.is_active()));
    let expected = model.brokers.iter();
    let expected = expected.map(|(id, broker)| (*id, broker.epoch, model.is_active(*id)));
    match active.eq(expected) {
        true => Ok(()),
        false => Err("the image has other brokers than the records".into()),
    }
}

fn ids(brokers: &[BrokerId]) -> Vec<i32> {
    brokers.iter().map(|broker| broker.0).collect()
}

/// What the indexes say is what a scan of all partitions finds.
fn indexes(image: &Image) -> Result<(), String> {
    let topics = image.topics();
    let scan = |is_in: &dyn Fn(&klamm_metadata::Partition) -> bool| -> Vec<Place> {
        let all = topics.iter().flat_map(|topic| {
            let topic_id = topic.id();
            topic.partitions().map(move |(index, partition)| {
                let topic = topic_id;
                (Place { topic, index }, partition)
            })
        });
        let found = all.filter(|(_, partition)| is_in(partition));
        found.map(|(place, _)| place).collect()
    };
    let check = |name: &str, indexed: Vec<Place>, scanned: Vec<Place>| match indexed == scanned {
        true => Ok(()),
        false => Err(format!(
            "the index {name} has {indexed:?}, a scan finds {scanned:?}"
        )),
    };
    check(
        "leaderless",
        places(topics.leaderless()),
        scan(&|p| p.leader() == BrokerId::NONE),
    )?;
    check(
        "off the preferred leader",
        places(topics.off_preferred()),
        scan(&|p| p.replicas().first() != Some(&p.leader())),
    )?;
    check(
        "reassigning",
        places(topics.reassigning()),
        scan(&|p| !p.adding().is_empty() || !p.removing().is_empty()),
    )?;
    for broker in image.cluster().brokers().map(|broker| broker.id) {
        check(
            "led by a broker",
            places(topics.led_by(broker)),
            scan(&|p| p.leader() == broker),
        )?;
        check(
            "in sync on a broker",
            places(topics.with_in_isr(broker)),
            scan(&|p| p.isr().contains(&broker)),
        )?;
        check(
            "eligible on a broker",
            places(topics.with_in_elr(broker)),
            scan(&|p| p.elr().contains(&broker)),
        )?;
    }
    named(topics)
}

fn named(topics: &Topics) -> Result<(), String> {
    let found = |topic: &klamm_metadata::Topic| {
        topics.by_name(topic.name()).map(klamm_metadata::Topic::id) == Some(topic.id())
    };
    match topics.iter().all(found) {
        true => Ok(()),
        false => Err("a topic is not found by its name".into()),
    }
}

fn places<'a>(found: impl Iterator<Item = (Place, &'a klamm_metadata::Partition)>) -> Vec<Place> {
    found.map(|(place, _)| place).collect()
}
