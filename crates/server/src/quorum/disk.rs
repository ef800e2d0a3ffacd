use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

use klamm_log::SnapshotId;
use klamm_raft::{Append, AppendId};
use tokio::sync::mpsc::UnboundedSender;

use super::snapshots::SnapshotError;
use super::store::{Store, StoreError};

/// What the disk tells the controller.
#[derive(Debug)]
pub(crate) enum DiskEvent {
    /// Everything up to this append is durable.
    Flushed(AppendId),
    /// A snapshot is complete and durable, of that many bytes; log and snapshots before `trim_to` may
    /// go.
    SnapshotMade {
        id: SnapshotId,
        len: u64,
        trim_to: Option<SnapshotId>,
    },
    /// A snapshot could not be made.
    SnapshotFailed(SnapshotError),
    /// The disk failed: nobody knows what is on it.
    Failed(StoreError),
}

enum Job {
    Append(Append, i64),
    /// Remove the log and the snapshots before a snapshot.
    Trim(SnapshotId),
    /// Say so when everything before is written and flushed.
    Barrier(SyncSender<()>),
}

/// The thread that writes the log. Appends that come while it flushes share the next flush.
#[derive(Debug)]
pub(crate) struct Disk {
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Disk {
    pub(crate) fn start(store: Arc<Store>, events: UnboundedSender<DiskEvent>) -> io::Result<Self> {
        let (jobs, queue) = channel();
        let run = move || {
            if let Err(error) = write(&store, &queue, &events) {
                // Nobody listens if the node is gone.
                let _ = events.send(DiskEvent::Failed(error));
            }
        };
        let thread = thread::Builder::new().name("klamm-disk".into());
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread.spawn(run)?),
        })
    }

    pub(crate) fn append(&self, append: Append, now_ms: i64) {
        self.send(Job::Append(append, now_ms));
    }

    pub(crate) fn trim(&self, id: SnapshotId) {
        self.send(Job::Trim(id));
    }

    /// Waits until everything before is written and flushed. False if the disk has failed.
    pub(crate) fn settle(&self) -> bool {
        let (done, is_done) = sync_channel(1);
        self.send(Job::Barrier(done));
        is_done.recv().is_ok()
    }

    /// What is sent after a failure is dropped: [`DiskEvent::Failed`] ends the node.
    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(
    store: &Store,
    queue: &Receiver<Job>,
    events: &UnboundedSender<DiskEvent>,
) -> Result<(), StoreError> {
    let mut unflushed = None;
    loop {
        let next = match unflushed {
            None => queue.recv().map_err(|_| TryRecvError::Disconnected),
            Some(_) => queue.try_recv(),
        };
        match next {
            Ok(Job::Append(append, now_ms)) => {
                store.log_mut().append(append.batches, now_ms)?;
                unflushed = Some(append.id);
            }
            Ok(Job::Trim(id)) => trim(store, id)?,
            Ok(Job::Barrier(done)) => {
                flush(store, &mut unflushed, events)?;
                let _ = done.send(());
            }
            Err(TryRecvError::Empty) => flush(store, &mut unflushed, events)?,
            Err(TryRecvError::Disconnected) => {
                flush(store, &mut unflushed, events)?;
                return Ok(());
            }
        }
    }
}

/// Flushes without a lock on the log, so that reads go on.
fn flush(
    store: &Store,
    unflushed: &mut Option<AppendId>,
    events: &UnboundedSender<DiskEvent>,
) -> Result<(), StoreError> {
    let Some(id) = unflushed.take() else {
        return Ok(());
    };
    let to_flush = store.log().unflushed()?;
    let flushed = to_flush.flush();
    store.log_mut().note_flushed(flushed)?;
    let _ = events.send(DiskEvent::Flushed(id));
    Ok(())
}

fn trim(store: &Store, id: SnapshotId) -> Result<(), StoreError> {
    store.log_mut().delete_before(id.end)?;
    for older in store.snapshots().list()? {
        // The bootstrap snapshot stays: it is what the directory was formatted with.
        if older < id && older != SnapshotId::BOOTSTRAP {
            store.snapshots().remove(older)?;
        }
    }
    Ok(())
}
