use klamm_server::{BrokerFatal, LifecycleError};

use crate::cluster::{Cluster, WITHOUT};

/// A cluster with features that klamm's brokers lack is refused by name.
#[tokio::test(flavor = "multi_thread")]
async fn features_that_are_not_supported_are_named() {
    let cluster = Cluster::with_features(&[]).await;
    cluster.prepare(1);
    let mut node = cluster.begin(1).await;
    let failed = node.ready().await.expect_err("it is refused");
    let BrokerFatal::Lifecycle(LifecycleError::Features(features)) = &failed else {
        panic!("{failed}");
    };
    let mut named: Vec<&str> = features.iter().map(|feature| &*feature.name).collect();
    named.sort_unstable();
    let expected = [
        "group.version",
        "share.version",
        "streams.version",
        "transaction.version",
    ];
    assert_eq!(named, expected);
    assert!(
        failed.to_string().contains("--feature group.version=0"),
        "{failed}"
    );
    node.kill().await;
}

/// Two nodes of one id do not take turns.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_is_taken_is_refused() {
    let mut cluster = Cluster::with_features(&WITHOUT).await;
    cluster.add(1).await;
    cluster.prepare(2);
    // The same id in other directories.
    let text = cluster.broker_file(2).replace("node.id=2", "node.id=1");
    let meta = cluster.path(2).join("meta.properties");
    let properties = std::fs::read_to_string(&meta).expect("a file");
    std::fs::write(&meta, properties.replace("node.id=2", "node.id=1")).expect("it is written");
    let text = format!("{text}initial.broker.registration.timeout.ms=5000\n");
    let mut other = cluster.begin_with(&text).await;
    let failed = other.ready().await.expect_err("it is refused").to_string();
    assert!(failed.contains("DUPLICATE_BROKER_REGISTRATION"), "{failed}");
    other.kill().await;
    cluster.create(1, "t", &[1]).await;
}
