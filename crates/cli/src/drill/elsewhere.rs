//! The drill on a cluster that somebody else disturbs.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use klamm_client::{Admin, BrokerId, ClientConfig};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep};

use super::Drilled;
use super::args::DrillArgs;
use super::audit::{self, audit};
use super::history::History;
use super::load::{Load, MOST_RECORDS, Sent, Steady, produce_problem};
use super::news::Words;
use super::report::{ClusterForm, Report, failures};
use super::seen::{Led, Seen};
use super::spread::{Spread, longest_wait};
use super::talk::Talk;
use super::topic::DrillTopic;
use super::watch::{News, Watch};
use crate::connect::{Target, client_problem};
use crate::errors::Problem;
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::Output;
use crate::table::plural;

/// How long a new topic may take until it is led and in sync.
const LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked whether the load goes on.
const LOOK: Duration = Duration::from_millis(100);
/// A partition whose records wait for longer is hit, whoever leads it.
const STALL: Duration = Duration::from_secs(1);

/// How it ended.
enum Ended {
    Told(Box<Drilled>),
    /// Before there was anything to tell.
    Early(Interrupted),
    /// For the second time: nothing is waited for.
    AtOnce(Interrupted),
}

/// Runs the drill until its time is over or a signal ends the load; a second one ends it at once.
pub(super) async fn told(
    args: &DrillArgs,
    target: &Target,
    out: &Output,
) -> Result<Result<Drilled, Interrupted>, Problem> {
    let began = Instant::now();
    let talk = Talk::new(out, began);
    let mut interrupt = Interrupt::new();
    let stage = match interrupt.race(Stage::set(args, target, began)).await {
        Ok(stage) => stage?,
        Err(interrupted) => return Ok(Err(interrupted)),
    };
    match interrupt.race(stage.topic.make(&stage.admin)).await {
        Ok(made) => made?,
        Err(interrupted) => {
            drop(talk);
            out.warn(&stage.topic.left("perhaps, for it was just being made"));
            return Ok(Err(interrupted));
        }
    }
    let drill = stage.drill(args, &talk, &mut interrupt);
    let ended = talk.beside(drill).await;
    stage.leave(args, &ended, talk, out).await;
    match ended? {
        Ended::Told(drilled) => Ok(Ok(*drilled)),
        Ended::Early(interrupted) | Ended::AtOnce(interrupted) => Ok(Err(interrupted)),
    }
}

/// What a drill is played with.
struct Stage {
    config: ClientConfig,
    admin: Admin,
    topic: DrillTopic,
    began: Instant,
}

impl Stage {
    /// Connects, and looks whether there are brokers enough. Nothing is changed.
    async fn set(args: &DrillArgs, target: &Target, began: Instant) -> Result<Self, Problem> {
        let admin = target.connect().await?;
        let cluster = admin.describe_cluster(Default::default()).await;
        let cluster = cluster
            .map_err(|error| client_problem("the cluster does not say who is there", &error))?;
        let topic = args.topic.as_deref();
        let topic = DrillTopic::plan(topic, args.partitions, cluster.brokers.len())?;
        Ok(Self {
            config: target.config().clone(),
            admin,
            topic,
            began,
        })
    }

    async fn drill(
        &self,
        args: &DrillArgs,
        talk: &Talk<'_>,
        interrupt: &mut Interrupt,
    ) -> Result<Ended, Problem> {
        talk.say(&format!(
            "topic {}: {}",
            self.topic.name,
            self.topic.shown()
        ));
        talk.step("its partitions are to be led and in sync");
        let begin = async {
            let watch = self.watch(args.partitions).await?;
            let load = self.load(args).await?;
            Ok((watch, load))
        };
        let (watch, load) = match interrupt.race(begin).await {
            Ok(begun) => begun?,
            Err(interrupted) => return Ok(Ended::Early(interrupted)),
        };
        talk.follow_cluster(&watch);
        talk.follow_load(&load);
        let mut play = Play {
            from: self.began.elapsed(),
            before: Arc::clone(&watch.now().borrow().seen),
            news: watch.news(),
            words: Words::default(),
            talk,
        };
        talk.say(&format!(
            "{} records a second, acknowledged by all replicas in sync",
            args.rate
        ));
        talk.say("disturb it now: kill brokers, restart them, elect leaders; Ctrl-C ends the load");
        talk.step("the load runs; disturb the cluster, or press Ctrl-C");
        // A signal ends the load as its time does.
        let _ = interrupt.race(play.until_over(args.duration, &load)).await;
        let mut second = Interrupt::new();
        match second.race(self.finish(args, play, &watch, load)).await {
            Ok(drilled) => drilled.map(|drilled| Ended::Told(Box::new(drilled))),
            Err(interrupted) => Ok(Ended::AtOnce(interrupted)),
        }
    }

    /// Begins to look, and waits until the topic is led and in sync.
    async fn watch(&self, partitions: u16) -> Result<Watch, Problem> {
        let watch = Watch::begin(self.config.clone(), self.topic.name.clone(), self.began).await;
        let watch = watch.map_err(|error| client_problem("no broker says who leads", &error))?;
        let is_whole = |seen: &Seen| {
            seen.led.len() == usize::from(partitions) && seen.led.iter().all(Led::is_whole)
        };
        match watch.until(LIMIT, is_whole).await {
            Ok(_) => Ok(watch),
            Err(trouble) => {
                let seconds = LIMIT.as_secs();
                let late = format!("its partitions are not led and in sync after {seconds} s");
                let why = trouble.map(|trouble| format!("\n{trouble}"));
                Err(Problem::failure("the topic is not ready")
                    .because(late + why.as_deref().unwrap_or_default())
                    .next("see with 'klamm leaders' what is wrong, and begin with a whole cluster"))
            }
        }
    }

    async fn load(&self, args: &DrillArgs) -> Result<Load, Problem> {
        let steady = Steady {
            topic: self.topic.name.clone(),
            partitions: args.partitions,
            rate: args.rate,
        };
        let load = Load::begin(self.config.clone(), steady, self.began).await;
        load.map_err(|error| produce_problem(&error))
    }

    /// Ends the load, reads everything back and tells of it.
    async fn finish(
        &self,
        args: &DrillArgs,
        mut play: Play<'_>,
        watch: &Watch,
        load: Load,
    ) -> Result<Drilled, Problem> {
        let totals = load.counts().totals();
        let waiting = plural(totals.sent.saturating_sub(totals.ended) as usize, "record");
        play.talk
            .say(&format!("the load ends; {waiting} not acknowledged yet"));
        play.talk
            .step("the last acknowledgements are to come; Ctrl-C leaves at once");
        let sent = play.meanwhile(load.end()).await;
        let sent = sent.map_err(|error| produce_problem(&error))?;
        play.talk.say("every record is read back");
        play.talk
            .step("every record is read back; Ctrl-C leaves at once");
        let read = audit::read(self.config.clone(), &self.topic.name, &sent);
        let there = play.meanwhile(read).await?;
        let history = watch.history();
        if history.is_cut() {
            play.talk
                .say("more leaders changed than are kept: the last ones are not counted");
        }
        let took = self.began.elapsed();
        let (hit, waits) = hit(&sent, &history, play.from);
        let gaps = (0..sent.len()).flat_map(|partition| history.gaps(partition, took));
        let gaps = gaps.map(|(from, until)| until.saturating_sub(from));
        let after = Arc::clone(&watch.now().borrow().seen);
        let leads = |seen: &Seen| -> BTreeMap<BrokerId, usize> {
            seen.leads(history.brokers.keys().copied())
        };
        let report = Report {
            partitions: args.partitions,
            rate: args.rate,
            audit: audit(&sent, &there),
            unavailability: Spread::of(waits),
            hit,
            failures: failures(&sent),
            leaders: vec![("before", leads(&play.before)), ("after", leads(&after))],
            events: play.talk.events(),
            form: ClusterForm::Other {
                topic: self.topic.name.clone(),
                leaderless: Spread::of(gaps.collect()),
            },
            took,
        };
        Ok(Drilled {
            report,
            history,
            sent,
        })
    }

    /// Deletes the topic, unless somebody may want to look at it.
    async fn leave(
        &self,
        args: &DrillArgs,
        ended: &Result<Ended, Problem>,
        talk: Talk<'_>,
        out: &Output,
    ) {
        let name = &self.topic.name;
        let left = match ended {
            Ok(Ended::AtOnce(_)) => Some(self.topic.left("it was not waited for")),
            _ if args.keep_topic => {
                talk.say(&format!("the topic {name} is kept"));
                None
            }
            Ok(Ended::Told(drilled)) if !drilled.report.is_sound() => {
                talk.say(&format!(
                    "the topic {name} is kept, for its records are not as they were sent"
                ));
                None
            }
            _ => match Interrupt::new().race(self.topic.delete(&self.admin)).await {
                Ok(deleted) => deleted.err().map(|why| self.topic.left(&why)),
                Err(_) => Some(self.topic.left("it was not waited for")),
            },
        };
        drop(talk);
        if let Some(left) = left {
            out.warn(&left);
        }
    }
}

/// What is told while it happens.
struct Play<'a> {
    /// When the load began.
    from: Duration,
    before: Arc<Seen>,
    news: broadcast::Receiver<News>,
    words: Words,
    talk: &'a Talk<'a>,
}

impl Play<'_> {
    /// Tells what changes until the load is over.
    async fn until_over(&mut self, duration: Option<Duration>, load: &Load) {
        let end = async {
            match duration {
                Some(duration) => sleep(duration).await,
                None => pending().await,
            }
        };
        let over = async {
            while !load.is_over() {
                sleep(LOOK).await;
            }
        };
        let talk = self.talk;
        tokio::select! {
            () = end => {}
            () = over => {
                if load.counts().totals().sent >= MOST_RECORDS {
                    talk.say(&format!("a drill keeps account of {MOST_RECORDS} records, and no more"));
                }
            }
            _ = tell(&mut self.news, &mut self.words, talk) => {}
        }
    }

    /// Tells what changes until something else is done.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            done = work => done,
            never = tell(&mut self.news, &mut self.words, self.talk) => match never {},
        }
    }
}

/// Tells all that changes.
async fn tell(
    news: &mut broadcast::Receiver<News>,
    words: &mut Words,
    talk: &Talk<'_>,
) -> Infallible {
    loop {
        match news.recv().await {
            Ok(news) => {
                let (at, lines) = words.tell(&news);
                for line in lines {
                    talk.say_of(at, &line);
                }
            }
            Err(RecvError::Lagged(count)) => {
                talk.say(&format!("{count} changes came too fast to be told"));
            }
            Err(RecvError::Closed) => return pending().await,
        }
    }
}

/// How many partitions were hit while the load ran, and how long the records of each waited at most.
fn hit(sent: &[Vec<Sent>], history: &History, from: Duration) -> (usize, Vec<Duration>) {
    let mut waits = Vec::new();
    let mut hit = 0;
    for (partition, sent) in sent.iter().enumerate() {
        let wait = longest_wait(sent, (from, Duration::MAX));
        if history.is_disturbed(partition, from) || wait > Some(STALL) {
            hit += 1;
            waits.extend(wait);
        }
    }
    (hit, waits)
}

#[cfg(test)]
mod tests {
    use super::super::history::Change;
    use super::*;

    #[test]
    fn hit_is_what_moved_or_stood_still() {
        let ms = Duration::from_millis;
        let sent = |took: u64| {
            vec![Sent {
                at: ms(100),
                ended: ms(100 + took),
                failure: None,
            }]
        };
        let mut history = History::default();
        let mut led = |at, partition, leader| {
            let change = Change::Leader {
                partition,
                before: None,
                leader: BrokerId(leader).known(),
            };
            history.note(ms(at), &change);
        };
        for partition in 0..3 {
            led(10, partition, 1);
        }
        led(150, 1, -1);
        led(180, 1, 2);
        let all = [sent(5), sent(80), sent(1_001), Vec::new()];
        let waits = vec![ms(80), ms(1_001)];
        assert_eq!(hit(&all, &history, ms(50)), (2, waits));
    }
}
