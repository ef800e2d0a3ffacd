//! The metadata as a broker observes it: its own copy of the log, and what committed records add up
//! to.

use std::sync::Arc;
use std::time::Duration;

use klamm_metadata::{Image, Loader};
use klamm_net::ServerAddress;
use klamm_protocol::Offset;
use klamm_raft::Node;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::sleep_until;

use super::feed::Feed;
use super::{ActiveController, Published, Touched};
use crate::clock::Clock;
use crate::controller::Pace;
use crate::quorum::{self, DiskEvent, Loaded, Outcome, Quorum, QuorumEvent, StoreError, Transport};
use crate::settings::MetadataLogSettings;

/// Follows the metadata quorum.
#[derive(Debug)]
pub(super) struct Observer {
    clock: Clock,
    settings: MetadataLogSettings,
    quorum: Quorum,
    transport: Transport,
    follower: Follower,
    pace: Pace,
    active: watch::Sender<Option<ActiveController>>,
    feed: Feed,
}

/// What comes in to the observer's task.
#[derive(Debug)]
pub(super) struct Inputs {
    pub(super) disk: mpsc::UnboundedReceiver<DiskEvent>,
    pub(super) outcomes: mpsc::UnboundedReceiver<Outcome>,
    pub(super) stop: oneshot::Receiver<()>,
}

/// Where an observer says what it sees.
#[derive(Debug)]
pub(super) struct Outputs {
    pub(super) active: watch::Sender<Option<ActiveController>>,
    pub(super) feed: Feed,
}

/// What committed records add up to.
#[derive(Debug, Default)]
struct Follower {
    loader: Loader,
    /// The offset after the last record that the loader has.
    end: Offset,
    /// What they touched since it was told.
    touched: Touched,
    /// What was told last.
    image: Arc<Image>,
    told: Option<(Offset, i16)>,
}

impl Observer {
    pub(super) fn new(
        clock: Clock,
        settings: MetadataLogSettings,
        quorum: Quorum,
        transport: Transport,
        outputs: Outputs,
    ) -> Result<Self, StoreError> {
        let mut observer = Self {
            pace: Pace::new(&settings, 0, clock.elapsed()),
            clock,
            settings,
            quorum,
            transport,
            follower: Follower::default(),
            active: outputs.active,
            feed: outputs.feed,
        };
        // A snapshot has committed records alone; of the log the leader has to say what is.
        let committed = observer.quorum.raft().high_watermark();
        observer.reload(committed.unwrap_or_default())?;
        Ok(observer)
    }

    /// Runs until it is told to stop, or cannot go on.
    pub(super) async fn run(mut self, mut inputs: Inputs) -> Result<(), StoreError> {
        loop {
            self.settle()?;
            let deadline = self.deadline().map(|at| self.clock.instant(at).into());
            let time_comes = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = &mut inputs.stop => return Ok(()),
                Some(event) = inputs.disk.recv() => self.disk_event(event)?,
                Some(Outcome { id, response }) = inputs.outcomes.recv() => {
                    self.quorum.answered(id, response, self.clock.now().into());
                }
                () = time_comes => {}
            }
            self.quorum.tick(self.clock.now().into());
        }
    }

    fn disk_event(&mut self, event: DiskEvent) -> Result<(), StoreError> {
        let is_about_snapshot = matches!(
            event,
            DiskEvent::SnapshotMade { .. } | DiskEvent::SnapshotFailed(_)
        );
        if is_about_snapshot {
            self.pace.ended();
        }
        self.quorum.disk_event(event, self.clock.now().into())
    }

    /// Carries out what the quorum wants done, until there is nothing left.
    fn settle(&mut self) -> Result<(), StoreError> {
        loop {
            let now = self.clock.now();
            self.quorum.carry_out(now.into())?;
            match self.quorum.poll_event() {
                Some(QuorumEvent::Leadership(leadership)) => {
                    tracing::info!(
                        epoch = leadership.epoch.0,
                        leader = leadership.leader.map_or(-1, |id| id.0),
                        "metadata quorum"
                    );
                }
                Some(QuorumEvent::Committed(offset)) => self.committed(offset)?,
                Some(QuorumEvent::Replaced(end)) => self.reload(end)?,
                Some(QuorumEvent::Send(send)) => self.transport.send(*send),
                None => break,
            }
        }
        self.tell();
        self.make_snapshot();
        Ok(())
    }

    /// Begins anew with what the files have up to an offset.
    fn reload(&mut self, end: Offset) -> Result<(), StoreError> {
        let Loaded { loader, log_bytes } = self.quorum.store().load(end)?;
        self.pace = Pace::new(&self.settings, log_bytes, self.clock.elapsed());
        self.follower = Follower {
            loader,
            end,
            touched: Touched::All,
            ..Follower::default()
        };
        Ok(())
    }

    fn committed(&mut self, offset: Offset) -> Result<(), StoreError> {
        let follower = &mut self.follower;
        let mut bytes = 0;
        let store = self.quorum.store();
        self.quorum.visit(follower.end, offset, &mut |batch| {
            for (at, record) in quorum::records(batch).map_err(store.replay_error())? {
                follower.touched.note(&record);
                let applied = follower.loader.apply(record);
                applied.map_err(|source| {
                    store.replay_error()(quorum::ReplayError::Apply { offset: at, source })
                })?;
            }
            bytes += batch.bytes().len();
            follower.end = Offset(batch.header().last_offset().0 + 1);
            Ok(())
        })?;
        if bytes > 0 {
            self.pace.wrote(bytes, self.clock.elapsed());
        }
        Ok(())
    }

    /// Tells who leads, and what is new.
    fn tell(&mut self) {
        let raft = self.quorum.raft();
        let epoch = raft.epoch();
        let active = raft
            .leader_node()
            .map(|Node { id, endpoint }| ActiveController {
                id,
                epoch,
                address: ServerAddress::new(endpoint.host, endpoint.port),
            });
        self.active.send_if_modified(|known| {
            let is_new = *known != active;
            *known = active;
            is_new
        });
        let kraft_version = raft.kraft_version().0;
        self.follower.tell(kraft_version, &self.feed);
    }

    fn make_snapshot(&mut self) {
        let now = self.clock.now();
        if self.may_make_snapshot() && self.pace.begin(now.elapsed) {
            let image = self.follower.loader.image().freeze();
            let (_, making) = self
                .quorum
                .snapshot(image, &self.settings, now.timestamp_ms);
            making.start();
        }
    }

    /// Whether all of the log is committed and in the image: a snapshot is of nothing less.
    fn may_make_snapshot(&self) -> bool {
        let follower = &self.follower;
        !follower.loader.in_transaction() && follower.end == self.quorum.raft().log().end()
    }

    fn deadline(&self) -> Option<Duration> {
        let of_pace = self.pace.deadline().filter(|_| self.may_make_snapshot());
        self.quorum.deadline().into_iter().chain(of_pace).min()
    }
}

impl Follower {
    /// Hands over what is new. What a transaction has is told when that has ended.
    fn tell(&mut self, kraft_version: i16, feed: &Feed) {
        let is_told = self.told == Some((self.end, kraft_version));
        if is_told || self.loader.in_transaction() || self.end == Offset(0) {
            return;
        }
        self.told = Some((self.end, kraft_version));
        if !self.touched.is_nothing() {
            self.image = Arc::new(self.loader.image().clone());
        }
        let published = Published {
            image: Arc::clone(&self.image),
            end: self.end,
            kraft_version,
        };
        feed.put(published, std::mem::take(&mut self.touched));
    }
}
