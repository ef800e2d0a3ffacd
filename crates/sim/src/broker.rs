//! What a scripted broker has: on its disk, and while it runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use klamm_metadata::{Image, Loader, Place, Replicas};
use klamm_protocol::{BrokerId, LeaderEpoch, Offset, PartitionEpoch, Uuid};

use crate::data::DataLog;

/// A broker.
#[derive(Debug, Default)]
pub(crate) struct Broker {
    /// Its log directories, those included that have failed.
    pub(crate) dirs: Vec<Uuid>,
    /// Those that have failed.
    pub(crate) failed: BTreeSet<Uuid>,
    /// The file that a clean stop leaves: the epoch that the broker had.
    pub(crate) clean_stop: Option<i64>,
    /// Its replicas.
    pub(crate) replicas: BTreeMap<Place, Replica>,
    /// Which of its connections are the present ones.
    pub(crate) connection: u64,
    /// What it has while it runs.
    pub(crate) run: Run,
}

/// What a broker has while it runs.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) incarnation: Uuid,
    /// The epoch of the run before, where that stopped cleanly.
    pub(crate) previous_epoch: i64,
    /// The metadata as far as it knows it to be committed.
    pub(crate) loader: Loader,
    /// The end of what the loader has.
    pub(crate) applied: Offset,
    /// The epoch of its registration.
    pub(crate) epoch: Option<i64>,
    pub(crate) unfenced: bool,
    pub(crate) stopping: bool,
    /// Requests that wait for an answer.
    pub(crate) open: BTreeMap<u64, Errand>,
    pub(crate) next_beat: Duration,
    /// How often it was told in a row that its registration is not the present one.
    pub(crate) disowned: u32,
    /// Fetches under way, and until when an answer is waited for.
    pub(crate) fetching: BTreeMap<BrokerId, Duration>,
}

/// What a request to the controller is about. There is one of each at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Errand {
    Register,
    Beat,
    AlterPartition,
    AssignDirs,
}

impl Broker {
    pub(crate) fn image(&self) -> &Image {
        self.run.loader.image()
    }

    /// Whether it knows all that was committed before its registration, and so what it has to do.
    pub(crate) fn is_ready(&self) -> bool {
        self.run
            .epoch
            .is_some_and(|epoch| self.run.applied.0 > epoch)
    }

    pub(crate) fn is_out_on(&self, errand: Errand) -> bool {
        self.run.open.values().any(|open| *open == errand)
    }

    pub(crate) fn online_dirs(&self) -> impl Iterator<Item = Uuid> {
        let online = self.dirs.iter().copied();
        online.filter(|id| !self.failed.contains(id))
    }

    /// A replica whose directory is online.
    pub(crate) fn online(&mut self, place: Place) -> Option<&mut Replica> {
        let replica = self.replicas.get_mut(&place)?;
        (!self.failed.contains(&replica.dir)).then_some(replica)
    }
}

/// A replica of a partition.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) log: DataLog,
    /// Everything before is committed.
    pub(crate) high_watermark: usize,
    pub(crate) dir: Uuid,
    /// What the broker last did of the partition's state; nothing since it started without one.
    pub(crate) known: Option<Known>,
    /// What it has while it leads.
    pub(crate) lead: Option<Leading>,
}

/// A state of a partition that a broker has acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) leader: BrokerId,
    pub(crate) leader_epoch: LeaderEpoch,
    pub(crate) partition_epoch: PartitionEpoch,
}

/// What a leader knows.
#[derive(Debug)]
pub(crate) struct Leading {
    /// Where its epoch begins, and when it began.
    pub(crate) start: usize,
    pub(crate) began: Duration,
    pub(crate) isr: Replicas,
    /// The ISR that it has asked for.
    pub(crate) wanted: Option<Wanted>,
    pub(crate) followers: BTreeMap<BrokerId, Follower>,
    /// Records that are to be acknowledged, by offset.
    pub(crate) waiting: VecDeque<(usize, u64)>,
    pub(crate) min_isr: usize,
}

/// An ISR that a leader asks for. Until it is known what became of it, both count.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The brokers, with the epochs that they fetched with.
    pub(crate) isr: Vec<(BrokerId, i64)>,
    pub(crate) partition_epoch: PartitionEpoch,
    /// Whether the request that is under way asks for it.
    pub(crate) asked: bool,
    /// Whether the controller has refused it, and nothing is to be expected but news of the metadata.
    pub(crate) refused: bool,
}

/// What a leader knows of a follower.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Follower {
    pub(crate) end: usize,
    /// The epoch of its registration.
    pub(crate) epoch: i64,
    pub(crate) caught_up: Duration,
    /// When it fetched last, and where the leader's log ended then.
    pub(crate) last: (Duration, usize),
}

impl Leading {
    /// Where everybody is who is in sync, or may be: the committed records end there.
    pub(crate) fn reached(&self, own: BrokerId, own_end: usize) -> Option<usize> {
        if self.isr.len() < self.min_isr {
            return None;
        }
        let wanted = self.wanted.iter().flat_map(|wanted| &wanted.isr);
        let members = self.isr.iter().copied().chain(wanted.map(|(id, _)| *id));
        let end = |id: BrokerId| match self.followers.get(&id) {
            _ if id == own => own_end,
            Some(follower) => follower.end,
            None => 0,
        };
        members.map(end).min()
    }
}
