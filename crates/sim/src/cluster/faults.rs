use std::time::Duration;

use klamm_protocol::BrokerId;

use super::Cluster;
use super::events::Event;

impl Cluster {
    pub(super) fn crash_one(&mut self) {
        self.again(self.plan.crash_every, Event::Crash);
        let up: Vec<BrokerId> = self
            .nodes
            .iter()
            .filter(|(_, node)| node.raft.is_some())
            .map(|(id, _)| *id)
            .collect();
        if !up.is_empty() && !self.healed {
            let index = self.rng.usize(..up.len());
            self.crash(up[index]);
        }
    }

    pub(super) fn crash(&mut self, id: BrokerId) {
        self.log(Some(id), "crashes");
        self.report.crashes += 1;
        self.broker_crashes(id);
        if let Some(controller) = self.controllers.get_mut(&id) {
            controller.crash();
        }
        self.news.retain(|(node, _)| *node != id);
        let mut rng = self.rng.fork();
        let forgetful = self.plan.forgetful;
        let node = self.node(id);
        node.crash();
        if forgetful {
            node.disk.forget();
        }
        node.disk.crash(&mut rng);
        let down = match self.rng.u8(..3) {
            0 => Duration::ZERO,
            _ => self.up_to(Duration::from_secs(5)),
        };
        self.queue.push(self.now + down, Event::Start(id));
    }

    /// A node stops in good order, and starts again later.
    pub(super) fn stop(&mut self, id: BrokerId) {
        let node = self.node(id);
        node.crash();
        node.disk.flush_all();
        self.news.retain(|(node, _)| *node != id);
        let down = self.up_to(Duration::from_secs(3));
        self.queue.push(self.now + down, Event::Start(id));
    }

    pub(super) fn partition(&mut self) {
        self.again(self.plan.partition_every, Event::Partition);
        if !self.healed {
            let ids: Vec<BrokerId> = self.nodes.keys().copied().collect();
            self.network.part(&ids, &mut self.rng);
            let what = format!("--- {:?}", self.network);
            self.log(None, &what);
        }
    }

    pub(super) fn resign_one(&mut self) {
        self.again(self.plan.resign_every, Event::Resign);
        let leader = self.nodes.iter().find_map(|(id, node)| {
            let raft = node.raft.as_ref()?;
            raft.is_leader().then_some((*id, node.life, raft.epoch()))
        });
        if let Some((id, life, epoch)) = leader
            && !self.healed
        {
            self.with_raft(id, life, |raft, now| raft.resign(epoch, now));
        }
    }

    pub(super) fn again(&mut self, every: Option<Duration>, event: Event) {
        if let Some(every) = every {
            let wait = self.up_to(every * 2);
            self.queue.push(self.now + wait, event);
        }
    }

    /// A node makes a snapshot of what it knows to be committed, and may remove the log before it.
    pub(super) fn snapshot_one(&mut self) {
        if self.healed {
            // Who removes snapshots sooner than they are fetched keeps others from recovery.
            return;
        }
        self.again(self.plan.snapshot_every, Event::Snapshot);
        let up: Vec<BrokerId> = self
            .nodes
            .iter()
            .filter(|(_, node)| node.raft.is_some())
            .map(|(id, _)| *id)
            .collect();
        if up.is_empty() {
            return;
        }
        let id = up[self.rng.usize(..up.len())];
        let trims = self.rng.bool();
        let node = self.node(id);
        let Some(raft) = &mut node.raft else {
            return;
        };
        let Some(end) = raft
            .high_watermark()
            .filter(|end| *end > raft.log().start())
        else {
            return;
        };
        if raft
            .log()
            .latest_snapshot()
            .is_some_and(|id| id.offset >= end)
        {
            return;
        }
        let Some((snapshot, len)) = node.disk.snapshot(end) else {
            return;
        };
        let made = raft.snapshot_made(snapshot, len);
        let trimmed = made.and_then(|()| if trims { raft.trim(snapshot) } else { Ok(()) });
        match trimmed {
            Err(error) => self.failed = Some(format!("{id}: {error}")),
            Ok(()) if trims => node.disk.trim(snapshot),
            Ok(()) => {}
        }
    }
}
