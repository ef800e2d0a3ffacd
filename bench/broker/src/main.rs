//! Runs three of klamm's brokers and three of Apache Kafka's in turns, under the load of Apache's
//! own tools.
//!
//! `bench/run broker` is how it is meant to be started; docs/benchmarks.md says how to read it.

mod cluster;
mod load;
mod rejoin;
mod topics;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bench_common::{Client, HEAD, Options, Row, Samples, Target, Unit};
use tokio::runtime::Runtime;

use cluster::Cluster;
use load::{Cost, Load};

const USAGE: &str = "\
Usage: bench-broker [--quick] [--json] [--check] --klamm FILE

  --klamm FILE     the klamm command
  --quick          klamm alone, with less to write, each once; of the targets memory's alone
  --json           the rows as JSON
  --check          exit with 1 if a target is missed";

/// Partitions that are written to.
const PARTITIONS: usize = 6;
/// Partitions with which an idle cluster is looked at.
const SOME: usize = 1_000;

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Size {
    samples: usize,
    small: Load,
    large: Load,
    /// How long new replicas may keep a cluster busy, and how long it is looked at then.
    settle: Duration,
    idle: Duration,
    /// Partitions that nobody writes to, while others are, with so much: it takes Apache Kafka's
    /// brokers minutes.
    many: usize,
    beside_many: Load,
}

impl Size {
    const FULL: Self = Self {
        samples: 3,
        small: Load {
            records: 3_000_000,
            record_bytes: 100,
        },
        large: Load {
            records: 600_000,
            record_bytes: 1_000,
        },
        settle: Duration::from_secs(60),
        idle: Duration::from_secs(10),
        many: 4_000,
        beside_many: Load {
            records: 200_000,
            record_bytes: 1_000,
        },
    };
    const QUICK: Self = Self {
        samples: 1,
        small: Load {
            records: 300_000,
            ..Self::FULL.small
        },
        large: Load {
            records: 60_000,
            ..Self::FULL.large
        },
        settle: Duration::from_secs(5),
        idle: Duration::from_secs(3),
        many: 500,
        beside_many: Load {
            records: 60_000,
            ..Self::FULL.beside_many
        },
    };
}

/// Of the records of all partitions, what one has at least.
const SURE_SHARE: usize = 10;

fn main() -> ExitCode {
    bench_common::main("bench-broker", USAGE, run)
}

/// Whether every target is met.
fn run(options: &Options) -> Result<bool, String> {
    if !options.json {
        println!("{HEAD}");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let size = match options.quick {
        true => Size::QUICK,
        false => Size::FULL,
    };
    let mut bench = Bench {
        options,
        size,
        runtime,
        clusters: Vec::new(),
        rows: Vec::new(),
    };
    bench.run()?;
    if options.json {
        let json = serde_json::to_string_pretty(&bench.rows);
        println!("{}", json.map_err(|error| error.to_string())?);
    }
    let counts = |row: &&Row| !options.quick || row.is_steady();
    Ok(bench.rows.iter().filter(counts).all(Row::is_met))
}

struct Bench<'a> {
    options: &'a Options,
    size: Size,
    runtime: Runtime,
    clusters: Vec<Cluster>,
    rows: Vec<Row>,
}

impl Bench<'_> {
    fn run(&mut self) -> Result<(), String> {
        self.start()?;
        let Size { small, large, .. } = self.size;
        self.measure_produce("100 B", small)?;
        self.measure_produce("1 KB", large)?;
        self.measure_consume("1 KB", large)?;
        self.measure_idle()?;
        let many = self.size.many;
        self.create("many", many)?;
        std::thread::sleep(self.size.settle);
        let beside = self.size.beside_many;
        self.measure_produce(&format!("1 KB, {many} idle partitions"), beside)?;
        self.clusters.clear();
        self.measure_rejoin()
    }

    fn start(&mut self) -> Result<(), String> {
        let mut times = Samples::default();
        let mut memory = Samples::default();
        let mut clusters = Vec::new();
        for program in self.programs() {
            let (cluster, took) = Cluster::start(program)?;
            times.add_time(cluster.is_klamm(), took);
            memory.add(cluster.is_klamm(), cluster.resident_mib()?);
            clusters.push(cluster);
        }
        self.clusters = clusters;
        let ready = "three brokers and their controller ready";
        self.show(times.row(ready, Unit::Milliseconds, Target::most(500.0)));
        let target = Target::most(mib(25.0));
        self.show(memory.row("memory of all of them, idle", Unit::MiB, target));
        Ok(())
    }

    /// Memory and CPU time with partitions that nobody uses.
    fn measure_idle(&mut self) -> Result<(), String> {
        self.create("some", SOME)?;
        std::thread::sleep(self.size.settle);
        let mut memory = Samples::default();
        let mut cpu = Samples::default();
        for cluster in &self.clusters {
            let before = (Instant::now(), cluster.cpu_time()?);
            std::thread::sleep(self.size.idle);
            let used = cluster.cpu_time()? - before.1;
            let share = used.as_secs_f64() / before.0.elapsed().as_secs_f64();
            cpu.add(cluster.is_klamm(), share * 100.0);
            memory.add(cluster.is_klamm(), cluster.resident_mib()?);
        }
        let name = format!("memory with {SOME} partitions, after the load");
        self.show(memory.row(name, Unit::MiB, Target::most(mib(60.0))));
        let name = format!("CPU with {SOME} partitions, idle");
        self.show(cpu.row(name, Unit::Percent, Target::most(3.0)));
        self.delete("some")
    }

    fn measure_produce(&mut self, name: &str, load: Load) -> Result<(), String> {
        let mut costs = Costs::default();
        for _ in 0..self.size.samples {
            self.create("written", PARTITIONS)?;
            for cluster in &self.clusters {
                costs.add(cluster, load.produce(cluster, "written")?);
            }
            self.delete("written")?;
        }
        self.show_costs(&format!("produce, {name}"), costs, Some(2.5));
        Ok(())
    }

    fn measure_consume(&mut self, name: &str, load: Load) -> Result<(), String> {
        self.create("read", PARTITIONS)?;
        for cluster in &self.clusters {
            load.produce(cluster, "read")?;
        }
        let load = Load {
            records: load.records / SURE_SHARE,
            ..load
        };
        let mut costs = Costs::default();
        for _ in 0..self.size.samples {
            for cluster in &self.clusters {
                costs.add(cluster, load.consume(cluster, "read")?);
            }
        }
        self.delete("read")?;
        self.show_costs(&format!("consume, {name}"), costs, None);
        Ok(())
    }

    /// How long a broker that was killed takes from its start until it is in every ISR again.
    fn measure_rejoin(&mut self) -> Result<(), String> {
        let mut times = Samples::default();
        for program in self.programs() {
            let took = rejoin::measure(&self.runtime, program, SOME, self.size.samples)?;
            for took in took {
                times.add_time(program.is_some(), took);
            }
        }
        let name = format!("start after kill -9 until {SOME} ISRs are whole");
        self.show(times.row(name, Unit::Milliseconds, Target::most(2_000.0)));
        Ok(())
    }

    /// klamm, and Apache Kafka where it is wanted.
    fn programs(&self) -> impl Iterator<Item = Option<&'_ Path>> + use<'_> {
        let count = if self.options.quick { 1 } else { 2 };
        [Some(self.options.klamm.as_path()), None]
            .into_iter()
            .take(count)
    }

    fn show_costs(&mut self, name: &str, costs: Costs, speed: Option<f64>) {
        let row = format!("{name}: CPU of the brokers");
        let unit = Unit::CpuSecondsPerGb;
        self.show(costs.cpu.row(row, unit, Target::ratio(4.0)));
        let target = speed.map_or_else(Target::default, Target::ratio);
        self.show(costs.speed.row(name, Unit::MbPerSecond, target));
    }

    fn create(&self, topic: &str, partitions: usize) -> Result<(), String> {
        self.each(async |client| topics::create(client, topic, partitions).await)
    }

    fn delete(&self, topic: &str) -> Result<(), String> {
        self.each(async |client| topics::delete(client, topic).await)
    }

    fn each(&self, act: impl AsyncFn(&Client) -> Result<(), String>) -> Result<(), String> {
        for cluster in &self.clusters {
            let acted = self.runtime.block_on(async {
                let client = cluster.connect().await?;
                act(&client).await
            });
            acted.map_err(|error| format!("{error}\n{}", cluster.tail()))?;
        }
        Ok(())
    }

    fn show(&mut self, row: Row) {
        if !self.options.json {
            println!("{row}");
        }
        self.rows.push(row);
    }
}

#[derive(Default)]
struct Costs {
    cpu: Samples,
    speed: Samples,
}

impl Costs {
    fn add(&mut self, cluster: &Cluster, cost: Cost) {
        self.cpu.add(cluster.is_klamm(), cost.cpu_seconds_per_gb);
        self.speed.add(cluster.is_klamm(), cost.mb_per_second);
    }
}

/// 10^6 bytes in MiB.
fn mib(mb: f64) -> f64 {
    mb * 1e6 / f64::from(1 << 20)
}
