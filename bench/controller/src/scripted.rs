//! What is measured with scripted brokers: both controllers run all the time, and are asked in turns.

use std::time::Duration;

use tokio::time::sleep;

use crate::broker::Broker;
use crate::partitions::{TOPIC_PARTITIONS, Topics};
use crate::server::{Program, Server};
use bench_common::Client;
use bench_common::{Row, Samples, Target, Unit};

/// The brokers' ids.
const BROKERS: [i32; 3] = [1, 2, 3];
/// How long a controller does nothing before its memory is looked at.
const IDLE: Duration = Duration::from_secs(2);
/// How many partitions Apache Kafka's controller elects for a request: at 10,000, which it allows, it
/// fails with "Append failed because there are no records" and gives up its lead (4.4.0).
const APACHE_ELECTS: usize = 9_000;
/// How many it creates: their records and those of the topics may be 10,000.
const APACHE_CREATES: usize = 5_000;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// How often each start and each operation on few partitions is measured.
    samples: usize,
    /// How often an operation on many partitions is.
    large_samples: usize,
}

impl Size {
    pub(crate) const FULL: Self = Self {
        samples: 15,
        large_samples: 5,
    };
    pub(crate) const QUICK: Self = Self {
        samples: 1,
        large_samples: 1,
    };
}

/// A controller with its brokers.
struct Side {
    server: Server,
    client: Option<Client>,
    brokers: Vec<Broker>,
}

impl Side {
    fn is_klamm(&self) -> bool {
        self.server.is_klamm()
    }

    fn client(&self) -> Result<&Client, String> {
        let client = self.client.as_ref();
        client.ok_or_else(|| "the controller is not connected".to_owned())
    }

    async fn connect(&mut self) -> Result<(), String> {
        self.client = Some(Client::connect(self.server.address()).await?);
        Ok(())
    }

    async fn start_brokers(&mut self) -> Result<(), String> {
        for id in BROKERS {
            self.brokers
                .push(Broker::start(self.server.address(), id).await?);
        }
        Ok(())
    }

    /// Topics that one request may change.
    fn topics_at_once(&self, apache: usize) -> usize {
        match self.is_klamm() {
            true => usize::MAX,
            false => apache / TOPIC_PARTITIONS,
        }
    }
}

/// Measures, and shows each row as soon as it is there.
pub(crate) async fn measure(
    programs: &[Program],
    size: Size,
    show: &mut impl FnMut(&Row),
) -> Result<Vec<Row>, String> {
    let mut sides = Vec::new();
    for program in programs {
        sides.push(Side {
            server: Server::format(program.clone())?,
            client: None,
            brokers: Vec::new(),
        });
    }
    let mut rows = Vec::new();
    let mut add = |row: Row| {
        show(&row);
        rows.push(row);
    };
    let twentieth = Target::ratio(20.0);

    let first = starts(&mut sides, 1).await?;
    add(first.row("first start to ready", Unit::Milliseconds, twentieth));
    let again = starts(&mut sides, size.large_samples).await?;
    add(again.row("start after kill -9", Unit::Milliseconds, twentieth));
    sleep(IDLE).await;
    let most = Some(13.5);
    let target = Target { most, ..twentieth };
    add(memory(&sides)?.row("memory, idle", Unit::MiB, target));

    for side in &mut sides {
        side.connect().await?;
        side.start_brokers().await?;
    }
    let none = Target::default();
    let time = Unit::Milliseconds;
    let created = creations(&sides, 10_000, size.large_samples).await?;
    add(created.row("creating 10,000 partitions", time, none));
    let others = create(&sides, "other", 2_000).await?;
    let mut topics = create(&sides, "one", 1_000).await?;
    let elected = elections(&sides, &mut topics, size.samples).await?;
    let most = Some(15.0);
    let target = Target { most, ..none };
    add(elected.row("electing 1,000 partitions of 3,000", time, target));
    delete(&sides, topics).await?;
    delete(&sides, others).await?;
    let mut topics = create(&sides, "ten", 10_000).await?;
    let elected = elections(&sides, &mut topics, size.large_samples).await?;
    add(elected.row("electing 10,000 partitions", time, none));
    delete(&sides, topics).await?;
    let mut topics = create(&sides, "hundred", 100_000).await?;
    let elected = elections(&sides, &mut topics, size.large_samples.min(3)).await?;
    add(elected.row("electing 100,000 partitions", time, none));
    add(memory(&sides)?.row("memory, 100,000 partitions", Unit::MiB, none));
    let again = starts(&mut sides, size.large_samples.min(3)).await?;
    add(again.row("start after kill -9, 100,000 partitions", time, none));
    add(memory(&sides)?.row("memory after that start", Unit::MiB, none));
    Ok(rows)
}

/// Kills each controller that runs, and starts it.
async fn starts(sides: &mut [Side], count: usize) -> Result<Samples, String> {
    let mut samples = Samples::default();
    for _ in 0..count {
        for side in &mut *sides {
            side.server.kill();
            side.brokers.clear();
            let took = side.server.start().await?;
            samples.add_time(side.is_klamm(), took);
        }
    }
    Ok(samples)
}

fn memory(sides: &[Side]) -> Result<Samples, String> {
    let mut samples = Samples::default();
    for side in sides {
        samples.add(side.is_klamm(), side.server.resident_mib()?);
    }
    Ok(samples)
}

async fn creations(sides: &[Side], partitions: usize, count: usize) -> Result<Samples, String> {
    let mut samples = Samples::default();
    for nth in 0..count {
        for side in sides {
            let client = side.client()?;
            let at_once = side.topics_at_once(APACHE_CREATES);
            let name = format!("new-{nth}");
            let created = Topics::create(client, &name, partitions, at_once).await;
            let (topics, took) = created.map_err(|problem| with_tail(side, &problem))?;
            samples.add_time(side.is_klamm(), took);
            topics.delete(client).await?;
        }
    }
    Ok(samples)
}

/// Creates the same topics on each side.
async fn create(sides: &[Side], prefix: &str, partitions: usize) -> Result<Vec<Topics>, String> {
    let mut all = Vec::new();
    for side in sides {
        let at_once = APACHE_CREATES / TOPIC_PARTITIONS;
        let created = Topics::create(side.client()?, prefix, partitions, at_once).await;
        all.push(created.map_err(|problem| with_tail(side, &problem))?.0);
    }
    Ok(all)
}

async fn delete(sides: &[Side], topics: Vec<Topics>) -> Result<(), String> {
    for (side, topics) in sides.iter().zip(topics) {
        topics.delete(side.client()?).await?;
    }
    Ok(())
}

/// Elections of all partitions of the topics, which are off their preferred leaders before each.
async fn elections(sides: &[Side], topics: &mut [Topics], count: usize) -> Result<Samples, String> {
    let mut samples = Samples::default();
    for _ in 0..count {
        for (side, topics) in sides.iter().zip(&mut *topics) {
            let client = side.client()?;
            let at_once = side.topics_at_once(APACHE_ELECTS);
            topics.swap(client).await?;
            let elected = topics.elect(client, at_once).await;
            let took = elected.map_err(|problem| with_tail(side, &problem))?;
            samples.add_time(side.is_klamm(), took);
        }
    }
    Ok(samples)
}

fn with_tail(side: &Side, problem: &str) -> String {
    format!("{problem}\n{}", side.server.tail())
}
