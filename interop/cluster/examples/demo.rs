//! The demo's story, told as it happens. `interop/demo` builds what it needs and runs it.

#![allow(clippy::print_stdout, reason = "it is a program, and tells a story")]

use std::env;
use std::process::{Command, ExitCode};
use std::time::Instant;

use klamm_cluster::{Cluster, Spec};

const TOPIC: &str = "orders";
/// The broker that fails.
const VICTIM: u32 = 1;

fn main() -> ExitCode {
    let Some(klamm) = env::var_os("KLAMM") else {
        println!("KLAMM names no klamm binary; run interop/demo, which builds it");
        return ExitCode::from(2);
    };
    let klamm = |args: &str| {
        println!("\n$ klamm {args} --bootstrap-server …");
        args.split(' ')
            .fold(Command::new(&klamm), |mut command, arg| {
                command.arg(arg);
                command
            })
    };
    let start = Instant::now();
    say("Starting three Apache Kafka brokers (about 15 seconds) …");
    let cluster = Spec::combined(3)
        .property("broker.session.timeout.ms", "6000")
        .start();
    let replicas: Vec<[i32; 3]> = (0..12)
        .map(|p| [0, 1, 2].map(|r| (p + r) % 3 + 1))
        .collect();
    let replicas: Vec<&[i32]> = replicas.iter().map(|replicas| &replicas[..]).collect();
    cluster.create_topic(TOPIC, &replicas, &[]);
    say("A topic of 12 partitions, three replicas each. Leadership is spread evenly:");
    let mut passed = run(klamm("leaders"), &cluster);

    say(&format!(
        "Broker {VICTIM} crashes (kill -9). Kafka notices when its session times out …"
    ));
    cluster.kill(VICTIM);
    cluster.wait_for_brokers(&[2, 3]);
    cluster.wait_for_topic(TOPIC, "led by the others", |partitions| {
        partitions
            .iter()
            .all(|p| p.leader > 0 && p.leader != VICTIM as i32)
    });
    say("The other brokers lead its partitions:");
    passed &= run(klamm("leaders"), &cluster);

    say(&format!("Broker {VICTIM} comes back and catches up …"));
    cluster.restart(VICTIM);
    cluster.wait_for_brokers(&[1, 2, 3]);
    cluster.wait_for_topic(TOPIC, "in sync", |partitions| {
        partitions.iter().all(|p| p.isr.len() == p.replicas.len())
    });
    say("It is in sync, and leads nothing: leadership does not come back by itself.");
    passed &= run(klamm("leaders"), &cluster);

    say("What would an election change?");
    let elect = "elect --election-type preferred --all-topic-partitions";
    passed &= run(klamm(&format!("{elect} --dry-run")), &cluster);
    say("Good. Elect:");
    passed &= run(klamm(elect), &cluster);

    say("Apache Kafka's own tool finds nothing left to elect:");
    let args = ["--election-type", "preferred", "--all-topic-partitions"];
    println!(
        "\n$ kafka-leader-election.sh {} --bootstrap-server …",
        args.join(" ")
    );
    let (status, output) = cluster.tool("LeaderElectionCommand", &args);
    match output.trim() {
        "" => {
            println!("(no output, exit status {status}: every partition has its preferred leader)")
        }
        output => println!("{output}"),
    }
    let preferred = cluster.partitions(TOPIC).iter().all(|p| p.is_preferred());
    passed &= status == 0 && preferred;
    say("Stopping the brokers …");
    drop(cluster);
    println!("\nDone in {} seconds.", start.elapsed().as_secs());
    if passed {
        ExitCode::SUCCESS
    } else {
        println!("Something above did not go as told; please report it.");
        ExitCode::FAILURE
    }
}

fn say(text: &str) {
    println!("\n# {text}");
}

/// Runs klamm on the cluster, its output going where this program's goes; true if it succeeded.
fn run(mut klamm: Command, cluster: &Cluster) -> bool {
    match klamm
        .arg("--bootstrap-server")
        .arg(cluster.bootstrap())
        .status()
    {
        Ok(status) => status.success(),
        Err(error) => {
            println!("klamm cannot be run: {error}");
            false
        }
    }
}
