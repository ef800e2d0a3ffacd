//! Nodes, a network between them, and time that jumps from event to event.

mod brokers;
mod clients;
mod controllers;
mod events;
mod faults;
mod mail;
mod network;
mod node;
mod recovery;
mod setup;
mod workload;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use fastrand::Rng;
use klamm_protocol::BrokerId;
use klamm_raft::{Now, Output};

use self::clients::Client;
use self::controllers::News;
use self::events::{Alarm, Event, Queue};
use self::network::Network;
use self::node::Node;
use crate::broker::Broker;
use crate::checker::{Answers, Checker, Truth};
use crate::controller::Controller;
use crate::plan::Plan;
use crate::{Failure, Report};

/// The listener of the controllers.
const LISTENER: &str = "CONTROLLER";

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
    /// What runs on the quorum, in runs that have it.
    controllers: BTreeMap<BrokerId, Controller>,
    brokers: BTreeMap<BrokerId, Broker>,
    client: Client,
    truth: Truth,
    answers: Answers,
    /// What KRaft has told of late.
    news: VecDeque<(BrokerId, News)>,
    /// How many requests there were.
    tickets: u64,
}

impl Cluster {
    pub(crate) fn new(plan: Plan, traced: bool) -> Self {
        let mut rng = Rng::with_seed(plan.seed ^ 0x5eed);
        let nodes = setup::nodes(&plan, &mut rng);
        let brokers = setup::brokers(&plan, &mut rng);
        let controllers = setup::voter_ids(&plan).filter(|_| plan.brokers.is_some());
        Self {
            nodes,
            brokers,
            controllers: controllers.map(|id| (id, Controller::default())).collect(),
            client: Client::default(),
            truth: Truth::default(),
            answers: Answers::default(),
            news: VecDeque::new(),
            tickets: 0,
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
        self.schedule();
        let faulty = self.plan.faulty;
        self.run_until(faulty, |_| false);
        self.heal(&ids);
        match self.plan.brokers {
            Some(_) => self.recover_cluster(),
            None => self.recover_quorum(),
        }
        self.report.committed = self.checker.end();
        self.report.leaders = self.truth.elections;
        self.report.unclean = self.truth.unclean;
        self.report.acknowledged = self.truth.acknowledged.count;
        let trace = self.trace.take().unwrap_or_default();
        let result = match self.failed {
            None => Ok(self.report),
            Some(what) => Err(Failure {
                seed: self.plan.seed,
                controller: self.plan.brokers.is_some(),
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

    fn schedule(&mut self) {
        let brokers = self.plan.brokers.as_ref();
        for (every, event) in [
            (self.plan.crash_every, Event::Crash),
            (self.plan.partition_every, Event::Partition),
            (self.plan.resign_every, Event::Resign),
            (self.plan.snapshot_every, Event::Snapshot),
            (
                brokers.is_none().then_some(self.plan.append_every),
                Event::Propose,
            ),
            (brokers.map(|plan| plan.request_every), Event::Client),
            (brokers.map(|plan| plan.produce_every), Event::Produce),
            (brokers.and_then(|plan| plan.reset_every), Event::Reset),
            (brokers.and_then(|plan| plan.stop_every), Event::Stop),
            (
                brokers.and_then(|plan| plan.directory_every),
                Event::DirectoryFails,
            ),
        ] {
            if let Some(every) = every {
                self.queue.push(every, event);
            }
        }
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
            Event::Mail(mail) => self.arrive(mail),
            Event::Alarm(Alarm::Controller { node, life }) => self.controller_tick(node, life),
            Event::Alarm(Alarm::Broker { node, life }) => self.broker_tick(node, life),
            Event::Propose => self.propose(),
            Event::Crash => self.crash_one(),
            Event::Partition => self.partition(),
            Event::Resign => self.resign_one(),
            Event::Snapshot => self.snapshot_one(),
            Event::Client => self.client_asks(),
            Event::Produce => self.producer_writes(),
            Event::Reset => self.reset_one(),
            Event::Stop => self.stop_one(),
            Event::DirectoryFails => self.directory_fails(),
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
        self.broker_starts(id);
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
        self.settle();
    }

    fn carry_out(&mut self, id: BrokerId, output: Output) -> Result<(), String> {
        match &output {
            Output::Send(_) | Output::Answer(_) => {}
            Output::Append(append) if self.trace.is_some() && !self.brokers.is_empty() => {
                let (base, end) = (append.base, append.end);
                self.log(Some(id), &format!("Append({base}..{end})"));
            }
            output if self.trace.is_some() => self.log(Some(id), &format!("{output:?}")),
            _ => {}
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
                self.news.push_back((id, News::Committed(offset)));
                self.more_is_committed(id)?;
            }
            Output::Leadership(leadership) => {
                self.report.elections += u64::from(leadership.start.is_some());
                let disk = &self.nodes[&id].disk;
                self.checker.leadership(id, leadership, disk)?;
                self.news.push_back((id, News::Leadership(leadership)));
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
