//! Nodes, a network between them, and time that jumps from event to event.

mod events;
mod faults;
mod network;
mod node;
mod workload;

use std::collections::BTreeMap;
use std::time::Duration;

use fastrand::Rng;
use klamm_protocol::{BrokerId, Offset, Uuid, VersionRange};
use klamm_raft::{Endpoint, Endpoints, Now, Output, ReplicaKey, Settings, Voter, VoterSet};

use self::events::{Event, Queue};
use self::network::Network;
use self::node::Node;
use crate::checker::Checker;
use crate::disk::Disk;
use crate::plan::Plan;
use crate::wire::Offers;
use crate::{Failure, Report};

/// The listener of the controllers.
const LISTENER: &str = "CONTROLLER";

/// How long a healed cluster may take to commit a record on all of its nodes.
const RECOVERY: Duration = Duration::from_secs(60);

/// The most events of a run: more are a machine that goes in circles.
const MAX_EVENTS: u64 = 2_000_000;

/// A run.
pub(crate) struct Cluster {
    plan: Plan,
    rng: Rng,
    now: Duration,
    nodes: BTreeMap<BrokerId, Node>,
    network: Network,
    queue: Queue,
    checker: Checker,
    report: Report,
    trace: Option<Vec<String>>,
    failed: Option<String>,
    healed: bool,
}

impl Cluster {
    pub(crate) fn new(plan: Plan, traced: bool) -> Self {
        let mut rng = Rng::with_seed(plan.seed ^ 0x5eed);
        let voter_ids = (1..=plan.voters).map(|id| BrokerId(id as i32));
        let observer_ids = (101..101 + plan.observers).map(|id| BrokerId(id as i32));
        let voters: VoterSet = voter_ids
            .clone()
            .map(|id| voter(id, plan.dynamic))
            .collect();
        let nodes = voter_ids.chain(observer_ids).map(|id| {
            let offers = match rng.u8(..4) {
                0 => Offers {
                    vote: rng.i16(1..=2),
                    epoch: 1,
                    fetch: rng.i16(17..=18),
                },
                _ => Offers::LATEST,
            };
            let disk = Disk::new(voters.clone(), plan.dynamic);
            let seed = rng.u64(..);
            (id, Node::new(settings(id, &plan, seed), disk, offers))
        });
        Self {
            nodes: nodes.collect(),
            rng,
            now: Duration::ZERO,
            network: Network::default(),
            queue: Queue::default(),
            checker: Checker::default(),
            report: Report::default(),
            trace: traced.then(Vec::new),
            failed: None,
            healed: false,
            plan,
        }
    }

    /// Runs to the end: first with faults, then without, when the cluster has to recover.
    pub(crate) fn run(mut self) -> (Result<Report, Failure>, Vec<String>) {
        let ids: Vec<BrokerId> = self.nodes.keys().copied().collect();
        for id in &ids {
            self.queue.push(Duration::ZERO, Event::Start(*id));
        }
        self.queue.push(self.plan.append_every, Event::Propose);
        for (every, event) in [
            (self.plan.crash_every, Event::Crash),
            (self.plan.partition_every, Event::Partition),
            (self.plan.resign_every, Event::Resign),
            (self.plan.snapshot_every, Event::Snapshot),
        ] {
            if let Some(every) = every {
                self.queue.push(every, event);
            }
        }
        let faulty = self.plan.faulty;
        self.run_until(faulty, |_| false);
        self.heal(&ids);
        let end = self.now + RECOVERY;
        // Whatever the leader appends from now on has to get to every node.
        let target = Offset(
            self.nodes
                .values()
                .map(|node| node.disk.end().0)
                .max()
                .unwrap_or(0)
                + 1,
        );
        let recovered = self.run_until(end, |cluster| {
            cluster.nodes.values().all(|node| {
                let raft = node.raft.as_ref();
                raft.and_then(|raft| raft.high_watermark()) >= Some(target)
            })
        });
        if !recovered && self.failed.is_none() {
            self.failed = Some(format!(
                "no recovery: offset {target} is not committed everywhere"
            ));
        }
        self.report.committed = self.checker.end();
        let trace = self.trace.take().unwrap_or_default();
        let result = match self.failed {
            None => Ok(self.report),
            Some(what) => Err(Failure {
                seed: self.plan.seed,
                at: self.now,
                what,
            }),
        };
        (result, trace)
    }

    /// Runs up to a time, or until something holds. Says whether it does.
    fn run_until(&mut self, end: Duration, holds: impl Fn(&Self) -> bool) -> bool {
        while self.failed.is_none() {
            if holds(self) {
                return true;
            }
            let Some((at, event)) = self.queue.pop_until(end) else {
                self.now = end;
                return false;
            };
            self.now = at;
            self.report.events += 1;
            if self.report.events > MAX_EVENTS {
                self.failed = Some("too many events: a machine goes in circles".into());
                return false;
            }
            self.happen(event);
        }
        false
    }

    fn heal(&mut self, ids: &[BrokerId]) {
        self.log(None, "--- the faults end");
        self.healed = true;
        self.network.heal();
        for id in ids {
            if self.nodes[id].raft.is_none() {
                self.queue.push(self.now, Event::Start(*id));
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Start(id) => self.start(id),
            Event::Tick { node, life } => self.with_raft(node, life, |raft, now| raft.tick(now)),
            Event::Flushed { node, life, append } => {
                if self.nodes[&node].life == life {
                    self.node(node).disk.flush(append);
                    self.with_raft(node, life, |raft, now| raft.flushed(append, now));
                }
            }
            Event::Deliver(delivery) => self.deliver(delivery),
            Event::Propose => self.propose(),
            Event::Crash => self.crash_one(),
            Event::Partition => self.partition(),
            Event::Resign => self.resign_one(),
            Event::Snapshot => self.snapshot_one(),
        }
    }

    fn start(&mut self, id: BrokerId) {
        let now = self.clock();
        let node = self.node(id);
        if node.raft.is_some() {
            return;
        }
        node.start(now);
        let life = node.life;
        self.checker.restarted(id);
        self.log(Some(id), "starts");
        self.with_raft(id, life, |_, _| {});
    }

    /// Gives a machine an input, if it is still the one that it is for, and carries its outputs out.
    fn with_raft(
        &mut self,
        id: BrokerId,
        life: u64,
        input: impl FnOnce(&mut klamm_raft::Raft, Now),
    ) {
        let now = self.clock();
        let node = self.node(id);
        if node.life != life {
            return;
        }
        let Some(raft) = &mut node.raft else {
            return;
        };
        input(raft, now);
        // A crash may come between any two outputs.
        let doomed = !self.healed && self.plan.crash_every.is_some() && self.rng.u16(..500) == 0;
        let mut left = if doomed {
            self.rng.usize(..4)
        } else {
            usize::MAX
        };
        loop {
            let next = self
                .node(id)
                .raft
                .as_mut()
                .and_then(|raft| raft.poll_output());
            let Some(output) = next else {
                break;
            };
            if left == 0 {
                return self.crash(id);
            }
            left -= 1;
            if let Err(what) = self.carry_out(id, output) {
                self.failed = Some(what);
                return;
            }
        }
        let deadline = self.node(id).raft.as_ref().and_then(|raft| raft.deadline());
        if let Some(at) = deadline {
            // Spurious ticks do no harm, so none is ever taken back.
            let at = at.max(self.now);
            if self
                .node(id)
                .next_tick
                .is_none_or(|next| next > at || next <= now.elapsed)
            {
                self.node(id).next_tick = Some(at);
                self.queue.push(at, Event::Tick { node: id, life });
            }
        }
    }

    fn carry_out(&mut self, id: BrokerId, output: Output) -> Result<(), String> {
        if self.trace.is_some() && !matches!(output, Output::Send(_) | Output::Answer(_)) {
            self.log(Some(id), &format!("{output:?}"));
        }
        match output {
            Output::Persist(state) => {
                self.checker.persisted(id, state)?;
                self.node(id).disk.persist(state);
            }
            Output::Append(append) => {
                self.node(id).disk.append(&append)?;
                let life = self.node(id).life;
                let at = self.now + self.up_to(self.plan.flush);
                let append = append.id;
                self.queue.push(
                    at,
                    Event::Flushed {
                        node: id,
                        life,
                        append,
                    },
                );
            }
            Output::Truncate(end) => {
                self.node(id).disk.truncate(end);
                self.report.truncations += 1;
                self.check_kept(id)?;
            }
            Output::WriteSnapshot(part) => self.node(id).disk.write_snapshot(&part)?,
            Output::InstallSnapshot(snapshot) => {
                let (len, control) = self.node(id).disk.install(snapshot)?;
                self.checker.installed(id, &self.nodes[&id].disk)?;
                let now = self.clock();
                if let Some(raft) = &mut self.node(id).raft {
                    raft.snapshot_installed(snapshot, len, &control, now);
                }
                self.report.installs += 1;
                self.check_kept(id)?;
            }
            Output::Send(send) => self.send(id, &send),
            Output::Answer(answer) => self.reply(id, answer)?,
            Output::HighWatermark(offset) => {
                let node = &self.nodes[&id];
                let voters = node.raft.as_ref().map(|raft| raft.voters().clone());
                let disks = |id| self.nodes.get(&id).map(|node| &node.disk);
                let voters = voters.unwrap_or_default();
                self.checker
                    .committed(id, offset, &node.disk, &voters, disks)?;
            }
            Output::Leadership(leadership) => {
                self.report.elections += u64::from(leadership.start.is_some());
                let disk = &self.nodes[&id].disk;
                self.checker.leadership(id, leadership, disk)?;
            }
            Output::Incident(incident) => Checker::incident(id, &incident)?,
        }
        Ok(())
    }

    fn check_kept(&self, id: BrokerId) -> Result<(), String> {
        let voters = self.nodes[&id].raft.as_ref().map(|raft| raft.voters());
        let disks = |id| self.nodes.get(&id).map(|node| &node.disk);
        match voters {
            Some(voters) => self.checker.kept(id, voters, disks),
            None => Ok(()),
        }
    }

    fn up_to(&mut self, longest: Duration) -> Duration {
        Duration::from_micros(self.rng.u64(..=longest.as_micros() as u64))
    }

    fn node(&mut self, id: BrokerId) -> &mut Node {
        self.nodes.get_mut(&id).expect("nodes stay")
    }

    fn clock(&self) -> Now {
        Now {
            elapsed: self.now,
            timestamp_ms: 1_700_000_000_000 + self.now.as_millis() as i64,
        }
    }

    fn log(&mut self, node: Option<BrokerId>, what: &str) {
        let seconds = self.now.as_secs_f64();
        if let Some(trace) = &mut self.trace {
            let node = node.map_or(String::new(), |id| id.to_string());
            trace.push(format!("{seconds:10.6} {node:>4} {what}"));
        }
    }
}

fn directory(id: BrokerId) -> Uuid {
    Uuid::from_bytes((id.0 as u128 + (1 << 64)).to_be_bytes())
}

fn endpoint(id: BrokerId) -> Endpoint {
    Endpoint {
        host: format!("node-{id}"),
        port: 9093,
    }
}

/// Static voters have no directory id, as with Apache Kafka.
fn voter(id: BrokerId, dynamic: bool) -> Voter {
    Voter {
        key: ReplicaKey {
            id,
            directory: dynamic.then(|| directory(id)),
        },
        endpoints: Endpoints::one(LISTENER, endpoint(id)),
        kraft_versions: VersionRange::new(0, i16::from(dynamic)),
    }
}

fn settings(id: BrokerId, plan: &Plan, seed: u64) -> Settings {
    Settings {
        cluster_id: "simulated".into(),
        bootstrap: (1..=plan.voters as i32)
            .map(|id| endpoint(BrokerId(id)))
            .collect(),
        seed,
        ..Settings::new(id, directory(id), LISTENER, endpoint(id))
    }
}
