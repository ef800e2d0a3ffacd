//! Followers: they fetch, leave and join the ISR, and part with what their leader does not have.

use std::time::Duration;

use klamm_protocol::ErrorCode;

use super::clients::{batch, batch_from, fetch, produce, values};
use super::cluster::{Cluster, eventually};

/// Followers that are slow leave the ISR soon.
const SOON: &str = "replica.lag.time.max.ms=300\n";

async fn settled(cluster: &Cluster, index: i32, ids: &[i32]) {
    for id in ids {
        cluster.hosts(*id, index).await;
    }
}

/// Waits until the logs of a partition are the same.
async fn equal(cluster: &Cluster, index: i32, ids: &[i32], len: usize) {
    let same = || {
        let first = cluster.log_bytes(ids[0], index);
        let others = ids.iter().all(|id| cluster.log_bytes(*id, index) == first);
        (others && first.len() >= len).then_some(())
    };
    eventually("the logs are the same", same).await;
}

async fn isr(cluster: &Cluster, expected: &[i32]) {
    let is = || {
        let mut isr = cluster.controller.isr(0);
        isr.sort_unstable();
        (isr == expected).then_some(())
    };
    eventually(&format!("the ISR is {expected:?}"), is).await;
}

#[tokio::test]
async fn what_is_acknowledged_by_all_is_everywhere() {
    let cluster = Cluster::start(3, "").await;
    cluster.create(&[&[1, 2, 3], &[2, 3, 1]]);
    settled(&cluster, 0, &[1, 2, 3]).await;
    settled(&cluster, 1, &[1, 2, 3]).await;
    let mut sent = Vec::new();
    for number in 0..20 {
        let value = format!("record {number}");
        for index in [0, 1] {
            let leader = cluster.replicas(index + 1);
            let written = produce(leader, index, -1, batch(&[&value])).await;
            assert_eq!(ErrorCode(written.error_code), ErrorCode::NONE);
            assert_eq!(written.base_offset, number);
        }
        sent.push(value);
    }
    for index in [0, 1] {
        equal(&cluster, index, &[1, 2, 3], 1000).await;
        let fetched = fetch(cluster.replicas(index + 1), index, 0).await;
        assert_eq!(values(&fetched), sent);
        // Consumers may read from a follower, up to what it knows to be committed.
        let follower = cluster.replicas(3);
        let known = || async { fetch(follower, index, 0).await.high_watermark };
        let deadline = tokio::time::Instant::now() + super::cluster::PATIENCE;
        while known().await < 20 {
            assert!(
                tokio::time::Instant::now() < deadline,
                "the follower learns it"
            );
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert_eq!(values(&fetch(follower, index, 0).await), sent);
    }
}

#[tokio::test]
async fn who_is_gone_leaves_the_isr_and_comes_back() {
    let mut cluster = Cluster::start(3, SOON).await;
    cluster.create(&[&[1, 2, 3]]);
    settled(&cluster, 0, &[1, 2, 3]).await;
    produce(cluster.replicas(1), 0, -1, batch(&["a"])).await;
    cluster.kill(3).await;
    // While nothing is written it has all that there is.
    produce(cluster.replicas(1), 0, 1, batch(&["b"])).await;
    isr(&cluster, &[1, 2]).await;
    let written = produce(cluster.replicas(1), 0, -1, batch(&["b"])).await;
    assert_eq!(ErrorCode(written.error_code), ErrorCode::NONE);
    cluster.start_broker(3).await;
    isr(&cluster, &[1, 2, 3]).await;
    equal(&cluster, 0, &[1, 2, 3], 100).await;
}

#[tokio::test]
async fn a_proposal_that_is_not_answered_is_made_again() {
    let mut cluster = Cluster::start(2, SOON).await;
    cluster.create(&[&[1, 2]]);
    settled(&cluster, 0, &[1, 2]).await;
    cluster.controller.set_deaf(true);
    cluster.kill(2).await;
    produce(cluster.replicas(1), 0, 1, batch(&["a"])).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert_eq!(cluster.controller.isr(0), [1, 2]);
    cluster.controller.set_deaf(false);
    isr(&cluster, &[1]).await;
}

#[tokio::test]
async fn what_the_new_leader_does_not_have_goes() {
    let mut cluster = Cluster::start(2, SOON).await;
    cluster.create(&[&[1, 2]]);
    settled(&cluster, 0, &[1, 2]).await;
    produce(cluster.replicas(1), 0, -1, batch_from(7, 0, 0, &["both"])).await;
    equal(&cluster, 0, &[1, 2], 1).await;
    cluster.stop(2).await;
    for sequence in 1..4 {
        produce(
            cluster.replicas(1),
            0,
            1,
            batch_from(7, 0, sequence, &["lost"]),
        )
        .await;
    }
    isr(&cluster, &[1]).await;
    cluster.kill(1).await;
    cluster.start_broker(2).await;
    // An unclean election.
    cluster.controller.elect(0, 2, &[2]);
    cluster.hosts(2, 0).await;
    produce(cluster.replicas(2), 0, -1, batch(&["kept"])).await;
    cluster.start_broker(1).await;
    isr(&cluster, &[1, 2]).await;
    equal(&cluster, 0, &[1, 2], 100).await;
    let fetched = fetch(cluster.replicas(2), 0, 0).await;
    assert_eq!(values(&fetched), ["both", "kept"]);
    // What is known of producers is that of the records that are left.
    cluster.controller.elect(0, 1, &[1, 2]);
    settled(&cluster, 0, &[1, 2]).await;
    let next = produce(cluster.replicas(1), 0, 1, batch_from(7, 0, 1, &["next"])).await;
    assert_eq!(
        (ErrorCode(next.error_code), next.base_offset),
        (ErrorCode::NONE, 2)
    );
}

#[tokio::test]
async fn leaders_change_and_nothing_is_lost() {
    let cluster = Cluster::start(3, "").await;
    cluster.create(&[&[1, 2, 3]]);
    settled(&cluster, 0, &[1, 2, 3]).await;
    let mut sent = Vec::new();
    for round in 0..9 {
        let leader = round % 3 + 1;
        cluster.controller.elect(0, leader, &[1, 2, 3]);
        settled(&cluster, 0, &[1, 2, 3]).await;
        for number in 0..3 {
            let value = format!("{round}.{number}");
            let written = produce(cluster.replicas(leader), 0, -1, batch(&[&value])).await;
            assert_eq!(ErrorCode(written.error_code), ErrorCode::NONE);
            sent.push(value);
        }
    }
    equal(&cluster, 0, &[1, 2, 3], 1000).await;
    let fetched = fetch(cluster.replicas(3), 0, 0).await;
    assert_eq!(values(&fetched), sent);
    let epochs = |id| {
        let file = cluster.dir(id).join("orders-0/leader-epoch-checkpoint");
        std::fs::read_to_string(file).unwrap()
    };
    assert_eq!(epochs(1).lines().count(), 2 + 9);
    assert_eq!((epochs(1), epochs(1)), (epochs(2), epochs(3)));
}

/// A follower whose log was behind what the leader has deleted begins anew.
#[tokio::test]
async fn a_follower_begins_anew_where_the_leader_begins() {
    let mut cluster = Cluster::start(2, SOON).await;
    cluster.create(&[&[1, 2]]);
    settled(&cluster, 0, &[1, 2]).await;
    produce(cluster.replicas(1), 0, -1, batch(&["a"])).await;
    cluster.stop(2).await;
    for value in ["b", "c", "d"] {
        produce(cluster.replicas(1), 0, 1, batch(&[value])).await;
    }
    isr(&cluster, &[1]).await;
    cluster.fence(2);
    let deleted = super::offsets::delete(cluster.replicas(1), 0, 3).await;
    assert_eq!(deleted, Ok(3));
    cluster.start_broker(2).await;
    isr(&cluster, &[1, 2]).await;
    produce(cluster.replicas(1), 0, -1, batch(&["e"])).await;
    cluster.controller.elect(0, 2, &[1, 2]);
    settled(&cluster, 0, &[1, 2]).await;
    // A new leader tells what is committed when it has heard of the others.
    let both = async {
        while values(&fetch(cluster.replicas(2), 0, 3).await) != ["d", "e"] {
            tokio::task::yield_now().await;
        }
    };
    let both = tokio::time::timeout(Duration::from_secs(60), both).await;
    both.expect("both are committed");
    let gone = fetch(cluster.replicas(2), 0, 2).await;
    assert_eq!(ErrorCode(gone.error_code), ErrorCode::OFFSET_OUT_OF_RANGE);
}
