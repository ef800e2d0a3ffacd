//! The drill on a cluster of its own, from its beginning to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use klamm_client::{
    Admin, Bootstrap, BrokerId, ClientConfig, ElectLeadersOptions, ElectionScope, ElectionType,
    NewTopic, ServerAddress,
};
use klamm_server::EmbeddedCluster;
use tokio::time::{Instant, sleep};

use super::Drilled;
use super::args::DrillArgs;
use super::audit::{self, audit};
use super::load::{Load, MOST_RECORDS, Sent, Steady, produce_problem};
use super::report::{ClusterForm, Report, failures};
use super::seen::{Led, Seen, busiest};
use super::spread::{Spread, longest_wait};
use super::talk::Talk;
use super::watch::Watch;
use crate::connect::client_problem;
use crate::errors::Problem;
use crate::interrupt::{Interrupt, Interrupted};
use crate::output::Output;
use crate::table::plural;

const TOPIC: &str = "drill";
const REPLICATION: i16 = 3;
/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);
/// What leaders are counted after.
const MOMENTS: [&str; 4] = ["before", "failover", "restart", "election"];

/// Runs the drill, unless a signal ends it.
pub(super) async fn told(
    args: &DrillArgs,
    out: &Output,
) -> Result<Result<Drilled, Interrupted>, Problem> {
    let mut interrupt = Interrupt::new();
    let began = Instant::now();
    let talk = Talk::new(out, began);
    match interrupt.race(talk.beside(drill(args, &talk, began))).await {
        Ok(drilled) => drilled.map(Ok),
        Err(interrupted) => Ok(Err(interrupted)),
    }
}

async fn drill(args: &DrillArgs, talk: &Talk<'_>, began: Instant) -> Result<Drilled, Problem> {
    talk.step(format!("{} start", plural(args.brokers.into(), "broker")));
    let started = EmbeddedCluster::builder()
        .brokers(args.brokers)
        .start()
        .await;
    let mut cluster = started.map_err(|error| {
        Problem::failure("the cluster could not start").because(error.to_string())
    })?;
    let ready = began.elapsed();
    talk.say(&format!("{} serve", plural(args.brokers.into(), "broker")));
    talk.step("the topic is made");
    let stage = Stage::set(args, &cluster, began).await?;
    talk.follow_cluster(&stage.watch);
    let told = stage.play(args, &mut cluster, talk).await?;
    talk.say("the load has ended, and every record is read back");
    talk.step("every record is read back");
    let there = audit::read(stage.config.clone(), &TOPIC.into(), &told.sent).await?;
    let hit = told.sent.iter().zip(&told.hit).filter(|(_, hit)| **hit);
    let waits = hit.filter_map(|(sent, _)| longest_wait(sent, told.away));
    let leaders = MOMENTS.into_iter().zip(told.leaders);
    let history = stage.watch.history();
    let report = Report {
        partitions: args.partitions,
        rate: args.rate,
        audit: audit(&told.sent, &there),
        unavailability: Spread::of(waits.collect()),
        hit: told.hit.iter().filter(|hit| **hit).count(),
        failures: failures(&told.sent),
        leaders: leaders.collect(),
        events: talk.events(),
        form: ClusterForm::Own {
            ready,
            killed: told.killed,
            led_again: told.led_again,
            in_sync_again: told.in_sync_again,
        },
        took: began.elapsed(),
    };
    // Nobody needs its records any more, and nobody has to take over.
    for id in stage.brokers {
        node(cluster.kill_broker(id).await)?;
    }
    node(cluster.stop().await)?;
    Ok(Drilled {
        report,
        history,
        sent: told.sent,
    })
}

/// What a drill is played with.
struct Stage {
    config: ClientConfig,
    admin: Admin,
    watch: Watch,
    brokers: Vec<BrokerId>,
    began: Instant,
}

/// What was seen.
#[derive(Debug)]
struct Told {
    killed: BrokerId,
    /// Whether the killed broker led a partition.
    hit: Vec<bool>,
    /// When it was killed, from the beginning, and when it was started again.
    away: (Duration, Duration),
    /// From the kill until brokers said that others lead.
    led_again: Duration,
    /// From the start until all replicas were in sync.
    in_sync_again: Duration,
    /// Who led how many partitions: before, after the failover, the restart and the election.
    leaders: [BTreeMap<BrokerId, usize>; 4],
    /// By partition.
    sent: Vec<Vec<Sent>>,
}

impl Stage {
    /// Makes the topic, and waits until it is led and in sync.
    async fn set(
        args: &DrillArgs,
        cluster: &EmbeddedCluster,
        began: Instant,
    ) -> Result<Self, Problem> {
        let servers = ServerAddress::parse_list(&cluster.bootstrap_servers());
        let servers = servers.map_err(|error| {
            Problem::failure("the cluster has no addresses").because(error.to_string())
        })?;
        let mut config = ClientConfig::new(Bootstrap::Brokers(servers));
        config.default_api_timeout = LIMIT;
        let admin = Admin::connect(config.clone()).await;
        let admin = admin.map_err(|error| client_problem("no broker answers", &error))?;
        let mut topic = NewTopic::new(TOPIC, args.partitions.into(), REPLICATION);
        topic
            .configs
            .extend([("min.insync.replicas".into(), "2".into())]);
        let created = admin.create_topics(&[topic], Default::default()).await;
        let created = created.map_err(|error| client_problem("no topic was made", &error))?;
        for (_, result) in created {
            result.map_err(|error| {
                Problem::failure("no topic was made").because(error.to_string())
            })?;
        }
        let watch = Watch::begin(config.clone(), TOPIC.into(), began).await;
        let watch = watch.map_err(|error| client_problem("no broker says who leads", &error))?;
        let stage = Self {
            config,
            admin,
            watch,
            brokers: cluster.brokers().map(|(id, _)| id).collect(),
            began,
        };
        let partitions = usize::from(args.partitions);
        let what = "all partitions to be led and in sync";
        stage
            .until(what, |seen| {
                seen.led.len() == partitions && seen.led.iter().all(Led::is_whole)
            })
            .await?;
        Ok(stage)
    }

    async fn until(
        &self,
        what: &str,
        is_so: impl FnMut(&Seen) -> bool,
    ) -> Result<Arc<Seen>, Problem> {
        self.watch.until(LIMIT, is_so).await.map_err(|trouble| {
            let seconds = LIMIT.as_secs();
            let late = format!("{seconds} seconds were not enough for {what}");
            let why = trouble
                .map(|trouble| format!("\n{trouble}"))
                .unwrap_or_default();
            Problem::failure("the drill cannot go on").because(late + &why)
        })
    }

    fn leads(&self, seen: &Seen) -> BTreeMap<BrokerId, usize> {
        seen.leads(self.brokers.iter().copied())
    }

    /// The load and what happens under it.
    async fn play(
        &self,
        args: &DrillArgs,
        cluster: &mut EmbeddedCluster,
        talk: &Talk<'_>,
    ) -> Result<Told, Problem> {
        let steady = Steady {
            topic: TOPIC.into(),
            partitions: args.partitions,
            rate: args.rate,
        };
        let load = Load::begin(self.config.clone(), steady, self.began).await;
        let load = load.map_err(|error| produce_problem(&error))?;
        talk.say(&format!(
            "{} records a second to {}, acknowledged by all replicas in sync",
            args.rate,
            plural(args.partitions.into(), "partition")
        ));
        talk.follow_load(&load);
        talk.step("the load runs");
        sleep(args.calm).await;

        let before = self
            .until("partitions", |seen| !seen.led.is_empty())
            .await?;
        let led_before = self.leads(&before);
        // There are brokers, and partitions that are led.
        let killed = busiest(&led_before).unwrap_or(BrokerId(1));
        let hit: Vec<bool> = before
            .led
            .iter()
            .map(|led| led.leader == Some(killed))
            .collect();
        let killed_at = self.began.elapsed();
        node(cluster.kill_broker(killed).await)?;
        let count = hit.iter().filter(|hit| **hit).count();
        talk.say(&format!(
            "broker {killed} is killed; it led {}",
            plural(count, "partition")
        ));
        talk.step(format!("others are to lead what broker {killed} led"));
        let is_led = |led: &Led| led.leader.is_some_and(|leader| leader != killed);
        let failed_over = self
            .until("others to lead", |seen| seen.led.iter().all(is_led))
            .await?;
        let led_again = self.began.elapsed().saturating_sub(killed_at);
        talk.say(&format!("others lead, {} ms after", led_again.as_millis()));
        talk.step(format!("the load runs without broker {killed}"));
        sleep(args.calm).await;

        talk.step(format!("broker {killed} starts"));
        let restarted_at = self.began.elapsed();
        node(cluster.start_broker(killed).await)?;
        talk.say(&format!("broker {killed} is back"));
        talk.step(format!("replicas of broker {killed} are to be in sync"));
        let restarted = self
            .until("all replicas to be in sync", |seen| {
                seen.led.iter().all(Led::is_in_sync)
            })
            .await?;
        let in_sync_again = self.began.elapsed().saturating_sub(restarted_at);
        talk.say(&format!(
            "its replicas are in sync, {} ms after its start; it leads {}",
            in_sync_again.as_millis(),
            plural(self.leads(&restarted)[&killed], "partition")
        ));

        talk.step("preferred leaders are elected");
        let elected = self.admin.elect_leaders(
            ElectionType::Preferred,
            ElectionScope::All,
            ElectLeadersOptions::default(),
        );
        elected.all().await.map_err(|error| {
            Problem::failure("no preferred leaders were elected").because(error.to_string())
        })?;
        talk.say("preferred leaders are elected");
        let is_home = |led: &Led| led.leader == led.preferred;
        let after = self
            .until("the preferred leaders", |seen| seen.led.iter().all(is_home))
            .await?;
        talk.step("the load runs");
        sleep(args.calm).await;
        talk.step("the last acknowledgements are to come");
        let sent = load.end().await.map_err(|error| produce_problem(&error))?;
        let count: usize = sent.iter().map(Vec::len).sum();
        if count as u64 >= MOST_RECORDS {
            return Err(Problem::failure("the load ended too early")
                .because(format!("a drill keeps account of {MOST_RECORDS} records"))
                .next("lower --rate or --calm"));
        }
        Ok(Told {
            killed,
            hit,
            away: (killed_at, restarted_at),
            led_again,
            in_sync_again,
            leaders: [
                led_before,
                self.leads(&failed_over),
                self.leads(&restarted),
                self.leads(&after),
            ],
            sent,
        })
    }
}

fn node<T>(done: Result<T, klamm_server::EmbeddedError>) -> Result<T, Problem> {
    done.map_err(|error| Problem::failure("the drill cannot go on").because(error.to_string()))
}
