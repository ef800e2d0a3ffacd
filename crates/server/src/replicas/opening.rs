//! The start: directories with their logs become what the metadata can ask for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

use klamm_log::{
    Log, LogError, LogOptions, OffsetCheckpoint, OpenFiles, PartitionDir, PartitionMetadata,
    Recover, SetAside,
};
use klamm_metadata::{BrokerEpoch, Image, Place};
use klamm_net::Connector;
use klamm_protocol::{BrokerId, Offset};
use klamm_replica::Producers;
use thiserror::Error;
use tokio::sync::{mpsc, watch};

use super::fetchers::Fetchers;
use super::log_dir::{LogDir, Remembered, RememberedLog};
use super::{
    Question, Replicas, Shared, dir_assignments, fetch, isr, producer_ids, producers, rounds,
};
use crate::clock::Clock;
use crate::machine::random_id;
use crate::quorum::METADATA_DIR;
use crate::settings::ReplicaSettings;

/// Files of logs that are open at a time.
const OPEN_FILES: usize = 512;

/// What replicas are opened with.
pub(crate) struct Opening {
    /// This broker.
    pub(crate) broker: BrokerId,
    /// How replicas are kept.
    pub(crate) settings: ReplicaSettings,
    /// The listener by which brokers reach each other.
    pub(crate) inter_broker_listener: String,
    /// The directories that can be used.
    pub(crate) dirs: Vec<Arc<LogDir>>,
    /// Those of the configuration that cannot be: the last run's end does not count as clean then.
    pub(crate) unusable: Vec<PathBuf>,
    /// The node's clock.
    pub(crate) clock: Clock,
    /// Where questions to the active controller go.
    pub(crate) questions: mpsc::Sender<Question>,
    /// How leaders are reached.
    pub(crate) connector: Arc<dyn Connector>,
}

/// No directory can be used.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Every log directory has failed.
    #[error("no log directory can be used; {}: {source}", path.display())]
    NoDir {
        /// One of them.
        path: PathBuf,
        /// What is wrong with it.
        source: LogError,
    },
    /// There is none.
    #[error("no log directory can be used; check log.dirs")]
    None,
}

/// A log that is there, of a partition that the metadata has yet to ask for.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: PartitionDir,
    pub(super) dir: Arc<LogDir>,
    pub(super) opened: Opened,
}

/// A log, and what is known of it.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) log: Log,
    pub(super) producers: Producers,
    pub(super) high_watermark: Offset,
}

impl Replicas {
    /// Opens the logs in the directories, which takes as long as recovery does after a crash. Must
    /// be called within a tokio runtime, on a thread that may block.
    pub(crate) fn open(opening: Opening) -> Result<Self, OpenError> {
        let Opening {
            broker,
            settings,
            inter_broker_listener,
            dirs,
            unusable,
            clock,
            questions,
            connector,
        } = opening;
        let open_files = OpenFiles::new(OPEN_FILES);
        let loaded: Vec<_> = thread::scope(|scope| {
            let load = |dir| {
                let open_files = &open_files;
                scope.spawn(move || load(dir, open_files))
            };
            let threads: Vec<_> = dirs.iter().map(load).collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(loaded) => loaded,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        });
        let mut found: HashMap<Place, Found> = HashMap::new();
        let mut epochs = Vec::new();
        let mut failed = Vec::new();
        for (dir, loaded) in dirs.iter().zip(loaded) {
            match loaded {
                Ok(Loaded { epoch, logs }) => {
                    epochs.push(epoch);
                    for (place, log) in logs {
                        keep(&mut found, place, log);
                    }
                }
                Err(source) => {
                    tracing::error!(dir = %dir.path().display(), error = %source,
                        "log directory is offline; mend it and start the broker again");
                    dir.set_failed();
                    failed.push((dir, source));
                }
            }
        }
        if failed.len() == dirs.len() {
            return Err(match failed.pop() {
                Some((dir, source)) => OpenError::NoDir {
                    path: dir.path().to_owned(),
                    source,
                },
                None => OpenError::None,
            });
        }
        let is_clean = failed.is_empty() && unusable.is_empty();
        let previous_epoch = epochs[0].filter(|_| is_clean && all_equal(&epochs));
        let offline = failed.iter().map(|(dir, _)| dir.id()).collect();
        let (proposals, to_propose) = mpsc::unbounded_channel();
        let (assignments, to_assign) = mpsc::unbounded_channel();
        let fetchers = Fetchers::new(inter_broker_listener, connector, settings.fetch.clone());
        let sessions = fetch::Sessions::new(settings.max_fetch_sessions);
        let shared = Arc::new(Shared {
            broker,
            settings,
            clock,
            dirs,
            unusable,
            open_files,
            image: RwLock::new(Arc::new(Image::new())),
            hosted: RwLock::default(),
            found: Mutex::new(found),
            previous_epoch,
            broker_epoch: AtomicI64::new(-1),
            offline: watch::Sender::new(offline),
            proposals,
            assignments,
            questions,
            fetchers,
            sessions: Mutex::new(sessions),
            producer_ids: producer_ids::ProducerIds::default(),
            closing: watch::Sender::new(false),
            rounds_are_over: Mutex::new(false),
        });
        tokio::spawn(isr::send(Arc::downgrade(&shared), to_propose));
        let to_tell = Arc::downgrade(&shared);
        tokio::spawn(dir_assignments::send(to_tell, to_assign));
        tokio::spawn(rounds::run(Arc::downgrade(&shared)));
        Ok(Self(shared))
    }
}

fn all_equal(epochs: &[Option<BrokerEpoch>]) -> bool {
    epochs.windows(2).all(|pair| pair[0] == pair[1])
}

/// Keeps a log, unless another directory has one of the same partition.
fn keep(found: &mut HashMap<Place, Found>, place: Place, log: Found) {
    match found.entry(place) {
        Entry::Vacant(vacant) => {
            vacant.insert(log);
        }
        Entry::Occupied(kept) => {
            let kept = kept.get().dir.path().display();
            tracing::error!(
                partition = %log.name.name(), %kept, other = %log.dir.path().display(),
                "two directories have a log of the partition; the other is not used"
            );
        }
    }
}

/// What a directory has.
struct Loaded {
    /// The broker epoch of the last run, if it ended cleanly.
    epoch: Option<BrokerEpoch>,
    logs: Vec<(Place, Found)>,
}

fn load(dir: &Arc<LogDir>, open_files: &Arc<OpenFiles>) -> Result<Loaded, LogError> {
    let remembered = dir.remember()?;
    let mut logs = Vec::new();
    for name in dir.partitions().list()? {
        if name.name() == METADATA_DIR {
            // The log of the metadata quorum, which is the observer's.
            continue;
        }
        let root = dir.partitions().create(&name)?;
        let Some(PartitionMetadata { topic_id }) = PartitionMetadata::read(&*root)? else {
            // Nobody can tell which topic of this name it is of.
            set_stray(dir, &name)?;
            continue;
        };
        let place = Place {
            topic: topic_id,
            index: name.partition,
        };
        let known = remembered.of(&name);
        let opened = open_log(dir, &name, open_files, recover(&remembered, known), known)?;
        let dir = Arc::clone(dir);
        logs.push((place, Found { name, dir, opened }));
    }
    let epoch = remembered.clean.and_then(|mark| mark.broker_epoch);
    let epoch = epoch.map(BrokerEpoch);
    Ok(Loaded { epoch, logs })
}

fn recover(remembered: &Remembered, known: RememberedLog) -> Recover {
    match (remembered.clean, known.recovery_point) {
        (Some(_), _) => Recover::Nothing,
        (None, Some(point)) => Recover::From(point),
        (None, None) => Recover::All,
    }
}

/// Opens a log, or begins one.
pub(super) fn open_log(
    dir: &LogDir,
    name: &PartitionDir,
    open_files: &Arc<OpenFiles>,
    recover: Recover,
    known: RememberedLog,
) -> Result<Opened, LogError> {
    let root = dir.partitions().create(name)?;
    let files = Arc::clone(open_files);
    // Until the metadata says more, what a topic is by default; only what is appended goes by it.
    let options = LogOptions::TOPIC;
    let (log, recovery) = Log::open(root, files, options, recover, known.log_start)?;
    if let Some(cut) = recovery.cut {
        tracing::warn!(%cut, partition = %name.name(), "recovered");
    }
    let producers = producers::load(&log)?;
    Ok(Opened {
        log,
        producers,
        high_watermark: known.high_watermark,
    })
}

/// Sets a log aside that the metadata does not know of.
pub(super) fn set_stray(dir: &LogDir, name: &PartitionDir) -> Result<(), LogError> {
    let aside = dir
        .partitions()
        .set_aside(name, SetAside::Stray, random_id())?;
    tracing::warn!(
        partition = %name.name(), dir = %dir.path().join(&aside).display(),
        "the metadata does not know of this log; it is set aside, remove it if it is not wanted"
    );
    Ok(())
}

/// The checkpoints, in the order in which they are written.
pub(super) const CHECKPOINTS: [OffsetCheckpoint; 3] = [
    OffsetCheckpoint::RecoveryPoint,
    OffsetCheckpoint::LogStart,
    OffsetCheckpoint::HighWatermark,
];
