//! The active controller: one task owns the image, the sessions and the quorum, so that no handler
//! needs a lock.

mod activation;
mod active;
mod handle;
mod pace;
mod presence;
mod reading;
mod refusals;
mod rounds;
mod timers;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use klamm_controller::{Lost, Sessions};
use klamm_metadata::{AuthorizerConfig, CLUSTER_NAME, Image, Operation, ResourceType};
use klamm_protocol::Offset;
use klamm_raft::{Leadership, SendError};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::sleep_until;

pub(crate) use active::{Active, CommitError, Pending};
pub(crate) use handle::{Handle, Stopped, channels};
pub(crate) use pace::Pace;
pub(crate) use presence::{ConnectionId, Peer, Presence};
pub(crate) use reading::Readiness;

use crate::client::{Client, allows};
use crate::clock::{Clock, Now};
use crate::metrics::Meters;
use crate::node::NodeInfo;
use crate::quorum::{DiskEvent, Loaded, Quorum, QuorumAnswer, QuorumEvent, StoreError};
use active::Lead;
use handle::{Inputs, Work};
use refusals::Refusals;
use rounds::{RoundSettings, Rounds};

/// How many requests are taken before the controller looks at its clock again.
const MAX_AT_ONCE: usize = 100;

/// Why a controller stops by itself.
#[derive(Debug, Error)]
pub enum Fatal {
    /// The files of the metadata log are of no use any more.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory has no records that a cluster begins with.
    #[error(
        "the metadata log is empty, and the directory was formatted without bootstrap records; \
         format it again with klamm format"
    )]
    NoBootstrap,
    /// The first records cannot be written.
    #[error("the first records of this controller cannot be written: {0}")]
    Activation(String),
}

/// An answer that is told whether what it waits for is committed.
pub(crate) struct Waiter(Box<dyn FnOnce(bool) + Send>);

impl std::fmt::Debug for Waiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waiter")
    }
}

/// The controller of a node.
#[derive(Debug)]
pub(crate) struct Controller {
    clock: Clock,
    node: Arc<NodeInfo>,
    quorum: Quorum,
    presence: Presence,
    meters: Meters,
    lead: Option<Lead>,
    /// What is committed, while this node does not lead.
    standby: Image,
    /// Answers that wait for the high watermark, by offset.
    parked: VecDeque<(Offset, Waiter)>,
    failed: Option<Fatal>,
}

impl Controller {
    pub(crate) fn new(clock: Clock, node: Arc<NodeInfo>, quorum: Quorum) -> Self {
        Self {
            clock,
            node,
            quorum,
            presence: Presence::default(),
            meters: Meters::new(clock.elapsed()),
            lead: None,
            standby: Image::new(),
            parked: VecDeque::new(),
            failed: None,
        }
    }

    /// Runs until it is told to stop, or cannot go on.
    pub(crate) async fn run(mut self, mut inputs: Inputs) -> Result<(), Fatal> {
        let mut batch = Vec::with_capacity(MAX_AT_ONCE);
        loop {
            self.settle()?;
            let deadline = self.deadline().map(|at| self.clock.instant(at).into());
            let time_comes = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            let mut is_drained = true;
            let idle_since = self.clock.elapsed();
            tokio::select! {
                biased;
                _ = &mut inputs.stop => return Ok(()),
                Some(event) = inputs.disk.recv() => {
                    self.woke(idle_since);
                    self.disk_event(event)?;
                }
                Some(id) = inputs.closed.recv() => {
                    let now = self.woke(idle_since);
                    self.presence.closed(id, now);
                }
                count = inputs.work.recv_many(&mut batch, MAX_AT_ONCE) => {
                    if count == 0 {
                        // Nobody can reach it any more.
                        return Ok(());
                    }
                    is_drained = count < MAX_AT_ONCE;
                    let mut begun = self.woke(idle_since);
                    for Work { queued, run } in batch.drain(..) {
                        run(&mut self);
                        // The disk begins with it while the next one is decided.
                        self.settle()?;
                        let now = self.clock.elapsed();
                        self.meters.worked(queued, begun, now);
                        begun = now;
                    }
                }
                () = time_comes => {
                    self.woke(idle_since);
                }
            }
            self.tick(is_drained);
        }
    }

    /// Notes that there is something to do again, and says since when.
    fn woke(&mut self, idle_since: Duration) -> Duration {
        let now = self.clock.elapsed();
        self.meters.waited(idle_since, now);
        now
    }

    /// Carries out what the quorum wants done, until there is nothing left.
    fn settle(&mut self) -> Result<(), Fatal> {
        if let Some(fatal) = self.failed.take() {
            return Err(fatal);
        }
        loop {
            let now = self.clock.now();
            if self.lead.as_ref().is_some_and(|lead| lead.is_broken) {
                self.reload()?;
            }
            self.quorum.carry_out(now.into())?;
            match self.quorum.poll_event() {
                Some(QuorumEvent::Leadership(leadership)) => self.lead_or_follow(leadership)?,
                Some(QuorumEvent::Committed(offset)) => self.committed(offset)?,
                // A quorum of one has nobody to ask, and nobody to fetch snapshots from.
                Some(QuorumEvent::Send(send)) => {
                    let unreachable = Err(SendError::Unreachable);
                    self.quorum.answered(send.id, unreachable, now.into());
                }
                Some(QuorumEvent::Replaced(_)) => {
                    unreachable!("a quorum of one has nobody to fetch snapshots from")
                }
                None => return Ok(()),
            }
        }
    }

    fn disk_event(&mut self, event: DiskEvent) -> Result<(), Fatal> {
        let is_about_snapshot = matches!(
            event,
            DiskEvent::SnapshotMade { .. } | DiskEvent::SnapshotFailed(_)
        );
        if let DiskEvent::SnapshotMade { len, .. } = &event {
            self.meters.made_snapshot(*len, self.clock.elapsed());
        }
        if is_about_snapshot && let Some(lead) = &mut self.lead {
            lead.pace.ended();
        }
        Ok(self.quorum.disk_event(event, self.clock.now().into())?)
    }

    fn lead_or_follow(&mut self, leadership: Leadership) -> Result<(), Fatal> {
        tracing::info!(
            epoch = leadership.epoch.0,
            leader = leadership.leader.map_or(-1, |id| id.0),
            "metadata quorum"
        );
        self.meters.new_active_controllers += u64::from(leadership.leader.is_some());
        if self.lead.take().is_some() {
            self.meters.stopped_leading();
            for (_, Waiter(tell)) in self.parked.drain(..) {
                tell(false);
            }
        }
        match leadership.start {
            Some(_) => self.activate(leadership),
            None => self.stand_by(),
        }
    }

    fn stand_by(&mut self) -> Result<(), Fatal> {
        if let Some(committed) = self.quorum.raft().high_watermark() {
            self.quorum.settle_disk();
            self.standby = self.quorum.store().load(committed)?.loader.into_image();
        }
        Ok(())
    }

    /// Takes over as the active controller.
    fn activate(&mut self, leadership: Leadership) -> Result<(), Fatal> {
        self.quorum.settle_disk();
        let end = self.quorum.raft().log().end();
        let Loaded { loader, log_bytes } = self.quorum.store().load(end)?;
        let in_transaction = loader.in_transaction();
        let image = loader.into_image();
        let now = self.clock.now();
        let is_new = image.features().metadata_version().is_none();
        self.standby = Image::new();
        self.lead = Some(Lead {
            epoch: leadership.epoch,
            sessions: Sessions::new(
                self.node.settings.broker_session_timeout,
                image.cluster(),
                now.into(),
            ),
            pace: Pace::new(&self.node.settings.metadata_log, log_bytes, now.elapsed),
            rounds: Rounds::new(RoundSettings::of(&self.node.settings), now.elapsed),
            lost: self.awaited(&image, now),
            refusals: Refusals::default(),
            image,
            is_broken: false,
            begun_at: None,
        });
        self.presence = Presence::default();
        let mut records = Vec::new();
        if in_transaction {
            records.push(activation::abort_transaction());
        }
        if is_new {
            let bootstrap = self.quorum.store().bootstrap()?;
            if bootstrap.is_empty() {
                return Err(Fatal::NoBootstrap);
            }
            let min_isr = self.node.settings.controller.min_insync_replicas;
            records.extend(activation::first_records(bootstrap, min_isr));
        }
        let Some(mut active) = self.active() else {
            return Ok(());
        };
        let begun = active.append(&records, true).and_then(|_| {
            let cluster = active.lead.image.cluster();
            let registration = activation::registration(cluster, &active.node.registration);
            active.append(&Vec::from_iter(registration), true)
        });
        match begun {
            Ok(end) => {
                active.lead.begun_at = Some(end);
                Ok(())
            }
            Err(error) => Err(Fatal::Activation(error.to_string())),
        }
    }

    /// The fenced brokers that may come back with what they have alone: the controller before may have
    /// fenced them early.
    fn awaited(&self, image: &Image, now: Now) -> Lost {
        let settings = &self.node.settings;
        match settings.connection_loss_grace {
            None => Lost::default(),
            Some(_) => {
                let now = klamm_controller::Now::from(now);
                let session_end = now.after(settings.broker_session_timeout);
                Lost::new(image.cluster(), session_end)
            }
        }
    }

    /// Makes the image again from the log.
    fn reload(&mut self) -> Result<(), Fatal> {
        self.quorum.carry_out(self.clock.now().into())?;
        self.quorum.settle_disk();
        let end = self.quorum.raft().log().end();
        let image = self.quorum.store().load(end)?.loader.into_image();
        if let Some(lead) = &mut self.lead {
            lead.image = image;
            lead.is_broken = false;
        }
        Ok(())
    }

    fn committed(&mut self, offset: Offset) -> Result<(), Fatal> {
        self.meters.committed(offset, self.clock.elapsed());
        let ready = self.parked.partition_point(|(at, _)| *at <= offset);
        for (_, Waiter(tell)) in self.parked.drain(..ready) {
            tell(true);
        }
        if self.lead.is_none() {
            self.stand_by()?;
        }
        Ok(())
    }

    /// The active controller; `None` while this node is not it.
    pub(crate) fn active(&mut self) -> Option<Active<'_>> {
        let now = self.clock.now();
        Some(Active {
            lead: self.lead.as_mut()?,
            quorum: &mut self.quorum,
            presence: &mut self.presence,
            meters: &mut self.meters,
            node: &self.node,
            now,
            by: None,
        })
    }

    /// The cluster as this node knows it.
    pub(crate) fn image(&self) -> &Image {
        self.lead.as_ref().map_or(&self.standby, |lead| &lead.image)
    }

    /// The end of what [`Controller::image`] has.
    pub(crate) fn end(&self) -> Offset {
        match self.lead {
            Some(_) => self.quorum.raft().log().end(),
            None => self.quorum.raft().high_watermark().unwrap_or_default(),
        }
    }

    pub(crate) fn node(&self) -> &NodeInfo {
        &self.node
    }

    pub(crate) fn quorum(&self) -> &Quorum {
        &self.quorum
    }

    pub(crate) fn presence(&mut self) -> &mut Presence {
        &mut self.presence
    }

    /// Whether a client may do something to the cluster.
    pub(crate) fn allows_on_cluster(&self, client: &Client, operation: Operation) -> bool {
        let authorizer: Option<&AuthorizerConfig> = self.node.settings.authorizer.as_ref();
        let kind = ResourceType::Cluster;
        allows(
            self.image(),
            authorizer,
            client,
            operation,
            kind,
            CLUSTER_NAME,
        )
    }

    /// Tells `waiter` when everything before an offset is committed, or cannot be any more.
    pub(crate) fn park(&mut self, at: Offset, waiter: impl FnOnce(bool) + Send + 'static) {
        let committed = self.quorum.raft().high_watermark();
        if committed.is_some_and(|committed| at <= committed) {
            return waiter(true);
        }
        let after = self.parked.partition_point(|(parked, _)| *parked <= at);
        let waiter = Waiter(Box::new(waiter));
        self.parked.insert(after, (at, waiter));
    }

    /// Hands a request to KRaft.
    pub(crate) fn ask_quorum(
        &mut self,
        listener: &str,
        version: i16,
        request: klamm_raft::Request,
        answer: oneshot::Sender<QuorumAnswer>,
    ) {
        let now = self.clock.now().into();
        self.quorum.request(listener, version, request, answer, now);
    }

    fn deadline(&self) -> Option<Duration> {
        let of_quorum = self.quorum.deadline();
        of_quorum.into_iter().chain(self.own_deadline()).min()
    }
}
