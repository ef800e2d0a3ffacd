//! The data of a broker: a log and a `Replica` for each partition that the metadata places here.

mod describe_log_dirs;
mod dir_assignments;
mod fetch;
mod fetchers;
mod hosted;
mod hosting;
mod incoming;
mod isr;
mod list_offsets;
mod log_dir;
mod opening;
mod produce;
mod producer_ids;
mod producers;
mod questions;
mod records;
mod rounds;
mod topic;
mod watchers;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use klamm_log::{LogError, OpenFiles};
use klamm_metadata::{BrokerEpoch, Image, Place};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex, Uuid};
use tokio::sync::{mpsc, watch};

pub(crate) use log_dir::LogDir;
pub use opening::OpenError;
pub(crate) use opening::Opening;
pub(crate) use produce::Produced;
pub(crate) use questions::Question;

use crate::clock::Clock;
use crate::settings::ReplicaSettings;
use fetchers::Fetchers;
use hosted::{Hosted, Moment, State, Unusable};
use opening::Found;
use topic::{NodeConfigs, TopicSettings};

/// The replicas of a broker. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Replicas(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    broker: BrokerId,
    settings: ReplicaSettings,
    clock: Clock,
    dirs: Vec<Arc<LogDir>>,
    /// Directories of the configuration that could not be opened at the start.
    unusable: Vec<PathBuf>,
    open_files: Arc<OpenFiles>,
    /// What the metadata said last.
    image: RwLock<Arc<Image>>,
    hosted: RwLock<HashMap<Place, Arc<Hosted>>>,
    /// Logs that were in the directories at the start, and that the metadata has yet to ask for.
    found: Mutex<HashMap<Place, Found>>,
    /// The broker epoch of the last run, if all of its logs were closed.
    previous_epoch: Option<BrokerEpoch>,
    broker_epoch: AtomicI64,
    offline: watch::Sender<Vec<Uuid>>,
    proposals: mpsc::UnboundedSender<isr::Proposal>,
    /// Replicas in other directories than the metadata says.
    assignments: mpsc::UnboundedSender<(Place, Uuid)>,
    questions: mpsc::Sender<Question>,
    fetchers: Fetchers,
    sessions: Mutex<fetch::Sessions>,
    producer_ids: producer_ids::ProducerIds,
    closing: watch::Sender<bool>,
    /// Held while a round goes on; whether there is to be none any more.
    rounds_are_over: Mutex<bool>,
}

impl Replicas {
    /// The epoch that this broker had in its last run, if that ended cleanly in every directory: the
    /// controller knows then that nothing was lost (KIP-966).
    pub(crate) fn previous_epoch(&self) -> Option<BrokerEpoch> {
        self.0.previous_epoch
    }

    /// The broker has registered.
    pub(crate) fn set_broker_epoch(&self, epoch: BrokerEpoch) {
        self.0.broker_epoch.store(epoch.0, Ordering::Release);
    }

    /// The directories that have failed, for the heartbeats.
    pub(crate) fn offline_dirs(&self) -> watch::Receiver<Vec<Uuid>> {
        self.0.offline.subscribe()
    }

    /// Does what may take long on a thread of its own.
    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Arc<Shared>) -> T + Send + 'static,
    ) -> T {
        let shared = Arc::clone(&self.0);
        match tokio::task::spawn_blocking(move || act(&shared)).await {
            Ok(done) => done,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

impl Shared {
    fn image(&self) -> Arc<Image> {
        let image = self.image.read();
        Arc::clone(&image.unwrap_or_else(PoisonError::into_inner))
    }

    fn broker_epoch(&self) -> BrokerEpoch {
        BrokerEpoch(self.broker_epoch.load(Ordering::Acquire))
    }

    fn moment(&self) -> Moment {
        let now = self.clock.now();
        Moment {
            now: now.elapsed,
            now_ms: now.timestamp_ms,
            image: self.image(),
            proposals: self.proposals.clone(),
        }
    }

    fn hosted(&self, place: Place) -> Option<Arc<Hosted>> {
        let hosted = self.hosted.read();
        let hosted = hosted.unwrap_or_else(PoisonError::into_inner);
        hosted.get(&place).cloned()
    }

    fn all_hosted(&self) -> Vec<Arc<Hosted>> {
        let hosted = self.hosted.read();
        let hosted = hosted.unwrap_or_else(PoisonError::into_inner);
        hosted.values().cloned().collect()
    }

    fn found(&self) -> MutexGuard<'_, HashMap<Place, Found>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What holds for a topic.
    fn topic(&self, image: &Image, name: &str) -> Arc<TopicSettings> {
        let node = NodeConfigs {
            broker: self.broker,
            file: &self.settings.properties,
            lag_time_max: self.settings.lag_time_max,
        };
        Arc::new(TopicSettings::new(image, name, node))
    }

    /// Finds the replica that a request names by its topic's name.
    fn find_by_name(
        &self,
        image: &Image,
        topic: &str,
        index: i32,
    ) -> Result<Arc<Hosted>, ErrorCode> {
        let topic = image.topics().by_name(topic);
        let topic = topic.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        self.find(image, topic.id(), index)
    }

    /// Finds the replica that a request names by its topic's id.
    fn find(&self, image: &Image, topic: Uuid, index: i32) -> Result<Arc<Hosted>, ErrorCode> {
        let index = PartitionIndex(index);
        let place = Place { topic, index };
        if let Some(hosted) = self.hosted(place) {
            return Ok(hosted);
        }
        if image.topics().by_id(topic).is_none() {
            return Err(ErrorCode::UNKNOWN_TOPIC_ID);
        }
        let partition = image.topics().partition(place);
        let partition = partition.ok_or(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)?;
        match partition.replicas().contains(&self.broker) {
            // Its directory has failed: otherwise it were there.
            true => Err(ErrorCode::KAFKA_STORAGE_ERROR),
            false => Err(ErrorCode::NOT_LEADER_OR_FOLLOWER),
        }
    }

    /// Holds a replica and does something with it. Where the disk fails, so does its directory.
    fn with<T>(
        &self,
        hosted: &Hosted,
        moment: &Moment,
        act: impl FnOnce(&mut State) -> Result<T, LogError>,
    ) -> Result<T, ErrorCode> {
        match hosted.with(moment, act) {
            Ok(done) => Ok(done),
            Err(Unusable::Gone) => Err(ErrorCode::NOT_LEADER_OR_FOLLOWER),
            Err(Unusable::Failed(error)) => {
                if let Some(error) = error {
                    self.fail_dir(&hosted.dir, &error);
                }
                Err(ErrorCode::KAFKA_STORAGE_ERROR)
            }
        }
    }

    /// Takes a directory offline: nothing in it is read or written any more.
    fn fail_dir(&self, dir: &Arc<LogDir>, error: &LogError) {
        if !dir.set_failed() {
            return;
        }
        let path = dir.path().display();
        tracing::error!(
            dir = %path, %error,
            "log directory is offline; mend it and start the broker again"
        );
        let moment = self.moment();
        for hosted in self.all_hosted() {
            if Arc::ptr_eq(&hosted.dir, dir) {
                hosted.fail(&moment);
                self.fetchers.forget(hosted.place);
            }
        }
        self.offline.send_modify(|ids| ids.push(dir.id()));
    }
}
