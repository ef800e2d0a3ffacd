use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use klamm_log::{Log, LogError, PartitionDir};
use klamm_metadata::{Image, Partition, Place};
use klamm_protocol::records::RecordBatch;
use klamm_protocol::{LeaderEpoch, Offset};
use klamm_replica::{
    Acked, Acks, Admission, Output, ProduceError, Replica, Replication, RoleKind, WaiterId,
};
use tokio::sync::{mpsc, oneshot};

use super::isr::Proposal;
use super::log_dir::LogDir;
use super::producers;
use super::topic::TopicSettings;
use super::watchers::{Watch, Watchers};

/// A replica that this broker has: its log and its state, held by one thread at a time.
///
/// Whoever holds it may wait for the disk, as the threads of a broker's connections may.
#[derive(Debug)]
pub(super) struct Hosted {
    pub(super) place: Place,
    /// Its topic's name and its number.
    pub(super) name: PartitionDir,
    pub(super) dir: Arc<LogDir>,
    state: Mutex<State>,
}

/// What is known of the moment in which a replica is held.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// Time since the node started.
    pub(super) now: Duration,
    /// Milliseconds since 1970.
    pub(super) now_ms: i64,
    /// The metadata.
    pub(super) image: Arc<Image>,
    /// Where proposals of an ISR go.
    pub(super) proposals: mpsc::UnboundedSender<Proposal>,
}

/// The log of a replica, and who waits for something to happen to it.
#[derive(Debug)]
pub(super) struct State {
    pub(super) replica: Replica,
    pub(super) log: Log,
    pub(super) topic: Arc<TopicSettings>,
    /// Requests to produce that wait until what they wrote is committed.
    acks: BTreeMap<WaiterId, oneshot::Sender<Result<(), ProduceError>>>,
    watchers: Watchers,
    /// Requests to delete records that wait until all replicas have.
    deletions: Vec<(Offset, oneshot::Sender<Offset>)>,
    /// Whether it is no more: its log is closed, or about to be removed.
    is_gone: bool,
}

/// A batch that was written, or was in the log already.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) base: Offset,
    pub(super) log_start: Offset,
    /// What is to come before it is acknowledged, with acks=all.
    pub(super) committed: Option<Commitment>,
}

/// That a batch gets committed.
#[derive(Debug)]
pub(super) struct Commitment {
    pub(super) waiter: WaiterId,
    pub(super) result: oneshot::Receiver<Result<(), ProduceError>>,
}

/// Why a batch is not written.
#[derive(Debug)]
pub(super) enum Refused {
    /// It does not lead, or the batch does not go with what its producer wrote before.
    Replica(ProduceError),
    /// The log cannot have it.
    Log(LogError),
}

/// Why a replica cannot be used.
#[derive(Debug)]
pub(super) enum Unusable {
    /// It was stopped.
    Gone,
    /// Its directory has failed, just now or before.
    Failed(Option<LogError>),
}

impl Hosted {
    pub(super) fn new(
        place: Place,
        name: PartitionDir,
        dir: Arc<LogDir>,
        log: Log,
        replica: Replica,
        topic: Arc<TopicSettings>,
    ) -> Self {
        let state = State {
            replica,
            log,
            topic,
            acks: BTreeMap::new(),
            watchers: Watchers::default(),
            deletions: Vec::new(),
            is_gone: false,
        };
        Self {
            place,
            name,
            dir,
            state: Mutex::new(state),
        }
    }

    /// Holds the replica, and carries out what `act` leaves to be done. After an error of the disk
    /// it is offline; the caller sees to the others in the directory.
    pub(super) fn with<T>(
        &self,
        moment: &Moment,
        act: impl FnOnce(&mut State) -> Result<T, LogError>,
    ) -> Result<T, Unusable> {
        let mut state = self.state();
        if state.is_gone {
            return Err(Unusable::Gone);
        }
        if state.replica.role() == RoleKind::Offline || self.dir.is_failed() {
            state.fail(moment, self);
            return Err(Unusable::Failed(None));
        }
        let acted = act(&mut state).and_then(|acted| {
            state.carry_out(moment, self)?;
            Ok(acted)
        });
        match acted {
            Ok(acted) => {
                state.answer_deletions(moment);
                Ok(acted)
            }
            Err(error) => {
                state.fail(moment, self);
                Err(Unusable::Failed(Some(error)))
            }
        }
    }

    /// Ends it: whoever waits is told, and nobody can use it any more. `close` gets the log.
    pub(super) fn end<T>(
        &self,
        moment: &Moment,
        close: impl FnOnce(&mut State) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let mut state = self.state();
        let closed = close(&mut state);
        state.fail(moment, self);
        state.is_gone = true;
        closed
    }

    /// Takes note that the directory has failed.
    pub(super) fn fail(&self, moment: &Moment) {
        self.state().fail(moment, self);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes over the partition's state from the metadata.
    pub(super) fn update(&mut self, partition: &Partition, moment: &Moment) {
        let (now, brokers) = (moment.now, moment.image.cluster());
        self.replica.update(partition, now, brokers);
        // Who waits may be answered by another now.
        self.watchers.wake();
    }

    /// Goes by other settings.
    pub(super) fn set_topic(&mut self, topic: &Arc<TopicSettings>) {
        if self.topic != *topic {
            self.replica.set_settings(topic.replication);
            self.log.set_options(topic.log);
            self.topic = Arc::clone(topic);
        }
    }

    /// Tells `watch` of the next change, under this name.
    pub(super) fn watch(&mut self, watch: &Arc<Watch>, name: u64) {
        self.watchers.add(watch, name);
    }

    /// Tells those who watch of a change.
    pub(super) fn wake(&mut self) {
        self.watchers.wake();
    }

    /// Writes a batch of a client.
    pub(super) fn produce(
        &mut self,
        batch: RecordBatch,
        acks: Acks,
        moment: &Moment,
        hosted: &Hosted,
    ) -> Result<Result<Written, Refused>, LogError> {
        let (base, end) = match self.replica.admit(batch.header(), acks) {
            Err(refused) => return Ok(Err(Refused::Replica(refused))),
            Ok(Admission::Duplicate(known)) => {
                (known.first_offset(), Offset(known.last_offset.0 + 1))
            }
            Ok(Admission::Append(prepared)) => {
                let epoch = self.replica.leader_epoch();
                let segment = self.log.segments().last();
                let bytes = batch.into_bytes();
                let appended = self.log.append_assigning(bytes, epoch, None, moment.now_ms);
                let appended = match unless_disk(appended)? {
                    Ok(appended) => appended,
                    Err(error) => return Ok(Err(Refused::Log(error))),
                };
                assert_eq!(
                    appended.first,
                    prepared.base(),
                    "the log and its replica end at the same offset"
                );
                if self.log.segments().last() != segment {
                    producers::save(&self.log, self.replica.producers())?;
                }
                let written = (prepared.base(), prepared.end());
                for (follower, at) in self.watchers.followers() {
                    self.replica.asked_again(follower, at);
                }
                self.replica
                    .appended(prepared, moment.now, moment.image.cluster());
                self.carry_out(moment, hosted)?;
                self.watchers.wake();
                written
            }
        };
        let committed = match acks {
            Acks::All => match self.replica.await_commit(end) {
                Err(refused) => return Ok(Err(Refused::Replica(refused))),
                Ok(None) => None,
                Ok(Some(waiter)) => {
                    let (sender, result) = oneshot::channel();
                    self.acks.insert(waiter, sender);
                    Some(Commitment { waiter, result })
                }
            },
            Acks::None | Acks::Leader => None,
        };
        Ok(Ok(Written {
            base,
            log_start: self.replica.log().start(),
            committed,
        }))
    }

    /// Gives up waiting, and says whether no answer had come.
    pub(super) fn stop_waiting(&mut self, waiter: WaiterId) -> bool {
        self.acks.remove(&waiter);
        self.replica.stop_waiting(waiter)
    }

    /// Writes what the leader sent. Where the log refuses it nothing has changed.
    pub(super) fn replicate(
        &mut self,
        replication: Replication,
        moment: &Moment,
    ) -> Result<Result<(), LogError>, LogError> {
        let segment = self.log.segments().last();
        let appended = self.log.append(replication.bytes.clone(), moment.now_ms);
        if let Err(error) = unless_disk(appended)? {
            return Ok(Err(error));
        }
        if let Err(error) = self.replica.replicated(replication) {
            // The records are in the log and in its state; what they say of producers is not.
            tracing::warn!(%error, "records of the leader that tell of producers cannot be read");
        }
        if self.log.segments().last() != segment {
            producers::save(&self.log, self.replica.producers())?;
        }
        Ok(Ok(()))
    }

    /// Deletes the records before an offset, and says where the deletion has come to; none where
    /// some replicas have yet to follow.
    pub(super) fn await_deletion(
        &mut self,
        before: Offset,
        moment: &Moment,
    ) -> Result<Offset, oneshot::Receiver<Offset>> {
        if let Ok(low) = self.replica.low_watermark(moment.image.cluster())
            && low >= before
        {
            return Ok(low);
        }
        let (sender, result) = oneshot::channel();
        self.deletions.push((before, sender));
        Err(result)
    }

    fn answer_deletions(&mut self, moment: &Moment) {
        if self.deletions.is_empty() {
            return;
        }
        match self.replica.low_watermark(moment.image.cluster()) {
            Ok(low) => {
                let done = |(before, sender): &mut (Offset, oneshot::Sender<Offset>)| {
                    *before <= low || sender.is_closed()
                };
                for (_, sender) in self.deletions.extract_if(.., done) {
                    let _ = sender.send(low);
                }
            }
            // Who waits asks again, and finds the new leader.
            Err(_) => self.deletions.clear(),
        }
    }

    /// Does what the machine wants done, in its order.
    pub(super) fn carry_out(&mut self, moment: &Moment, hosted: &Hosted) -> Result<(), LogError> {
        while let Some(output) = self.replica.poll_output() {
            match output {
                Output::BeginEpoch { epoch, start } => self.begin_epoch(epoch, start)?,
                Output::Truncate(end) => {
                    hosted.dir.lower_recovery_point(&hosted.name, end)?;
                    let end = self.log.truncate_to(end)?;
                    self.replica.truncated(end);
                }
                Output::Restart(at) => {
                    hosted.dir.lower_recovery_point(&hosted.name, Offset(0))?;
                    self.log.reset_to(at)?;
                }
                Output::RebuildProducers => {
                    let producers = producers::load(&self.log)?;
                    self.replica.set_producers(producers);
                }
                Output::DeleteBefore(offset) => {
                    self.log.delete_before(offset)?;
                    self.watchers.wake();
                }
                Output::AlterPartition(proposal) => {
                    // Nobody takes them when the node stops.
                    let _ = moment.proposals.send(Proposal {
                        place: hosted.place,
                        proposal,
                    });
                }
                Output::Acked(acked) => self.acknowledge(acked),
                Output::HighWatermark(_) => self.watchers.wake(),
            }
        }
        Ok(())
    }

    fn begin_epoch(&mut self, epoch: LeaderEpoch, start: Offset) -> Result<(), LogError> {
        assert_eq!(
            start,
            self.log.end(),
            "the log and its replica end at the same offset"
        );
        self.log.begin_epoch(epoch)
    }

    fn acknowledge(&mut self, acked: Acked) {
        if let Some(waiting) = self.acks.remove(&acked.waiter) {
            // It may have given up.
            let _ = waiting.send(acked.result);
        }
    }

    /// Does nothing any more: nothing of its log is to be trusted.
    fn fail(&mut self, moment: &Moment, hosted: &Hosted) {
        self.replica.fail();
        while let Some(output) = self.replica.poll_output() {
            if let Output::Acked(acked) = output {
                self.acknowledge(acked);
            }
        }
        self.deletions.clear();
        self.watchers.wake();
        tracing::trace!(place = %hosted.place, now = ?moment.now, "offline");
    }
}

/// Tells errors of the disk, after which nothing is to be trusted, from those of what was asked.
fn unless_disk<T>(outcome: Result<T, LogError>) -> Result<Result<T, LogError>, LogError> {
    match outcome {
        Err(error @ (LogError::Io { .. } | LogError::Failed { .. })) => Err(error),
        other => Ok(other),
    }
}
