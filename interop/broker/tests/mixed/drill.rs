//! `klamm drill` on a cluster that loses a broker meanwhile.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use klamm_cluster::Cluster;
use serde_json::Value;

/// It says that the broker goes, that others lead and that it comes back, and loses nothing.
pub(crate) fn sees_a_failover(cluster: &Cluster, broker: i32) {
    let id = broker.unsigned_abs();
    let mut child = start(cluster);
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut expect = |text: &str| {
        let mut before = Vec::new();
        for line in said.by_ref() {
            before.push(line.unwrap());
            if before.last().unwrap().contains(text) {
                return;
            }
        }
        panic!("{text:?} is not in {before:#?}");
    };
    expect("disturb it now");
    cluster.kill(id);
    expect(&format!("broker {id} has left"));
    expect(&format!("from broker {id} to"));
    cluster.restart(id);
    expect(&format!("broker {id} is back"));
    expect("all replicas are in sync");
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    expect("every record is read back");
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}: {rest:#?}", output.status);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    for none in ["lost", "doubled", "out_of_order"] {
        assert_eq!(report[none], 0, "{report:#}");
    }
    assert!(report["acked"].as_u64() > Some(0), "{report:#}");
    assert!(report["partitions_hit"].as_u64() > Some(0), "{report:#}");
    assert!(
        report["unavailability_ms"]["max"].as_u64() > Some(0),
        "{report:#}"
    );
    // It deletes what it has made.
    assert!(
        !rest.iter().any(|line| line.contains("is left")),
        "{rest:#?}"
    );
    cluster.wait_for_brokers(&[1, 2, 3]);
}

/// It ends by itself where what is waited for does not come, and when this process dies.
fn start(cluster: &Cluster) -> Child {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]);
    command.arg(klamm_suite::binary());
    command.args(["drill", "--bootstrap-server", &cluster.bootstrap()]);
    command.args(["--partitions", "6", "--rate", "200", "--duration", "5m"]);
    command.args(["--output", "json"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn();
    child.unwrap_or_else(|error| panic!("{command:?}: {error}"))
}
