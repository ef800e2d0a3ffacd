mod indexes;
mod places;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use klamm_protocol::data::metadata::{PartitionChangeRecord, PartitionRecord, TopicRecord};
use klamm_protocol::{BrokerId, PartitionIndex, Uuid};

use crate::{ApplyError, MetadataVersion, Partition, Place, Record};
use indexes::Indexes;
use places::Places;

/// Partitions that lie together. A copy of a topic shares them, and what changes copies so many.
const CHUNK: usize = 64;

/// A topic and its partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    id: Uuid,
    name: Arc<str>,
    /// Chunks of [`CHUNK`] partitions; the last may have fewer, and none is empty.
    chunks: Vec<Arc<Vec<Partition>>>,
}

impl Topic {
    /// Its id.
    pub fn id(&self) -> Uuid {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A partition.
    pub fn partition(&self, index: PartitionIndex) -> Option<&Partition> {
        let index = usize::try_from(index.0).ok()?;
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    /// How many partitions it has.
    pub fn partition_count(&self) -> usize {
        let last = self.chunks.last();
        last.map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// Its partitions in the order of their numbers.
    pub fn partitions(&self) -> impl Iterator<Item = (PartitionIndex, &Partition)> {
        let partitions = self.chunks.iter().flat_map(|chunk| chunk.iter());
        (0..).map(PartitionIndex).zip(partitions)
    }

    /// Adds the next partition.
    fn push(&mut self, partition: Partition) {
        match self.chunks.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => Arc::make_mut(last).push(partition),
            None => self.chunks.push(Arc::new(vec![partition])),
        }
    }

    /// A partition to be changed, which is there.
    fn partition_mut(&mut self, index: usize) -> &mut Partition {
        &mut Arc::make_mut(&mut self.chunks[index / CHUNK])[index % CHUNK]
    }
}

/// The topics, with indexes of their partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topics {
    by_id: BTreeMap<Uuid, Arc<Topic>>,
    by_name: BTreeMap<Arc<str>, Uuid>,
    /// Names with '.' or '_' after what metrics make of them.
    collidable: BTreeSet<(String, Arc<str>)>,
    indexes: Indexes,
}

impl Topics {
    /// The topic with this id.
    pub fn by_id(&self, id: Uuid) -> Option<&Topic> {
        self.by_id.get(&id).map(Arc::as_ref)
    }

    /// The topic with this name.
    pub fn by_name(&self, name: &str) -> Option<&Topic> {
        self.by_id(*self.by_name.get(name)?)
    }

    /// A partition.
    pub fn partition(&self, place: Place) -> Option<&Partition> {
        self.by_id(place.topic)?.partition(place.index)
    }

    /// A topic whose name differs from this one in '.' and '_' only, which metrics do not tell apart.
    pub fn colliding(&self, name: &str) -> Option<&str> {
        let unified = unified(name)?;
        let first = (unified.clone(), Arc::from(""));
        let (other, name) = self.collidable.range(first..).next()?;
        (*other == unified).then_some(&**name)
    }

    /// How many topics there are.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there is no topic.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Every topic in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = &Topic> {
        self.by_id.values().map(Arc::as_ref)
    }

    /// The topics alone, to make records of; there is nothing to be found in the indexes. This takes
    /// little time: chunks of partitions are shared until they change.
    pub(crate) fn frozen(&self) -> Self {
        Self {
            by_id: self.by_id.clone(),
            ..Self::default()
        }
    }

    /// Every topic in the order of the names.
    pub fn iter_by_name(&self) -> impl Iterator<Item = &Topic> {
        self.by_name.values().filter_map(|id| self.by_id(*id))
    }

    /// The partitions in which the broker is a replica, in the ISR, in the ELR or the leader.
    pub fn of_broker(&self, broker: BrokerId) -> impl Iterator<Item = (Place, &Partition)> {
        let places = self.indexes.of_broker(broker);
        self.at(places.into_iter().flat_map(Places::iter))
    }

    /// The partitions that the broker leads.
    pub fn led_by(&self, broker: BrokerId) -> impl Iterator<Item = (Place, &Partition)> {
        self.of_broker(broker)
            .filter(move |(_, partition)| partition.leader() == broker)
    }

    /// The partitions with the broker in their ISR.
    pub fn with_in_isr(&self, broker: BrokerId) -> impl Iterator<Item = (Place, &Partition)> {
        self.of_broker(broker)
            .filter(move |(_, partition)| partition.isr().contains(&broker))
    }

    /// The partitions with the broker in their ELR.
    pub fn with_in_elr(&self, broker: BrokerId) -> impl Iterator<Item = (Place, &Partition)> {
        self.of_broker(broker)
            .filter(move |(_, partition)| partition.elr().contains(&broker))
    }

    /// How many partitions all topics have.
    pub fn partition_count(&self) -> usize {
        self.indexes.partitions
    }

    /// How many partitions have no leader, without a look at them.
    pub fn leaderless_count(&self) -> usize {
        self.indexes.leaderless.len()
    }

    /// How many partitions [`Topics::off_preferred`] has, without a look at them.
    pub fn off_preferred_count(&self) -> usize {
        self.indexes.off_preferred.len()
    }

    /// How many partitions are being reassigned, without a look at them.
    pub fn reassigning_count(&self) -> usize {
        self.indexes.reassigning.len()
    }

    /// The partitions without a leader.
    pub fn leaderless(&self) -> impl Iterator<Item = (Place, &Partition)> {
        self.at(self.indexes.leaderless.iter())
    }

    /// The partitions that are led by another than their preferred leader, or by nobody.
    pub fn off_preferred(&self) -> impl Iterator<Item = (Place, &Partition)> {
        self.at(self.indexes.off_preferred.iter())
    }

    /// The partitions that are being reassigned.
    pub fn reassigning(&self) -> impl Iterator<Item = (Place, &Partition)> {
        self.at(self.indexes.reassigning.iter())
    }

    fn at(&self, places: impl Iterator<Item = Place>) -> impl Iterator<Item = (Place, &Partition)> {
        places.filter_map(|place| Some((place, self.partition(place)?)))
    }

    pub(crate) fn add(&mut self, record: &TopicRecord) -> Result<(), ApplyError> {
        let id = record.topic_id;
        if self.by_name.contains_key(&*record.name) || self.by_id.contains_key(&id) {
            return Err(ApplyError::TopicExists(record.name.to_string()));
        }
        let name: Arc<str> = Arc::from(&*record.name);
        self.by_name.insert(name.clone(), id);
        self.collidable
            .extend(unified(&name).map(|unified| (unified, name.clone())));
        let chunks = Vec::new();
        self.by_id.insert(id, Arc::new(Topic { id, name, chunks }));
        Ok(())
    }

    /// Removes a topic, and says what its name was.
    pub(crate) fn remove(&mut self, id: Uuid) -> Result<Arc<str>, ApplyError> {
        let topic = self.by_id.remove(&id).ok_or(ApplyError::UnknownTopic(id))?;
        self.by_name.remove(&topic.name);
        if let Some(unified) = unified(&topic.name) {
            self.collidable.remove(&(unified, topic.name.clone()));
        }
        for (index, partition) in topic.partitions() {
            let place = Place { topic: id, index };
            self.indexes.replace(place, Some(partition), None);
        }
        Ok(topic.name.clone())
    }

    pub(crate) fn add_partition(&mut self, record: &PartitionRecord) -> Result<(), ApplyError> {
        let place = Place::of(record.topic_id, record.partition_id);
        let partition = Partition::from_record(record)?;
        let topic = self.by_id.get_mut(&place.topic);
        let topic = topic.ok_or(ApplyError::UnknownTopic(place.topic))?;
        let count = topic.partition_count();
        let index = usize::try_from(place.index.0).ok();
        match index.filter(|index| *index <= count) {
            Some(index) if index == count => {
                self.indexes.replace(place, None, Some(&partition));
                Arc::make_mut(topic).push(partition);
            }
            Some(_) => self.replace(place, partition),
            None => return Err(ApplyError::PartitionOutOfOrder(place)),
        }
        Ok(())
    }

    pub(crate) fn change_partition(
        &mut self,
        record: &PartitionChangeRecord,
    ) -> Result<(), ApplyError> {
        let place = Place::of(record.topic_id, record.partition_id);
        self.by_id(place.topic)
            .ok_or(ApplyError::UnknownTopic(place.topic))?;
        let partition = self
            .partition(place)
            .ok_or(ApplyError::UnknownPartition(place))?;
        let changed = partition.changed_by(record)?;
        self.replace(place, changed);
        Ok(())
    }

    /// Empties the ELR and last known ELR of a topic's partitions, or of every one's where the name
    /// is empty.
    pub(crate) fn clear_elr(&mut self, name: &str) -> Result<(), ApplyError> {
        let topics: Vec<&Topic> = match name {
            "" => self.iter().collect(),
            name => {
                let topic = self.by_name(name);
                vec![topic.ok_or_else(|| ApplyError::UnknownTopicName(name.to_owned()))?]
            }
        };
        let mut changes = Vec::new();
        for topic in topics {
            for (index, partition) in topic.partitions() {
                if partition.elr().is_empty() && partition.last_known_elr().is_empty() {
                    continue;
                }
                let place = Place {
                    topic: topic.id,
                    index,
                };
                let changed = partition.changed_by(&PartitionChangeRecord {
                    topic_id: topic.id,
                    partition_id: index.0,
                    eligible_leader_replicas: Some(Default::default()),
                    last_known_elr: Some(Default::default()),
                    ..Default::default()
                })?;
                changes.push((place, changed));
            }
        }
        for (place, changed) in changes {
            self.replace(place, changed);
        }
        Ok(())
    }

    /// Replaces a partition that exists.
    fn replace(&mut self, place: Place, changed: Partition) {
        let topic = self.by_id.get_mut(&place.topic);
        let topic = topic.expect("the partition was just read");
        let partition = Arc::make_mut(topic).partition_mut(place.index.0 as usize);
        self.indexes.replace(place, Some(partition), Some(&changed));
        *partition = changed;
    }

    pub(crate) fn records(&self, version: MetadataVersion) -> impl Iterator<Item = Record> {
        self.iter().flat_map(move |topic| {
            let named = TopicRecord {
                name: (&*topic.name).into(),
                topic_id: topic.id,
                ..Default::default()
            };
            let partitions = topic.partitions().map(move |(index, partition)| {
                Record::Partition(partition.to_record(topic.id, index, version))
            });
            std::iter::once(Record::Topic(named)).chain(partitions)
        })
    }

    #[cfg(test)]
    pub(crate) fn assert_indexes_equal_a_full_scan(&self) {
        let mut scanned = Indexes::default();
        for topic in self.iter() {
            for (index, partition) in topic.partitions() {
                let place = Place {
                    topic: topic.id,
                    index,
                };
                scanned.partitions += 1;
                for broker in partition.members() {
                    scanned.by_broker.entry(broker).or_default().insert(place);
                }
                if partition.leader() == BrokerId::NONE {
                    scanned.leaderless.insert(place);
                }
                if partition
                    .replicas()
                    .first()
                    .is_some_and(|first| *first != partition.leader())
                {
                    scanned.off_preferred.insert(place);
                }
                if !partition.adding().is_empty() || !partition.removing().is_empty() {
                    scanned.reassigning.insert(place);
                }
            }
        }
        assert_eq!(self.indexes, scanned);
        let names: BTreeMap<_, _> = self
            .iter()
            .map(|topic| (topic.name.clone(), topic.id))
            .collect();
        assert_eq!(self.by_name, names);
        let collidable = names.keys().filter(|name| name.contains(['.', '_']));
        let collidable = collidable.map(|name| (name.replace('.', "_"), name.clone()));
        assert_eq!(self.collidable, collidable.collect());
    }
}

/// The name with '_' for '.'; `None` where it has neither.
fn unified(name: &str) -> Option<String> {
    name.contains(['.', '_']).then(|| name.replace('.', "_"))
}
