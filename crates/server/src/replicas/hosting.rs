//! Replicas come, change and go as the metadata says.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, PoisonError};

use klamm_log::{LogError, OffsetCheckpoint, PartitionDir, PartitionMetadata, Recover, SetAside};
use klamm_metadata::{Image, Partition, Place, Topic, directory};
use klamm_protocol::{Offset, Uuid};
use klamm_replica::{LogState, Replica, RoleKind};

use super::hosted::{Hosted, Moment};
use super::log_dir::{LogDir, RememberedLog};
use super::opening::{CHECKPOINTS, Found, Opened, open_log, set_stray};
use super::topic::TopicSettings;
use super::{Replicas, Shared, producers, rounds};
use crate::broker::{Changes, Published, Touched};
use crate::machine::random_id;

impl Replicas {
    /// Takes over what the metadata says now; in the order of its log. When this returns, requests
    /// find it.
    pub(crate) async fn publish(&self, published: &Published, touched: &Touched) {
        let image = Arc::clone(&published.image);
        let touched = touched.clone();
        let moved = self.blocking(move |shared| shared.publish(image, &touched));
        for (dir, name) in moved.await {
            self.remove_later(dir, name);
        }
    }

    /// Removes a directory that was set aside, when those who still read from it are done.
    fn remove_later(&self, dir: Arc<LogDir>, name: String) {
        let delay = self.0.settings.delete_delay;
        let mut closing = self.0.closing.subscribe();
        tokio::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(delay) => {}
                // The next start removes what is left.
                _ = closing.wait_for(|closing| *closing) => return,
            }
            let removed = tokio::task::spawn_blocking(move || dir.partitions().remove(&name));
            if let Ok(Err(error)) = removed.await {
                tracing::warn!(%error, "the next start removes it");
            }
        });
    }

    /// Stops: nobody is served any more, and all that was written is on the disk. Directories in
    /// which that worked are marked as clean.
    pub(crate) async fn close(self) {
        let _ = self.0.closing.send(true);
        self.0.fetchers.stop().await;
        self.blocking(|shared| shared.close()).await;
    }
}

impl Shared {
    /// Returns the directories that are to be removed.
    fn publish(
        self: &Arc<Self>,
        image: Arc<Image>,
        touched: &Touched,
    ) -> Vec<(Arc<LogDir>, String)> {
        let before = {
            let mut current = self.image.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::clone(&image))
        };
        let moment = self.moment();
        let (places, configs) = match touched {
            Touched::All => (self.all_places(&image), true),
            Touched::Some(changes) => {
                let gone = self.places_of_removed(changes);
                let changed = changes.partitions.iter().copied().chain(gone);
                let configs = changes.node_configs || !changes.topic_configs.is_empty();
                (changed.collect(), configs)
            }
        };
        drop(before);
        // Those that go first: a topic may have come back under the same name.
        let is_here = |place: &Place| {
            let partition = image.topics().partition(*place);
            partition.filter(|partition| partition.replicas().contains(&self.broker))
        };
        let (here, gone): (Vec<_>, Vec<_>) = places
            .into_iter()
            .partition(|place| is_here(place).is_some());
        let mut moved = Vec::new();
        for place in gone {
            moved.extend(self.remove(place, &moment));
        }
        if *touched == Touched::All {
            self.set_strays(&image);
        }
        let mut topics: HashMap<Uuid, Arc<TopicSettings>> = HashMap::new();
        for place in here {
            let (Some(topic), Some(partition)) =
                (image.topics().by_id(place.topic), is_here(&place))
            else {
                continue;
            };
            let settings = topics.entry(place.topic);
            let settings = settings.or_insert_with(|| self.topic(&image, topic.name()));
            let settings = Arc::clone(settings);
            self.host(place, topic, partition, &settings, &moment);
        }
        if configs {
            self.configure(touched, &image, &moment);
        }
        moved
    }

    fn all_places(&self, image: &Image) -> BTreeSet<Place> {
        let here = image.topics().of_broker(self.broker);
        let here = here.filter(|(_, partition)| partition.replicas().contains(&self.broker));
        let hosted = self.all_hosted().into_iter().map(|hosted| hosted.place);
        here.map(|(place, _)| place).chain(hosted).collect()
    }

    fn places_of_removed(&self, changes: &Changes) -> Vec<Place> {
        if changes.removed_topics.is_empty() {
            return Vec::new();
        }
        let hosted = self.all_hosted().into_iter().map(|hosted| hosted.place);
        hosted
            .filter(|place| changes.removed_topics.contains(&place.topic))
            .collect()
    }

    /// What was in the directories and is in no metadata is kept for a person to look at.
    fn set_strays(&self, image: &Image) {
        let is_stray = |place: &Place| {
            let partition = image.topics().partition(*place);
            !partition.is_some_and(|partition| partition.replicas().contains(&self.broker))
        };
        let strays: Vec<Found> = {
            let mut found = self.found();
            let places: Vec<Place> = found.keys().copied().filter(is_stray).collect();
            places
                .iter()
                .filter_map(|place| found.remove(place))
                .collect()
        };
        for Found { name, dir, opened } in strays {
            drop(opened);
            if let Err(error) = set_stray(&dir, &name) {
                self.fail_dir(&dir, &error);
            }
        }
    }

    /// Tells a replica its state; one that is not there is made.
    fn host(
        self: &Arc<Self>,
        place: Place,
        topic: &Topic,
        partition: &Partition,
        settings: &Arc<TopicSettings>,
        moment: &Moment,
    ) {
        let hosted = match self.hosted(place) {
            Some(hosted) => hosted,
            None => match self.make(place, topic, partition, settings) {
                Some(hosted) => hosted,
                None => return,
            },
        };
        let updated = self.with(&hosted, moment, |state| {
            state.set_topic(settings);
            state.update(partition, moment);
            Ok(state.replica.role() == RoleKind::Follower)
        });
        match partition.leader().known() {
            Some(leader) if leader != self.broker && updated == Ok(true) => {
                self.fetchers.follow(self, leader, &hosted);
            }
            _ => self.fetchers.forget(place),
        }
    }

    /// A replica of the log that was found, or of a new one; `None` where the disk does not let it.
    fn make(
        &self,
        place: Place,
        topic: &Topic,
        partition: &Partition,
        settings: &Arc<TopicSettings>,
    ) -> Option<Arc<Hosted>> {
        let found = self.found().remove(&place);
        let Found { name, dir, opened } = match found {
            Some(found) => found,
            None => {
                let name = PartitionDir {
                    topic: topic.name().to_owned(),
                    partition: place.index,
                };
                let dir = self.choose_dir(partition)?;
                match self.create(place, &name, &dir) {
                    Ok(opened) => Found { name, dir, opened },
                    Err(error) => {
                        self.fail_dir(&dir, &error);
                        return None;
                    }
                }
            }
        };
        let Opened {
            mut log,
            producers,
            high_watermark,
        } = opened;
        log.set_options(settings.log);
        let state = LogState::new(log.start(), log.end(), high_watermark, log.epochs().clone());
        let replica = Replica::new(self.broker, state, producers, settings.replication);
        let settings = Arc::clone(settings);
        let directory = dir.id();
        let hosted = Arc::new(Hosted::new(place, name, dir, log, replica, settings));
        let mut all = self.hosted.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(place, Arc::clone(&hosted));
        drop(all);
        // Once it is there: assignments of replicas that are not are passed over.
        if partition.directory(self.broker) != Some(directory) {
            // Nobody takes them when the node stops.
            let _ = self.assignments.send((place, directory));
        }
        Some(hosted)
    }

    /// Begins a log. A crash in between leaves one without a topic, which the next start sets aside.
    fn create(&self, place: Place, name: &PartitionDir, dir: &LogDir) -> Result<Opened, LogError> {
        let root = dir.partitions().create(name)?;
        let metadata = PartitionMetadata {
            topic_id: place.topic,
        };
        metadata.write(&*root)?;
        let known = RememberedLog {
            recovery_point: None,
            high_watermark: Offset(0),
            log_start: Offset(0),
        };
        open_log(dir, name, &self.open_files, Recover::All, known)
    }

    /// The directory that the metadata names, or the one with the fewest logs where it names none;
    /// `None` where it names one that has failed, or may have: the log is there then, and one that
    /// begins anew would take its place.
    fn choose_dir(&self, partition: &Partition) -> Option<Arc<LogDir>> {
        let named = partition.directory(self.broker)?;
        if let Some(dir) = self.dirs.iter().find(|dir| dir.id() == named) {
            return (!dir.is_failed()).then(|| Arc::clone(dir));
        }
        let is_assigned = named != directory::UNASSIGNED;
        let has_failed = |dir: &Arc<LogDir>| dir.is_failed();
        if is_assigned && (!self.unusable.is_empty() || self.dirs.iter().any(has_failed)) {
            tracing::warn!(
                directory = %named,
                "no log is begun: the replica may be in a directory that is offline"
            );
            return None;
        }
        if !directory::is_reserved(named) {
            // The replica was in a directory that this node has no more, and begins anew.
            tracing::warn!(directory = %named, "the metadata names a directory that is not here");
        }
        let all = self.all_hosted();
        let logs = |dir: &Arc<LogDir>| {
            let inside = |hosted: &&Arc<Hosted>| Arc::ptr_eq(&hosted.dir, dir);
            all.iter().filter(inside).count()
        };
        let usable = self.dirs.iter().filter(|dir| !dir.is_failed());
        usable.min_by_key(|dir| logs(dir)).cloned()
    }

    /// Ends a replica that is here no more, and sets its log aside.
    fn remove(&self, place: Place, moment: &Moment) -> Option<(Arc<LogDir>, String)> {
        let hosted = {
            let mut all = self.hosted.write().unwrap_or_else(PoisonError::into_inner);
            all.remove(&place)?
        };
        self.fetchers.forget(place);
        let Hosted { dir, name, .. } = &*hosted;
        let aside = hosted.end(moment, |_| {
            let partitions = dir.partitions();
            partitions.set_aside(name, SetAside::Delete, random_id())
        });
        match aside {
            Ok(aside) => Some((Arc::clone(dir), aside)),
            Err(error) => {
                self.fail_dir(dir, &error);
                None
            }
        }
    }

    /// Takes over configs that have changed.
    fn configure(&self, touched: &Touched, image: &Image, moment: &Moment) {
        let is_touched = |topic: &str| match touched {
            Touched::All => true,
            Touched::Some(changes) => changes.node_configs || changes.topic_configs.contains(topic),
        };
        let mut topics: HashMap<Uuid, Arc<TopicSettings>> = HashMap::new();
        for hosted in self.all_hosted() {
            let name = &hosted.name.topic;
            if !is_touched(name) {
                continue;
            }
            let settings = topics.entry(hosted.place.topic);
            let settings = settings.or_insert_with(|| self.topic(image, name));
            // What cannot be used does not go by configs either.
            let _ = self.with(&hosted, moment, |state| {
                state.set_topic(settings);
                Ok(())
            });
        }
    }

    fn close(&self) {
        let over = self.rounds_are_over.lock();
        *over.unwrap_or_else(PoisonError::into_inner) = true;
        for checkpoint in CHECKPOINTS {
            if checkpoint != OffsetCheckpoint::RecoveryPoint {
                rounds::checkpoint(self, checkpoint);
            }
        }
        let moment = self.moment();
        let hosted = self.all_hosted();
        for dir in &self.dirs {
            if dir.is_failed() {
                continue;
            }
            let inside = hosted.iter().filter(|hosted| Arc::ptr_eq(&hosted.dir, dir));
            if let Err(error) = self.close_dir(dir, inside, &moment) {
                tracing::error!(
                    dir = %dir.path().display(), %error,
                    "the directory could not be closed; the next start recovers it"
                );
            }
        }
    }

    fn close_dir<'h>(
        &self,
        dir: &Arc<LogDir>,
        inside: impl Iterator<Item = &'h Arc<Hosted>>,
        moment: &Moment,
    ) -> Result<(), LogError> {
        let mut points = Vec::new();
        for hosted in inside {
            let end = hosted.end(moment, |state| {
                producers::save(&state.log, state.replica.producers())?;
                state.log.finish()
            })?;
            points.push(rounds::entry(&hosted.name, end));
        }
        // Logs that the metadata did not ask for in this run are as they were opened.
        for found in self.found().values_mut() {
            if Arc::ptr_eq(&found.dir, dir) {
                let end = found.opened.log.finish()?;
                points.push(rounds::entry(&found.name, end));
            }
        }
        dir.checkpoint(OffsetCheckpoint::RecoveryPoint, || points.clone())?;
        let epoch = self.broker_epoch();
        dir.mark_clean((epoch.0 >= 0).then_some(epoch.0))
    }
}

#[cfg(test)]
impl Replicas {
    /// Ends as a killed process does: files stay as they are.
    pub(super) async fn kill(self) {
        let _ = self.0.closing.send(true);
        self.0.fetchers.stop().await;
        while Arc::strong_count(&self.0) > 1 {
            tokio::task::yield_now().await;
        }
    }
}
