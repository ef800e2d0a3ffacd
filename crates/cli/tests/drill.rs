//! `klamm drill` as a process.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{finish, interrupt, klamm, start};

#[tokio::test]
async fn nothing_is_lost() {
    let line = "drill --output json --partitions 7 --rate 200 --calm 300ms";
    let finished = klamm(line).await;
    assert_eq!(finished.code, Some(0), "{finished}");
    let report: Value = serde_json::from_str(&finished.stdout).expect("an object");
    for none in ["lost", "doubled", "out_of_order", "unacked_and_there"] {
        assert_eq!(report[none], 0, "{finished}");
    }
    assert!(report["acked"].as_u64() > Some(100), "{finished}");
    assert_eq!(report["sent"], report["acked"], "{finished}");
    // Seven partitions on three brokers: whoever leads three is the one.
    assert_eq!(report["partitions_hit"], 3, "{finished}");
    let leaders = &report["leaders"];
    let killed = report["killed"].to_string();
    assert_eq!(leaders["before"], leaders["election"], "{finished}");
    assert_eq!(leaders["failover"][&killed], 0, "{finished}");
    let of = |name: &str| report["unavailability_ms"][name].as_u64().expect("a time");
    assert!(of("min") <= of("median") && of("median") <= of("max"));
    for said in ["3 brokers serve", "is killed", "others lead", "is back"] {
        assert!(finished.stderr.contains(said), "{finished}");
    }
}

#[tokio::test]
async fn ctrl_c_ends_it() {
    let mut child = start("drill --calm 600s");
    let stderr = child.stderr.take().expect("a pipe");
    let mut lines = BufReader::new(stderr).lines();
    while let Some(line) = lines.next_line().await.expect("text") {
        if line.contains("records a second") {
            break;
        }
    }
    interrupt(&child).await;
    let finished = finish(child).await;
    assert_eq!(finished.code, Some(130), "{finished}");
    assert_eq!(finished.stdout, "");
}

#[tokio::test]
async fn what_cannot_be_is_misuse() {
    for flags in ["--brokers 2", "--partitions 0", "--rate 0", "--calm 0s"] {
        let finished = klamm(&format!("drill {flags}")).await;
        assert_eq!(finished.code, Some(2), "{flags}: {finished}");
    }
}
