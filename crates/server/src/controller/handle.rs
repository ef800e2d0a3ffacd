use std::fmt;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use super::Controller;
use super::presence::{ConnectionId, Peer};
use crate::clock::{Clock, Now};
use crate::quorum::DiskEvent;

/// How many requests wait for the controller at a time; connections that have more wait with them.
const MAX_QUEUED: usize = 1_000;

/// Something for the controller to do on its own task.
pub(super) struct Work {
    /// When it was handed over.
    pub(super) queued: Duration,
    pub(super) run: Box<dyn FnOnce(&mut Controller) + Send>,
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Work")
    }
}

/// How others reach the controller.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    work: mpsc::Sender<Work>,
    closed: mpsc::UnboundedSender<ConnectionId>,
    clock: Clock,
}

/// The controller has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the controller has stopped")]
pub(crate) struct Stopped;

impl Handle {
    /// Hands work over, and waits while there is too much of it.
    pub(crate) async fn run(
        &self,
        work: impl FnOnce(&mut Controller) + Send + 'static,
    ) -> Result<(), Stopped> {
        let work = Work {
            queued: self.clock.elapsed(),
            run: Box::new(work),
        };
        self.work.send(work).await.map_err(|_| Stopped)
    }

    /// Notes that a connection is gone.
    pub(crate) fn closed(&self, peer: &Peer) {
        peer.close();
        // A controller that has stopped needs no news.
        let _ = self.closed.send(peer.id);
    }

    /// How much work waits for the controller.
    pub(crate) fn queued(&self) -> usize {
        self.work.max_capacity() - self.work.capacity()
    }

    pub(crate) fn now(&self) -> Now {
        self.clock.now()
    }
}

/// What comes in to the controller's task.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(super) work: mpsc::Receiver<Work>,
    pub(super) closed: mpsc::UnboundedReceiver<ConnectionId>,
    pub(super) disk: mpsc::UnboundedReceiver<DiskEvent>,
    pub(super) stop: oneshot::Receiver<()>,
}

/// The channels of a controller: how others reach it, and what it listens to.
pub(crate) fn channels(
    clock: Clock,
    disk: mpsc::UnboundedReceiver<DiskEvent>,
    stop: oneshot::Receiver<()>,
) -> (Handle, Inputs) {
    let (work, queue) = mpsc::channel(MAX_QUEUED);
    let (closed, closings) = mpsc::unbounded_channel();
    let handle = Handle {
        work,
        closed,
        clock,
    };
    let inputs = Inputs {
        work: queue,
        closed: closings,
        disk,
        stop,
    };
    (handle, inputs)
}
