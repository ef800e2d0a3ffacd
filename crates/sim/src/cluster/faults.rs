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

    fn again(&mut self, every: Option<Duration>, event: Event) {
        if let Some(every) = every {
            let wait = self.up_to(every * 2);
            self.queue.push(self.now + wait, event);
        }
    }
}
