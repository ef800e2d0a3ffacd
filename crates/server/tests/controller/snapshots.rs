//! Snapshots are made, served, and take the place of the log.

use klamm_metadata::Record;

use crate::support::admin::topic;
use crate::support::{Broker, Follower, Home, until};

/// A controller that makes a snapshot after every few records, and keeps no more than it must.
fn home() -> Home {
    let mut home = Home::new();
    home.set("metadata.log.max.record.bytes.between.snapshots", "2000");
    home.set("metadata.max.retention.bytes", "0");
    home.set("internal.metadata.log.segment.bytes", "2048");
    home
}

fn checkpoints(home: &Home) -> Vec<String> {
    let files = home.files().into_iter();
    files.filter(|name| name.ends_with(".checkpoint")).collect()
}

#[tokio::test]
async fn a_follower_without_anything_gets_a_snapshot() {
    let home = home();
    let controller = home.start().await;
    let _broker = Broker::started(&controller, 1).await;
    let client = controller.connect().await;
    for id in 0..50 {
        client
            .create(&topic(&format!("topic-{id}"), &[&[1], &[1]]))
            .await;
    }
    until("a snapshot is there", async || checkpoints(&home).len() > 1).await;
    let mut observer = Follower::new(&controller, -1).await;
    observer
        .until("all topics", |image| image.topics().len() == 50)
        .await;
    assert!(observer.took_snapshot);
    assert_eq!(observer.partition("topic-49", 1).leader().0, 1);
}

#[tokio::test]
async fn the_log_before_a_snapshot_goes() {
    let home = home();
    let controller = home.start().await;
    let _broker = Broker::started(&controller, 1).await;
    let client = controller.connect().await;
    let first = "00000000000000000000.log".to_owned();
    let mut id = 0;
    while home.files().contains(&first) {
        client.create(&topic(&format!("topic-{id}"), &[&[1]])).await;
        id += 1;
        assert!(id < 10_000, "the log is never trimmed");
    }
    let bootstrap = "00000000000000000000-0000000000.checkpoint".to_owned();
    assert!(checkpoints(&home).contains(&bootstrap));
    let mut before = Follower::new(&controller, -1).await;
    before
        .until("all topics", |image| image.topics().len() == id)
        .await;
    let records: Vec<Record> = before.image().snapshot().collect();
    controller.stop().await;

    // The next run begins with the snapshot, and knows the same.
    let controller = home.start().await;
    let mut after = Follower::new(&controller, -1).await;
    after
        .until("all topics", |image| image.topics().len() == id)
        .await;
    let same = |record: &Record| !matches!(record, Record::RegisterController(_));
    let after: Vec<Record> = after.image().snapshot().filter(same).collect();
    let records: Vec<Record> = records.into_iter().filter(same).collect();
    assert_eq!(after, records);
}

#[tokio::test]
async fn a_record_gets_into_a_snapshot_in_time() {
    let mut home = Home::new();
    home.set("metadata.log.max.snapshot.interval.ms", "1");
    let controller = home.start().await;
    until("a snapshot is there", async || checkpoints(&home).len() > 1).await;
    controller.stop().await;
}
