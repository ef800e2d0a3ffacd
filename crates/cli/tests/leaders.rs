use std::time::Duration;

use expect_test::expect;
use klamm_protocol::Request;
use klamm_protocol::messages::describe_topic_partitions::DescribeTopicPartitionsRequest;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::support::{FakeCluster, file, finish, interrupt, klamm, part, start};

async fn cluster() -> FakeCluster {
    let mut leaderless = part(-1, &[3], &[]);
    leaderless.elr = vec![3];
    let topics = [
        (
            "orders.eu",
            vec![part(2, &[1, 2, 3], &[2, 1]), part(2, &[2, 3, 1], &[2, 1])],
        ),
        ("orders.us", vec![leaderless]),
        ("payments", vec![part(1, &[1, 2], &[1, 2])]),
    ];
    FakeCluster::start(&[1, 2], &topics).await
}

#[tokio::test]
async fn brokers_and_partitions() {
    let cluster = cluster().await;
    let line = format!("leaders {}", cluster.flag());
    expect![[r#"
        BROKER  ADDRESS          LEADS  PREFERRED  DIFFERENCE  OUT OF SYNC
             1  127.0.0.1:PORT      1          2          -1            0
             2  127.0.0.1:PORT      2          1          +1            0
             3  down                 0          1          -1            3

        4 partitions of 3 topics: 2 off their preferred leader, 1 leaderless, 3 under-replicated
        --- stderr
        --- exit 0
    "#]]
    .assert_eq(&klamm(&line).await.shown(cluster.port()));
    let partitions = klamm(&format!("{line} --partitions")).await;
    expect![[r#"
        PARTITION    LEADER  PREFERRED  REPLICAS  ISR   ELR
        orders.eu-0       2          1  1,2,3     2,1   none
        orders.eu-1       2          2  2,3,1     2,1   none
        orders.us-0    none          3  3         none  3
        payments-0        1          1  1,2       1,2   none

        4 partitions of 3 topics: 2 off their preferred leader, 1 leaderless, 3 under-replicated
        --- stderr
        --- exit 0
    "#]]
    .assert_eq(&partitions.shown(cluster.port()));
    let filtered = klamm(&format!(
        "{line} --not-preferred --topic orders.* --output plain"
    ))
    .await;
    expect![[r#"
        topic=orders.eu partition=0 leader=2 preferred=1 replicas=1,2,3 isr=2,1 elr=none
        topic=orders.us partition=0 leader=none preferred=3 replicas=3 isr=none elr=3
        --- stderr
        --- exit 0
    "#]]
    .assert_eq(&filtered.shown(cluster.port()));
    let none = klamm(&format!(
        "{line} --leaderless --topic payments --topic no* --broker 9,1"
    ))
    .await;
    expect![[r#"
        0 partitions of 0 topics: 0 off their preferred leader, 0 leaderless, 0 under-replicated
        --- stderr
        warning: no topic matches no*
        warning: no broker has the id 9
        --- exit 0
    "#]]
    .assert_eq(&none.shown(cluster.port()));
}

#[tokio::test]
async fn clusters_that_do_not_tell_the_elr() {
    let cluster = cluster().await;
    cluster.offer_without(DescribeTopicPartitionsRequest::KEY);
    let line = format!(
        "leaders {} --topic orders.us --partitions --output plain",
        cluster.flag()
    );
    expect![[r#"
        topic=orders.us partition=0 leader=none preferred=3 replicas=3 isr=none elr=-
        --- stderr
        --- exit 0
    "#]]
    .assert_eq(&klamm(&line).await.shown(cluster.port()));
}

#[tokio::test]
async fn watching_appends_where_there_is_no_terminal_and_ends_with_ctrl_c() {
    let cluster = cluster().await;
    let line = format!("leaders {} --output json --watch 100ms", cluster.flag());
    let mut child = start(&line);
    let mut lines = BufReader::new(child.stdout.as_mut().expect("a pipe")).lines();
    for _ in 0..3 {
        let line = lines.next_line().await.expect("readable").expect("a frame");
        assert!(
            line.starts_with("{\"counts\":") && line.ends_with("]}"),
            "{line}"
        );
    }
    interrupt(&child).await;
    let finished = finish(child).await;
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(130), ""));
}

#[tokio::test]
async fn watching_goes_on_when_the_cluster_does() {
    let cluster = cluster().await;
    let config = file("watch.properties", "retries=0\n");
    let config = config.display();
    let line = format!(
        "leaders {} --command-config {config} --watch 100ms",
        cluster.flag()
    );
    let mut child = start(&format!("{line} --output plain --broker 1"));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut talk = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    lines.next_line().await.expect("readable").expect("a frame");
    cluster.break_off();
    let said = talk.next_line().await.expect("readable").expect("trouble");
    assert_eq!(said, "error: the cluster could not be asked who leads");
    cluster.recover();
    while lines
        .next_line()
        .await
        .expect("readable")
        .expect("a frame")
        .is_empty()
    {}
    lines.next_line().await.expect("readable").expect("a frame");
    interrupt(&child).await;
    assert_eq!(finish(child).await.code, Some(130));
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_it_quietly() {
    let cluster = cluster().await;
    let mut child = start(&format!(
        "leaders {} --watch 100ms --output json",
        cluster.flag()
    ));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    lines.next_line().await.expect("readable").expect("a frame");
    drop(lines);
    let finished = tokio::time::timeout(Duration::from_secs(20), finish(child)).await;
    let finished = finished.expect("it ends without its reader");
    assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn controllers_are_refused() {
    let finished = klamm("leaders --bootstrap-controller 127.0.0.1:1").await;
    expect![[r#"
        --- stderr
        error: klamm leaders does not work with controllers
          cause: controllers serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker
        --- exit 2
    "#]]
    .assert_eq(&finished.to_string());
}
