use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use klamm_protocol::BrokerId;
use klamm_raft::{AnswerId, Now, Raft, RequestId, Settings};

use crate::disk::Disk;
use crate::wire::{Frame, Offers};

/// A node: its disk, and its machine while it is up.
#[derive(Debug)]
pub(super) struct Node {
    settings: Settings,
    pub(super) offers: Offers,
    pub(super) disk: Disk,
    pub(super) raft: Option<Raft>,
    /// How often it has started.
    pub(super) life: u64,
    pub(super) next_tick: Option<Duration>,
    /// Requests that wait for an answer.
    pub(super) open: BTreeMap<AnswerId, Asked>,
    /// Its own requests that are under way.
    pub(super) sent: BTreeSet<RequestId>,
    next_answer: u64,
}

/// Who asked what.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) by: BrokerId,
    pub(super) life: u64,
    pub(super) request: RequestId,
    /// The connection that it came by, where a broker asked.
    pub(super) connection: u64,
    pub(super) frame: Frame,
}

impl Node {
    pub(super) fn new(settings: Settings, disk: Disk, offers: Offers) -> Self {
        Self {
            settings,
            offers,
            disk,
            raft: None,
            life: 0,
            next_tick: None,
            open: BTreeMap::new(),
            sent: BTreeSet::new(),
            next_answer: 0,
        }
    }

    pub(super) fn start(&mut self, now: Now) {
        self.life += 1;
        self.next_tick = None;
        let settings = Settings {
            seed: self.settings.seed.wrapping_add(self.life),
            ..self.settings.clone()
        };
        self.raft = Some(Raft::new(settings, self.disk.start(), now));
    }

    pub(super) fn crash(&mut self) {
        self.raft = None;
        self.open.clear();
        self.sent.clear();
    }

    pub(super) fn ask(&mut self, asked: Asked) -> AnswerId {
        self.next_answer += 1;
        let id = AnswerId(self.next_answer);
        self.open.insert(id, asked);
        id
    }
}
