//! Brokers with disks, and what goes on between them.

use std::collections::BTreeMap;
use std::time::Duration;

use klamm_metadata::BrokerEpoch;
use klamm_protocol::records::{BatchBuilder, BatchOptions, Batches, NewRecord, RecordBatch};
use klamm_protocol::{
    BrokerId, Bytes, ErrorCode, LeaderEpoch, LeaderEpochs, Offset, PartitionEpoch,
};
use klamm_replica::{
    Acks, Admission, FetchAnswer, FetchPosition, Fetched, LogState, Output, Producers, ProposedIsr,
    Readable, Reader, Replica, RoleKind, Settings, WaiterId,
};

use crate::Step;
use crate::controller::Controller;

pub(crate) const BROKERS: usize = 3;
const MIN_ISR: usize = 2;

/// A broker with its disk.
struct Node {
    id: BrokerId,
    epoch: BrokerEpoch,
    disk: Vec<RecordBatch>,
    epochs: LeaderEpochs,
    high_watermark: Offset,
    replica: Option<Replica>,
    waiting: BTreeMap<WaiterId, RecordBatch>,
}

impl Node {
    fn end(&self) -> Offset {
        Offset(self.disk.len() as i64)
    }

    fn producers(&self) -> Producers {
        let mut producers = Producers::new(Offset(0));
        for batch in &self.disk {
            producers.replay(batch).unwrap();
        }
        producers
    }

    fn start(&mut self, epoch: BrokerEpoch) {
        let log = LogState::new(Offset(0), self.end(), Offset(0), self.epochs.clone());
        let settings = Settings {
            min_insync_replicas: MIN_ISR,
            lag_time_max: Duration::from_secs(10),
        };
        self.epoch = epoch;
        self.high_watermark = Offset(0);
        self.replica = Some(Replica::new(self.id, log, self.producers(), settings));
    }
}

pub(crate) struct World {
    controller: Controller,
    nodes: Vec<Node>,
    proposals: Vec<(BrokerId, BrokerEpoch, ProposedIsr)>,
    pub(crate) acknowledged: Vec<RecordBatch>,
    now: Duration,
    next: i64,
}

impl World {
    pub(crate) fn new() -> Self {
        let ids = (0..BROKERS as i32).map(BrokerId);
        let mut world = Self {
            controller: Controller {
                leader: Some(BrokerId(0)),
                leader_epoch: LeaderEpoch(0),
                partition_epoch: PartitionEpoch(0),
                isr: ids.clone().collect(),
                up: BTreeMap::new(),
            },
            nodes: Vec::new(),
            proposals: Vec::new(),
            acknowledged: Vec::new(),
            now: Duration::ZERO,
            next: 0,
        };
        for id in ids {
            world.nodes.push(Node {
                id,
                epoch: BrokerEpoch(0),
                disk: Vec::new(),
                epochs: LeaderEpochs::default(),
                high_watermark: Offset(0),
                replica: None,
                waiting: BTreeMap::new(),
            });
            world.start(id.0 as usize);
            world.tell(id.0 as usize);
        }
        world
    }

    pub(crate) fn step(&mut self, step: Step) {
        self.now += Duration::from_millis(10);
        match step {
            Step::Produce(broker, all) => self.produce(broker, all),
            Step::Fetch(broker) => self.fetch(broker),
            Step::Tell(broker) => self.tell(broker),
            Step::Answer(arrives) => self.answer(arrives),
            Step::Crash(broker) if self.nodes[broker].replica.take().is_some() => {
                self.nodes[broker].waiting.clear();
                self.controller.crash(BrokerId(broker as i32));
            }
            Step::Start(broker) if self.nodes[broker].replica.is_none() => self.start(broker),
            Step::Elect(broker) => {
                let broker = BrokerId(broker as i32);
                let may_lead = self.controller.isr.contains(&broker);
                if may_lead && self.controller.up.contains_key(&broker) {
                    self.controller.change(Some(broker));
                }
            }
            Step::Wait => {
                self.now += Duration::from_secs(11);
                for broker in 0..BROKERS {
                    if let Some(replica) = &mut self.nodes[broker].replica {
                        replica.tick(self.now);
                    }
                    self.carry_out(broker);
                }
            }
            Step::Crash(_) | Step::Start(_) => {}
        }
        self.check();
    }

    fn start(&mut self, broker: usize) {
        self.next += 1;
        let (id, epoch) = (BrokerId(broker as i32), BrokerEpoch(self.next));
        self.nodes[broker].start(epoch);
        self.controller.up.insert(id, epoch);
        if self.controller.leader.is_none() && self.controller.isr.contains(&id) {
            self.controller.change(Some(id));
        }
    }

    fn tell(&mut self, broker: usize) {
        let partition = self.controller.partition();
        if let Some(replica) = &mut self.nodes[broker].replica {
            replica.update(&partition, self.now, &self.controller);
        }
        self.carry_out(broker);
    }

    fn produce(&mut self, broker: usize, all: bool) {
        self.next += 1;
        let mut builder = BatchBuilder::new(BatchOptions::default());
        let record = NewRecord {
            value: Some(&self.next.to_be_bytes()),
            ..NewRecord::default()
        };
        builder.append(&record).unwrap();
        let batch = builder.finish().unwrap();
        let node = &mut self.nodes[broker];
        let Some(replica) = &mut node.replica else {
            return;
        };
        let acks = if all { Acks::All } else { Acks::Leader };
        let Ok(Admission::Append(prepared)) = replica.admit(batch.header(), acks) else {
            return;
        };
        let batch = batch.restamped(&prepared.stamp());
        node.disk.push(batch.clone());
        node.epochs.assign(replica.leader_epoch(), prepared.base());
        let end = prepared.end();
        replica.appended(prepared, self.now, &self.controller);
        if all {
            match replica.await_commit(end) {
                Ok(Some(waiter)) => drop(node.waiting.insert(waiter, batch)),
                Ok(None) => self.acknowledged.push(batch),
                Err(_) => {}
            }
        }
        self.carry_out(broker);
    }

    fn fetch(&mut self, broker: usize) {
        let asked = self.nodes[broker]
            .replica
            .as_ref()
            .and_then(Replica::next_fetch);
        let Some(asked) = asked else {
            return;
        };
        let leader = asked.leader.0 as usize;
        let epoch = Some(self.nodes[broker].epoch);
        let Some(replica) = &mut self.nodes[leader].replica else {
            return;
        };
        let position = FetchPosition {
            current_leader_epoch: Some(asked.leader_epoch),
            offset: asked.offset,
            last_fetched_epoch: asked.last_fetched_epoch,
            log_start: asked.log_start,
        };
        let id = BrokerId(broker as i32);
        let reader = Reader::Replica { id, epoch };
        let reply = replica.fetch(&position, reader, self.now, &self.controller);
        let mut answer = FetchAnswer {
            error: ErrorCode::NONE,
            diverging: None,
            high_watermark: Offset(-1),
            log_start: Offset(-1),
            records: Bytes::new(),
        };
        match reply {
            Ok(reply) => {
                (answer.high_watermark, answer.log_start) = (reply.high_watermark, reply.log_start);
                match reply.found {
                    Readable::Diverging(end) => answer.diverging = Some(end),
                    Readable::Records { from, to } => {
                        let to = to.0.min(from.0 + 2) as usize;
                        let batches = &self.nodes[leader].disk[from.0 as usize..to];
                        let bytes: Vec<_> = batches.iter().map(|b| &b.bytes()[..]).collect();
                        answer.records = bytes.concat().into();
                    }
                }
            }
            Err(error) => answer.error = error.into(),
        }
        self.carry_out(leader);
        let node = &mut self.nodes[broker];
        let replica = node.replica.as_mut().unwrap();
        let fetched = replica.fetched(&asked, answer).unwrap();
        self.carry_out(broker);
        if let Fetched::Append(replication) = fetched {
            let node = &mut self.nodes[broker];
            for batch in Batches::new(replication.bytes.clone()) {
                let batch = RecordBatch::parse(batch.unwrap().bytes().clone()).unwrap();
                let header = *batch.header();
                assert_eq!(header.base_offset, node.end());
                node.epochs
                    .assign(header.partition_leader_epoch, header.base_offset);
                node.disk.push(batch);
            }
            node.replica
                .as_mut()
                .unwrap()
                .replicated(replication)
                .unwrap();
            self.carry_out(broker);
        }
    }

    fn answer(&mut self, arrives: bool) {
        if self.proposals.is_empty() {
            return;
        }
        let (from, epoch, proposal) = self.proposals.remove(0);
        let answer = self.controller.alter(from, &proposal);
        let answer = if arrives {
            answer
        } else {
            Err(ErrorCode::NETWORK_EXCEPTION)
        };
        let node = &mut self.nodes[from.0 as usize];
        if let Some(replica) = &mut node.replica
            && node.epoch == epoch
        {
            replica.isr_answered(proposal.id, answer, self.now, &self.controller);
            self.carry_out(from.0 as usize);
        }
    }

    fn carry_out(&mut self, broker: usize) {
        let node = &mut self.nodes[broker];
        while let Some(output) = node.replica.as_mut().and_then(Replica::poll_output) {
            match output {
                Output::BeginEpoch { epoch, start } => {
                    assert!(node.epochs.assign(epoch, start));
                }
                Output::Truncate(end) => {
                    node.disk.truncate(end.0 as usize);
                    node.epochs.truncate(end);
                }
                Output::RebuildProducers => {
                    let producers = node.producers();
                    node.replica.as_mut().unwrap().set_producers(producers);
                }
                Output::AlterPartition(proposal) => {
                    self.proposals.push((node.id, node.epoch, proposal));
                }
                Output::Acked(acked) => {
                    let batch = node.waiting.remove(&acked.waiter).unwrap();
                    if acked.result.is_ok() {
                        self.acknowledged.push(batch);
                    }
                }
                Output::HighWatermark(to) => {
                    assert!(to > node.high_watermark, "the high watermark goes back");
                    node.high_watermark = to;
                }
                Output::Restart(_) | Output::DeleteBefore(_) => {
                    panic!("nothing is deleted here: {output:?}");
                }
            }
        }
    }

    fn check(&self) {
        for node in &self.nodes {
            let Some(replica) = &node.replica else {
                continue;
            };
            assert_eq!(replica.log().end(), node.end());
            assert_eq!(replica.log().epochs(), &node.epochs);
            assert_eq!(replica.log().high_watermark(), node.high_watermark);
            for other in &self.nodes {
                let committed = node.high_watermark.min(other.high_watermark).0 as usize;
                assert_eq!(node.disk[..committed], other.disk[..committed]);
            }
        }
        // Whoever the controller lets lead has all that was acknowledged.
        for id in &self.controller.isr {
            let disk = &self.nodes[id.0 as usize].disk;
            for batch in &self.acknowledged {
                let at = batch.header().base_offset.0 as usize;
                assert_eq!(
                    disk.get(at),
                    Some(batch),
                    "{id} has lost an acknowledged record"
                );
            }
        }
    }

    /// Everything runs, and goes on until nothing changes.
    pub(crate) fn settle(&mut self) {
        for broker in 0..BROKERS {
            self.step(Step::Start(broker));
        }
        for round in 0..60 {
            for broker in 0..BROKERS {
                self.step(Step::Tell(broker));
                self.step(Step::Fetch(broker));
                self.step(Step::Answer(true));
            }
            if round % 20 == 10 {
                self.step(Step::Produce(
                    self.controller.leader.unwrap().0 as usize,
                    true,
                ));
            }
        }
        let leader = &self.nodes[self.controller.leader.unwrap().0 as usize];
        assert_eq!(leader.replica.as_ref().unwrap().role(), RoleKind::Leader);
        assert_eq!(self.controller.isr.len(), BROKERS);
        for node in &self.nodes {
            assert_eq!(node.disk, leader.disk);
            assert_eq!(node.high_watermark, leader.end());
            assert!(node.waiting.is_empty());
        }
    }
}
