//! One seed from its beginning to its end.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use klamm_client::ServerAddress;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::check::{Fault, History, faults};
use crate::joined;
use crate::load::{Outcome, Running};
use crate::patience::{LIMIT, LOOK, eventually};
use crate::plan::{BROKERS, Plan};
use crate::reader::{Read, Reader};
use crate::stage::Stage;
use crate::witness::{Testimony, Witness};

/// Longer than a whole run takes, whatever is waited for in it.
const RUN_LIMIT: Duration = Duration::from_secs(1_800);

/// What came of a seed.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub(crate) seed: u64,
    pub(crate) steps: usize,
    pub(crate) sent: usize,
    pub(crate) acked: usize,
    pub(crate) read_along: usize,
    /// The longest that a record waited that was acknowledged in the end.
    pub(crate) longest: Duration,
    /// From the last step until all was in sync.
    pub(crate) in_sync: Duration,
    pub(crate) took: Duration,
    pub(crate) faults: Vec<String>,
    /// The files of one that failed.
    pub(crate) dir: Option<PathBuf>,
}

impl Report {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            steps: 0,
            sent: 0,
            acked: 0,
            read_along: 0,
            longest: Duration::ZERO,
            in_sync: Duration::ZERO,
            took: Duration::ZERO,
            faults: Vec::new(),
            dir: None,
        }
    }

    /// Of a run that has said itself what was wrong.
    pub(crate) fn panicked(seed: u64) -> Self {
        Self {
            faults: vec!["it panicked, as said above".to_owned()],
            ..Self::new(seed)
        }
    }

    fn count(&mut self, history: &History) {
        let sent = history.sent.iter().flatten().flatten();
        for sent in sent {
            self.sent += 1;
            if matches!(sent.outcome, Outcome::Acked(_)) {
                self.acked += 1;
                self.longest = self.longest.max(sent.took);
            }
        }
        self.read_along = history.along.records.iter().map(Vec::len).sum();
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = if self.faults.is_empty() {
            "ok"
        } else {
            "FAILED"
        };
        write!(
            f,
            "seed {}: {outcome}, {} steps, {} of {} records acknowledged, longest wait {:.2} s, \
             in sync after {:.2} s, took {:.1} s",
            self.seed,
            self.steps,
            self.acked,
            self.sent,
            self.longest.as_secs_f64(),
            self.in_sync.as_secs_f64(),
            self.took.as_secs_f64()
        )
    }
}

/// Carries a plan out and judges what was seen.
pub(crate) fn run(plan: &Plan, is_told: bool) -> Report {
    let began = Instant::now();
    let runtime = Runtime::new().expect("threads can be started");
    let mut stage = Stage::set(plan, &runtime);
    let mut report = Report::new(plan.seed);
    report.steps = plan.steps.len();
    // The steps are taken on this thread, which nodes that are started end with.
    let found = runtime.block_on(play(plan, &mut stage, is_told, &mut report));
    stage.nodes.end();
    report.faults = found.iter().map(Fault::to_string).collect();
    report.took = began.elapsed();
    if !found.is_empty() {
        let told = format!("{plan}\n{report}\n{}\n", report.faults.join("\n"));
        // The files are worth keeping without it, too.
        let _ = std::fs::write(stage.nodes.dir().join("report.txt"), told);
        stage.nodes.keep();
        report.dir = Some(stage.nodes.dir().to_owned());
    }
    report
}

async fn play(plan: &Plan, stage: &mut Stage, is_told: bool, report: &mut Report) -> Vec<Fault> {
    let partitions = plan.load.partitions;
    let load = Running::begin(&stage.servers, plan.seed, &plan.load).await;
    let watching = Watching::begin(&stage.servers, partitions).await;
    let mut found = disturb(plan, stage, is_told).await;
    let healed = Instant::now();
    // All is whole again, and so it must work again.
    if let Err(fault) = stage.until_in_sync().await {
        found.push(fault);
        return found;
    }
    report.in_sync = healed.elapsed();
    found.extend(until_all_take_records(&load).await);
    let Ok(sent) = timeout(LIMIT, load.end()).await else {
        let what = format!("producers have not ended {LIMIT:?} after the last record");
        found.push(Fault::Other(what));
        return found;
    };
    found.extend(stage.until_alike().await);
    // What all replicas have is committed, though a leader that is new may not know it yet.
    let ends = stage.log_ends();
    let last = reader(&stage.servers, partitions).await;
    let (there, is_all) = last
        .read_until(LIMIT, |partition, position| position >= ends[partition])
        .await;
    if !is_all {
        found.push(Fault::Other(
            "the records cannot be read to the end".to_owned(),
        ));
    }
    let (along, is_all, testimony) = watching.end(&there).await;
    if !is_all {
        let what = "the reader of all along does not come to the end";
        found.push(Fault::Other(what.to_owned()));
    }
    found.extend(stage.broke_down());
    let history = History {
        sent,
        along,
        there,
        told: testimony.told,
        seen: testimony.seen,
    };
    report.count(&history);
    found.extend(faults(&history));
    found
}

/// Takes the steps, each at its time.
async fn disturb(plan: &Plan, stage: &mut Stage, is_told: bool) -> Vec<Fault> {
    let began = Instant::now();
    let mut found = Vec::new();
    for step in &plan.steps {
        sleep_until(began + step.at).await;
        // Before it is killed or started.
        found.extend(stage.broke_down());
        stage.act(step.action);
        if is_told {
            println!("{:6.3} s: {step}", began.elapsed().as_secs_f64());
        }
    }
    found.dedup();
    found
}

/// Every partition acknowledges records that are sent from now on.
async fn until_all_take_records(load: &Running) -> Option<Fault> {
    const ENOUGH: u64 = 5;
    let deadline = Instant::now() + LIMIT;
    let before = load.acked();
    loop {
        let mut counts = load.acked().into_iter().zip(&before);
        let stuck = counts.position(|(now, before)| now < before + ENOUGH)?;
        if Instant::now() > deadline {
            let what =
                format!("partition {stuck} takes no records {LIMIT:?} after all was in sync");
            return Some(Fault::Other(what));
        }
        sleep(LOOK).await;
    }
}

async fn reader(servers: &[ServerAddress], partitions: usize) -> Reader {
    let connect = async || Reader::connect(servers, partitions).await;
    eventually("a consumer connected", connect).await
}

/// Whoever looks at the cluster while things break.
struct Watching {
    stop: watch::Sender<bool>,
    witnesses: Vec<JoinHandle<Testimony>>,
    /// Where the reader is to come to, once that is known.
    goal: watch::Sender<Option<Vec<i64>>>,
    reader: JoinHandle<(Read, bool)>,
}

impl Watching {
    async fn begin(servers: &[ServerAddress], partitions: usize) -> Self {
        let began = Instant::now();
        let (stop, stopped) = watch::channel(false);
        let witness = |(broker, server): (u32, &ServerAddress)| {
            let witness = Witness::new(broker, server.clone(), partitions, began);
            tokio::spawn(witness.run(stopped.clone()))
        };
        let (goal, goals) = watch::channel(None::<Vec<i64>>);
        let is_there = move |partition: usize, position: i64| {
            let goals = goals.borrow();
            goals
                .as_ref()
                .is_some_and(|goals| position >= goals[partition])
        };
        let reader = reader(servers, partitions).await;
        Self {
            witnesses: BROKERS.into_iter().zip(servers).map(witness).collect(),
            stop,
            goal,
            reader: tokio::spawn(reader.read_until(RUN_LIMIT, is_there)),
        }
    }

    /// What was seen, once the reader has come to the end of what is there; whether it has.
    async fn end(self, there: &Read) -> (Read, bool, Testimony) {
        let ends = there.records.iter().map(|records| records.len() as i64);
        self.goal.send_replace(Some(ends.collect()));
        let read = timeout(LIMIT, self.reader).await;
        let (read, is_all) = read.map_or_else(|_| (Read::default(), false), joined);
        self.stop.send_replace(true);
        let mut all = Testimony::default();
        for witness in self.witnesses {
            let testimony = joined(witness.await);
            all.told.extend(testimony.told);
            all.seen.extend(testimony.seen);
        }
        (read, is_all, all)
    }
}
