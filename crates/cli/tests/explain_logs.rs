//! Log directories.

use expect_test::expect;

use crate::support::klamm;

/// The directories of partitions of a real broker.
const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../explain/tests/logs");

#[tokio::test]
async fn directories_are_read_file_by_file() {
    let shown = klamm(&format!("explain --file {LOGS}/orders-1 --type control")).await;
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    expect![[r#"
        leader-epoch-checkpoint: 12 bytes
        0
        2
        0 0
        2 6

        partition.metadata: 43 bytes
        version: 0
        topic_id: ory9TNm3TnyDy7ryjsAq6Q

        00000000000000000000.log: 463 bytes
            OFFSET  EPOCH  TIME                      TYPE                          SAYS
                 1      0  2026-11-30T01:20:45.046Z  COMMIT v0                     coordinatorEpoch=0
                 3      0  2026-11-30T01:20:45.216Z  ABORT v0                      coordinatorEpoch=0
                 5      0  2026-11-30T01:20:45.304Z  COMMIT v0                     coordinatorEpoch=0
        6 records in 6 batches, 463 bytes; 3 shown

        00000000000000000000.timeindex: 12 bytes
        1 entry

        00000000000000000000.txnindex: 34 bytes
        1 entry

        00000000000000000006.snapshot: 56 bytes
        crc=290459249 producerEntries=[{producerId=5 epoch=3 lastSequence=-1 lastOffset=-1 offsetDelta=0 timestamp=1796001645304 coordinatorEpoch=0 currentTxnFirstOffset=-1}]
    "#]]
    .assert_eq(&shown.stdout);
    let command = format!("explain --file {LOGS}/__cluster_metadata-0 --output json");
    let lines = klamm(&format!("{command} --type TopicRecord")).await;
    assert_eq!((lines.code, lines.stderr.as_str()), (Some(0), ""));
    let mut files = Vec::new();
    let mut topics = Vec::new();
    for line in lines.stdout.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        match line["kind"].as_str() {
            Some("file") => files.push(line["form"].as_str().unwrap_or_default().to_owned()),
            Some("record") => {
                let name = line["value"]["fields"]["name"].as_str();
                topics.push(name.unwrap_or_default().to_owned());
            }
            _ => {}
        }
    }
    files.dedup();
    assert_eq!(files, ["text", "snapshot", "log", "producers"]);
    assert!(topics.iter().any(|name| name == "orders"), "{topics:?}");
    let tree = klamm(&format!("{command} --tree")).await;
    assert_eq!(tree.code, Some(0), "{tree}");
}

#[tokio::test]
async fn a_cut_segment_is_shown_up_to_the_cut() {
    let whole = std::fs::read(format!("{LOGS}/orders-1/00000000000000000000.log"));
    let whole = whole.expect("it is in the repository");
    let folder = std::env::temp_dir().join(format!("klamm-log-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary directory is writable");
    let path = folder.join("00000000000000000000.log");
    std::fs::write(&path, &whole[..whole.len() - 10]).expect("the folder is writable");
    let cut = klamm(&format!("explain --file {}", folder.display())).await;
    std::fs::remove_dir_all(&folder).expect("it was made");
    assert_eq!(cut.code, Some(1), "{cut}");
    expect![[r#"
        00000000000000000000.log: 453 bytes
            OFFSET  EPOCH  TIME                      TYPE                          SAYS
                 0      0  2026-11-30T01:20:44.708Z  data                          key="paid" value="true"
                 1      0  2026-11-30T01:20:45.046Z  COMMIT v0                     coordinatorEpoch=0
                 2      0  2026-11-30T01:20:44.882Z  data                          key="paid" value="false"
                 3      0  2026-11-30T01:20:45.216Z  ABORT v0                      coordinatorEpoch=0
                 4      0  2026-11-30T01:20:45.211Z  data                          key="paid" value="true"
        broken: byte 385: the start of a batch: 68 of 78 bytes are here
        5 records in 6 batches, 453 bytes
    "#]]
    .assert_eq(&cut.stdout);
    let misuse = klamm(&format!("explain --file {LOGS}/orders-1 --api Fetch")).await;
    assert_eq!((misuse.code, misuse.stdout.as_str()), (Some(2), ""));
    assert!(
        misuse.stderr.contains("--api does not go with a log"),
        "{misuse}"
    );
}

/// A page says of a file what the text says, and both end with the same status.
#[tokio::test]
async fn text_json_and_pages_agree_on_what_is_wrong() {
    let read =
        |name: &str| std::fs::read(format!("{LOGS}/{name}")).expect("it is in the repository");
    let segment = read("orders-1/00000000000000000000.log");
    let index = read("orders-1/00000000000000000000.timeindex");
    let producers = read("orders-1/00000000000000000006.snapshot");
    let len = segment.len();
    let mut flipped = segment.clone();
    flipped[100] ^= 1;
    let folder = std::env::temp_dir().join(format!("klamm-agree-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary directory is writable");
    for (name, bytes, code, said) in [
        ("00000000000000000000.log", segment.clone(), 0, ""),
        ("00000000000000000000.log", Vec::new(), 0, "0 batches"),
        (
            "00000000000000000000.log",
            segment[..len - 1].to_vec(),
            1,
            "77 of 78 bytes are here",
        ),
        (
            "00000000000000000000.log",
            segment[..1].to_vec(),
            0,
            "1 byte that is 0",
        ),
        (
            "00000000000000000000.log",
            [&segment[..], &[0; 99]].concat(),
            0,
            "99 bytes that are 0",
        ),
        (
            "00000000000000000000.log",
            [&segment[..], &[7; 99]].concat(),
            1,
            "none of 0, 1 and 2",
        ),
        ("00000000000000000000.log", flipped, 1, "0xcd713a94"),
        ("00000000000000000000.timeindex", Vec::new(), 0, "0 entries"),
        (
            "00000000000000000000.timeindex",
            [&index[..], b"x"].concat(),
            1,
            "1 byte at the end is no entry",
        ),
        (
            "00000000000000000000.index",
            vec![0; 8],
            0,
            "8 bytes that are 0",
        ),
        (
            "00000000000000000000.txnindex",
            vec![1; 35],
            1,
            "1 byte at the end is no entry",
        ),
        (
            "00000000000000000006.snapshot",
            producers[..20].to_vec(),
            1,
            "stopped",
        ),
        ("leader-epoch-checkpoint", b"0\n1\n0 7\n".to_vec(), 0, "0 7"),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, &bytes).expect("the folder is writable");
        for output in ["text", "json", "html"] {
            let command = format!("explain --file {} --output {output}", path.display());
            let shown = klamm(&command).await;
            assert_eq!(
                shown.code,
                Some(code),
                "{command}, {} bytes: {shown}",
                bytes.len()
            );
            let is_said = output == "json" || shown.stdout.contains(said);
            assert!(is_said, "{command}, {} bytes: {shown}", bytes.len());
        }
    }
    std::fs::remove_dir_all(&folder).expect("it was made");
}
