use klamm_protocol::BrokerId;
use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};

use super::Cluster;
use super::events::Event;

impl Cluster {
    /// Appends records on a node that takes itself for the leader.
    pub(super) fn propose(&mut self) {
        let wait = self.up_to(self.plan.append_every * 2);
        self.queue.push(self.now + wait, Event::Propose);
        let leaders: Vec<(BrokerId, u64)> = self
            .nodes
            .iter()
            .filter(|(_, node)| node.raft.as_ref().is_some_and(|raft| raft.is_leader()))
            .map(|(id, node)| (*id, node.life))
            .collect();
        for (id, life) in leaders {
            self.report.proposals += 1;
            let number = self.report.proposals;
            let count = self.rng.u64(1..4);
            self.with_raft(id, life, |raft, now| {
                let mut builder = BatchBuilder::new(BatchOptions {
                    base_offset: raft.log().end(),
                    partition_leader_epoch: raft.epoch(),
                    ..BatchOptions::default()
                });
                for _ in 0..count {
                    let value = number.to_be_bytes();
                    let record = NewRecord {
                        value: Some(&value),
                        ..NewRecord::default()
                    };
                    builder.append(&record).expect("a short record");
                }
                let batch = builder.finish().expect("a batch with records");
                raft.append(raft.epoch(), batch.into_bytes(), now)
                    .expect("the leader appends where its log ends");
            });
        }
    }
}
