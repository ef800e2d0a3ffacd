//! The committed metadata, made of the records by plain rules: nothing of a controller is used.

use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::{Place, Record};
use klamm_protocol::data::metadata::{PartitionChangeRecord, PartitionRecord};
use klamm_protocol::{Offset, PartitionIndex, Uuid};

/// A partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) replicas: Vec<i32>,
    pub(crate) isr: Vec<i32>,
    pub(crate) elr: Vec<i32>,
    pub(crate) last_known: Vec<i32>,
    pub(crate) adding: Vec<i32>,
    pub(crate) removing: Vec<i32>,
    pub(crate) directories: Vec<Uuid>,
    pub(crate) leader: i32,
    pub(crate) leader_epoch: i32,
    pub(crate) partition_epoch: i32,
    pub(crate) recovery: i8,
}

/// A registered broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registered {
    pub(crate) epoch: i64,
    pub(crate) fenced: bool,
    pub(crate) stopping: bool,
    pub(crate) dirs: Vec<Uuid>,
}

/// A record that changed a partition: the state before, none for a new one, and after.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) place: Place,
    pub(crate) before: Option<State>,
    pub(crate) after: State,
}

/// The cluster.
#[derive(Debug, Default)]
pub(crate) struct Model {
    pub(crate) brokers: BTreeMap<i32, Registered>,
    pub(crate) topics: BTreeMap<Uuid, String>,
    pub(crate) partitions: BTreeMap<Place, State>,
    /// Topics that were deleted.
    pub(crate) deleted: BTreeSet<Uuid>,
    /// Every state that a partition had, and the offset of the batch that brought it.
    pub(crate) history: BTreeMap<Place, Vec<(Offset, State)>>,
    /// Registrations, and those of them that were unfenced at some time.
    pub(crate) registrations: BTreeSet<(i32, i64)>,
    pub(crate) unfenced: BTreeSet<(i32, i64)>,
    /// Where brokers were last unregistered.
    pub(crate) unregistered: BTreeMap<i32, Offset>,
    pub(crate) configs: BTreeMap<(i8, String, String), String>,
    pub(crate) elr_enabled: bool,
}

impl Model {
    /// Whether a broker is registered, not fenced and not shutting down.
    pub(crate) fn is_active(&self, id: i32) -> bool {
        let broker = self.brokers.get(&id);
        broker.is_some_and(|broker| !broker.fenced && !broker.stopping)
    }

    /// Whether a replica may lead: its broker is active, its directory online.
    pub(crate) fn is_live(&self, state: &State, id: i32) -> bool {
        let Some(position) = state.replicas.iter().position(|replica| *replica == id) else {
            return false;
        };
        let directory = state.directories.get(position);
        let number = directory.map_or(0, |id| u128::from_be_bytes(*id.as_bytes()));
        let dirs = self.brokers.get(&id).map_or(&[][..], |broker| &broker.dirs);
        let is_online = match number {
            // No directory in particular.
            0 | 1 => true,
            2 => false,
            _ => dirs.is_empty() || directory.is_some_and(|id| dirs.contains(id)),
        };
        is_online && self.is_active(id)
    }

    /// A config of a topic, else of all nodes.
    pub(crate) fn topic_config(&self, topic: Uuid, key: &str) -> Option<&str> {
        let name = self.topics.get(&topic)?;
        let of_topic = self.configs.get(&(2, name.clone(), key.to_owned()));
        let of_all = || self.configs.get(&(4, String::new(), key.to_owned()));
        of_topic.or_else(of_all).map(String::as_str)
    }

    /// Takes over a record that takes effect. What it does to a partition comes back.
    pub(crate) fn apply(&mut self, record: &Record, at: Offset) -> Result<Option<Changed>, String> {
        match record {
            Record::RegisterBroker(r) => {
                let broker = Registered {
                    epoch: r.broker_epoch,
                    fenced: r.fenced,
                    stopping: r.in_controlled_shutdown,
                    dirs: r.log_dirs.clone(),
                };
                let old = self.brokers.insert(r.broker_id, broker);
                if old.is_some_and(|old| old.epoch > r.broker_epoch) {
                    return Err(format!("the epoch of broker {} goes back", r.broker_id));
                }
                self.registrations.insert((r.broker_id, r.broker_epoch));
            }
            Record::BrokerRegistrationChange(r) => {
                let broker = self.brokers.get_mut(&r.broker_id);
                let broker = broker.filter(|broker| broker.epoch == r.broker_epoch);
                let broker = broker.ok_or_else(|| format!("{r:?} of no registration"))?;
                broker.fenced = r.fenced == 1 || r.fenced == 0 && broker.fenced;
                broker.stopping |= r.in_controlled_shutdown == 1;
                if !r.log_dirs.is_empty() {
                    broker.dirs = r.log_dirs.clone();
                }
                if !broker.fenced {
                    self.unfenced.insert((r.broker_id, r.broker_epoch));
                }
            }
            Record::UnregisterBroker(r) => {
                self.brokers.remove(&r.broker_id);
                self.unregistered.insert(r.broker_id, at);
            }
            Record::Topic(r) => {
                let is_new = !self.topics.contains_key(&r.topic_id)
                    && !self.deleted.contains(&r.topic_id)
                    && self.topics.values().all(|name| **name != *r.name);
                if !is_new {
                    return Err(format!("topic {} is made twice", r.name));
                }
                self.topics.insert(r.topic_id, r.name.to_string());
            }
            Record::RemoveTopic(r) => {
                let name = self.topics.remove(&r.topic_id).unwrap_or_default();
                self.deleted.insert(r.topic_id);
                self.partitions.retain(|place, _| place.topic != r.topic_id);
                self.configs
                    .retain(|(kind, resource, _), _| *kind != 2 || *resource != name);
            }
            Record::Partition(r) => return self.created(r, at).map(Some),
            Record::PartitionChange(r) => return self.changed(r, at).map(Some),
            Record::Config(r) => {
                let key = (
                    r.resource_type,
                    r.resource_name.to_string(),
                    r.name.to_string(),
                );
                match &r.value {
                    Some(value) => _ = self.configs.insert(key, value.to_string()),
                    None => _ = self.configs.remove(&key),
                }
            }
            Record::ClearElr(r) => {
                let named = |id| {
                    r.topic_name.is_empty()
                        || self.topics.get(id) == Some(&r.topic_name.to_string())
                };
                for (place, state) in &mut self.partitions {
                    if named(&place.topic) && !(state.elr.is_empty() && state.last_known.is_empty())
                    {
                        state.elr.clear();
                        state.last_known.clear();
                        state.partition_epoch += 1;
                    }
                }
            }
            Record::FeatureLevel(r) if &*r.name == "eligible.leader.replicas.version" => {
                self.elr_enabled = r.feature_level > 0;
            }
            _ => {}
        }
        Ok(None)
    }

    fn created(&mut self, r: &PartitionRecord, at: Offset) -> Result<Changed, String> {
        let state = State {
            replicas: r.replicas.to_vec(),
            isr: r.isr.to_vec(),
            adding: r.adding_replicas.to_vec(),
            removing: r.removing_replicas.to_vec(),
            directories: r.directories.clone(),
            leader: r.leader,
            leader_epoch: r.leader_epoch,
            partition_epoch: r.partition_epoch,
            recovery: r.leader_recovery_state,
            elr: list(r.eligible_leader_replicas.as_deref()).unwrap_or_default(),
            last_known: list(r.last_known_elr.as_deref()).unwrap_or_default(),
        };
        let place = place(r.topic_id, r.partition_id);
        match self.topics.contains_key(&place.topic) && !self.partitions.contains_key(&place) {
            true => Ok(self.became(place, None, state, at)),
            false => Err(format!("{place} is made twice, or of no topic")),
        }
    }

    fn changed(&mut self, r: &PartitionChangeRecord, at: Offset) -> Result<Changed, String> {
        let place = place(r.topic_id, r.partition_id);
        let before = self.partitions.get(&place).cloned();
        let before = before.ok_or_else(|| format!("{place} changes, which does not exist"))?;
        let mut state = before.clone();
        let lists = [
            (r.replicas.as_deref(), &mut state.replicas),
            (r.isr.as_deref(), &mut state.isr),
            (r.eligible_leader_replicas.as_deref(), &mut state.elr),
            (r.last_known_elr.as_deref(), &mut state.last_known),
            (r.adding_replicas.as_deref(), &mut state.adding),
            (r.removing_replicas.as_deref(), &mut state.removing),
        ];
        for (new, old) in lists {
            *old = list(new).unwrap_or_else(|| old.clone());
        }
        if let Some(directories) = &r.directories {
            state.directories = directories.clone();
        }
        // -2 stands for no change, and any leader for a new epoch.
        if r.leader != -2 {
            state.leader = r.leader;
            state.leader_epoch += 1;
        }
        if r.leader_recovery_state != -1 {
            state.recovery = r.leader_recovery_state;
        }
        state.partition_epoch += 1;
        Ok(self.became(place, Some(before), state, at))
    }

    fn became(&mut self, place: Place, before: Option<State>, after: State, at: Offset) -> Changed {
        self.partitions.insert(place, after.clone());
        let history = self.history.entry(place).or_default();
        history.push((at, after.clone()));
        Changed {
            place,
            before,
            after,
        }
    }
}

fn list(ids: Option<&[i32]>) -> Option<Vec<i32>> {
    ids.map(<[i32]>::to_vec)
}

pub(crate) fn place(topic: Uuid, index: i32) -> Place {
    let index = PartitionIndex(index);
    Place { topic, index }
}
