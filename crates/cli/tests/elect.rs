use expect_test::expect;

use crate::support::{FakeCluster, Part, file, klamm, klamm_with_input, part};

/// Brokers 1 and 2 run, 3 is down: two partitions to move, one that cannot, one in place.
fn topics() -> Vec<(&'static str, Vec<Part>)> {
    vec![
        (
            "orders.eu",
            vec![part(2, &[1, 2], &[2, 1]), part(2, &[2, 1], &[2, 1])],
        ),
        ("orders.us", vec![part(2, &[3, 2], &[2])]),
        ("payments", vec![part(2, &[1, 2], &[1, 2])]),
    ]
}

async fn cluster() -> FakeCluster {
    FakeCluster::start(&[1, 2], &topics()).await
}

#[tokio::test]
async fn all_partitions() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type preferred --all-topic-partitions",
        cluster.flag()
    );
    expect![[r#"
        PARTITION    RESULT   LEADER BEFORE  LEADER AFTER  ERROR
        orders.eu-0  elected              2             1
        orders.us-0  failed               2             2  PREFERRED_LEADER_NOT_AVAILABLE (80)
        payments-0   elected              2             1

        Partitions of all topics that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             0            2      +2
             2             4            2      -2
             3             0            0       0

        PREFERRED_LEADER_NOT_AVAILABLE (80): 1 partition
          orders.us-0: preferred broker 3 is down
          What to do: The preferred replica cannot lead: its broker is down, or it is not in sync. Start the
          broker, wait until the replica is in the ISR ('klamm leaders --partitions --under-replicated'),
          then run the election again.

        preferred election: 2 elected, 0 not needed, 1 failed
        --- stderr
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
    assert_eq!(cluster.elections(), [None]);
    let again = klamm(&line).await;
    assert_eq!(
        again.code,
        Some(1),
        "orders.us-0 cannot be elected still: {again}"
    );
}

/// Every request is waited for by a person: no more of them than the command needs.
#[tokio::test]
async fn what_is_asked_for_one_partition() {
    use klamm_protocol::ApiKey;

    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type preferred --topic payments --partition 0",
        cluster.flag()
    );
    let (versions, metadata) = (ApiKey::API_VERSIONS, ApiKey::METADATA);
    let asked = |from: usize| -> Vec<ApiKey> {
        let requests = cluster.server.requests().into_iter();
        requests.skip(from).map(|request| request.key).collect()
    };
    klamm(&line).await;
    assert_eq!(
        asked(0),
        [versions, metadata, ApiKey::ELECT_LEADERS, metadata]
    );
    // The preferred leader leads: there is no change to look for.
    klamm(&line).await;
    assert_eq!(asked(4), [versions, metadata, ApiKey::ELECT_LEADERS]);
}

#[tokio::test]
async fn one_partition_that_works_ends_with_0() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type PREFERRED --topic payments --partition 0",
        cluster.flag()
    );
    expect![[r#"
        PARTITION   RESULT   LEADER BEFORE  LEADER AFTER
        payments-0  elected              2             1

        Partitions of the topics asked for that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             0            1      +1
             2             1            0      -1

        preferred election: 1 elected, 0 not needed, 0 failed
        --- stderr
        --- exit 0
    "#]]
    .assert_eq(&klamm(&line).await.shown(cluster.port()));
    expect![[r#"
        PARTITION   RESULT      LEADER BEFORE  LEADER AFTER
        payments-0  not needed              1             1

        Partitions of the topics asked for that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             1            1       0
             2             0            0       0

        preferred election: 0 elected, 1 not needed, 0 failed
        --- stderr
        --- exit 0
    "#]]
    .assert_eq(&klamm(&line).await.shown(cluster.port()));
    assert_eq!(cluster.elections(), [Some(1), Some(1)]);
}

#[tokio::test]
async fn everything_from_a_properties_file() {
    let cluster = cluster().await;
    let text = format!(
        "# ops\nbootstrap.servers = {}\nretires=3\nretires=4\nsasl.jaas.config=hunter2\n",
        cluster.address
    );
    let config = file("elect.properties", &text);
    let line = format!(
        "elect --admin.config {} --election-type preferred --topic payments --partition 0 --output plain",
        config.display()
    );
    let shown = klamm(&line).await.shown(cluster.port());
    let shown = shown.replace(env!("CARGO_TARGET_TMPDIR"), "DIR");
    expect![[r#"
        topic=payments partition=0 result=elected error_code=0 error_name=NONE leader_before=2 leader_after=1
        --- stderr
        warning: --admin.config is deprecated: use --command-config
        warning: DIR/elect.properties:4: retires is not a known key: ignored (did you mean retries?)
        warning: DIR/elect.properties:5: sasl.jaas.config is ignored: connections are PLAINTEXT
        preferred election: 1 elected, 0 not needed, 0 failed
        --- exit 0
    "#]].assert_eq(&shown);
}

#[tokio::test]
async fn files_and_standard_input() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type preferred --path-to-json-file - --output plain",
        cluster.flag()
    );
    let list = r#"{"partitions": [{"topic": "payments", "partition": 0},
        {"topic": "orders.eu", "partition": 1}, {"topic": "nosuch", "partition": 7}]}"#;
    expect![[r#"
        topic=nosuch partition=7 result=failed error_code=3 error_name=UNKNOWN_TOPIC_OR_PARTITION leader_before=- leader_after=-
        topic=orders.eu partition=1 result=not_needed error_code=84 error_name=ELECTION_NOT_NEEDED leader_before=2 leader_after=2
        topic=payments partition=0 result=elected error_code=0 error_name=NONE leader_before=2 leader_after=1
        --- stderr
        UNKNOWN_TOPIC_OR_PARTITION (3): 1 partition
          nosuch-7
          What to do: The cluster has no such topic or partition, or this user may not see it. Check the
          name and the number with 'klamm leaders --partitions'; a topic deleted meanwhile can be left out.
        preferred election: 1 elected, 1 not needed, 1 failed
        --- exit 1
    "#]].assert_eq(&klamm_with_input(&line, list).await.shown(cluster.port()));
    let empty = klamm_with_input(&line, r#"{"partitions": []}"#).await;
    expect![[r#"
        --- stderr
        preferred election: no partition was listed
        --- exit 0
    "#]]
    .assert_eq(&empty.shown(cluster.port()));
}

#[tokio::test]
async fn patterns_as_json() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type preferred --topic orders.e* --output json",
        cluster.flag()
    );
    expect![[r#"
        {"election_type":"preferred","dry_run":false,"interrupted":false,"counts":{"elected":1,"not_needed":1,"failed":0},"partitions":[{"topic":"orders.eu","partition":0,"result":"elected","error_code":0,"error_name":"NONE","error_message":null,"detail":null,"advice":null,"leader_before":2,"leader_after":1},{"topic":"orders.eu","partition":1,"result":"not_needed","error_code":84,"error_name":"ELECTION_NOT_NEEDED","error_message":null,"detail":null,"advice":null,"leader_before":2,"leader_after":2}],"brokers":[{"broker":1,"leaders_before":0,"leaders_after":1},{"broker":2,"leaders_before":2,"leaders_after":1}]}
        --- stderr
        preferred election: 1 elected, 1 not needed, 0 failed
        --- exit 0
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
}

#[tokio::test]
async fn patterns_that_match_nothing_elect_nothing() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type preferred --topic orders.* --topic no* --topic none",
        cluster.flag()
    );
    expect![[r#"
        --- stderr
        error: no topic matches no*, none
          cause: the cluster has none, or this user may not see it; nothing was elected
          next step: list topics with 'klamm leaders --partitions'
        --- exit 1
    "#]]
    .assert_eq(&klamm(&line).await.shown(cluster.port()));
    assert!(cluster.elections().is_empty());
}

#[tokio::test]
async fn dry_runs_change_nothing() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type preferred --all-topic-partitions --dry-run --batch-size 2",
        cluster.flag()
    );
    expect![[r#"
        PARTITION    RESULT       LEADER BEFORE  WOULD LEAD  ERROR
        orders.eu-0  would elect              2           1
        orders.us-0  would fail               2           2  PREFERRED_LEADER_NOT_AVAILABLE (80)
        payments-0   would elect              2           1

        Partitions of all topics that each broker leads:
        BROKER  LEADS BEFORE  WOULD LEAD  CHANGE
             1             0           2      +2
             2             4           2      -2
             3             0           0       0

        PREFERRED_LEADER_NOT_AVAILABLE (80): 1 partition
          orders.us-0: preferred broker 3 is down
          What to do: The preferred replica cannot lead: its broker is down, or it is not in sync. Start the
          broker, wait until the replica is in the ISR ('klamm leaders --partitions --under-replicated'),
          then run the election again.

        dry run of a preferred election, nothing was changed: 2 would be elected, 0 not needed, 1 would fail
        --- stderr
        It would take 2 waves.
        --- exit 0
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
    assert!(cluster.elections().is_empty());
}

#[tokio::test]
async fn waves_are_said_one_by_one_without_a_terminal() {
    let cluster = cluster().await;
    let line = format!(
        "elect {} --election-type preferred --all-topic-partitions --batch-size 2 --pause 1ms --output plain",
        cluster.flag()
    );
    expect![[r#"
        topic=orders.eu partition=0 result=elected error_code=0 error_name=NONE leader_before=2 leader_after=1
        topic=orders.us partition=0 result=failed error_code=80 error_name=PREFERRED_LEADER_NOT_AVAILABLE leader_before=2 leader_after=2
        topic=payments partition=0 result=elected error_code=0 error_name=NONE leader_before=2 leader_after=1
        --- stderr
        wave 1 of 2: 2 partitions, 1 failed
        wave 2 of 2: 1 partition, 0 failed
        PREFERRED_LEADER_NOT_AVAILABLE (80): 1 partition
          orders.us-0: preferred broker 3 is down
          What to do: The preferred replica cannot lead: its broker is down, or it is not in sync. Start the
          broker, wait until the replica is in the ISR ('klamm leaders --partitions --under-replicated'),
          then run the election again.
        preferred election: 2 elected, 0 not needed, 1 failed
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
    assert_eq!(cluster.elections(), [Some(2), Some(1)]);
}

#[tokio::test]
async fn unclean_elections_warn_and_do_not_ask_scripts() {
    let cluster = FakeCluster::start(
        &[1, 2],
        &[("a", vec![part(-1, &[3, 2], &[3]), part(-1, &[3], &[3])])],
    )
    .await;
    let line = format!(
        "elect {} --election-type unclean --all-topic-partitions",
        cluster.flag()
    );
    expect![[r#"
        PARTITION  RESULT   LEADER BEFORE  LEADER AFTER  ERROR
        a-0        elected           none             2
        a-1        failed            none          none  ELIGIBLE_LEADERS_NOT_AVAILABLE (83)

        Partitions of all topics that each broker leads:
        BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
             1             0            0       0
             2             0            1      +1
             3             0            0       0

        ELIGIBLE_LEADERS_NOT_AVAILABLE (83): 1 partition
          a-1: not running: 3
          What to do: No replica can lead: none is running. Start one of the brokers that have the
          partition, the last leader before the others: it has all records.

        unclean election: 1 elected, 0 not needed, 1 failed
        --- stderr
        warning: an unclean election may lose records for good: the new leader need not have all that was acknowledged, and the other replicas cut theirs to match it. Only partitions without a leader are touched.
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
}

#[tokio::test]
async fn leaders_are_shown_once_brokers_know_of_them() {
    let cluster = cluster().await;
    cluster.lag(3);
    let line = format!(
        "elect {} --election-type preferred --topic payments --partition 0 --output plain",
        cluster.flag()
    );
    let finished = klamm(&line).await;
    assert!(
        finished
            .stdout
            .ends_with("leader_before=2 leader_after=1\n"),
        "{finished}"
    );
}

#[tokio::test]
async fn controllers_elect_without_saying_who_leads() {
    let cluster = cluster().await;
    let line = format!(
        "elect --bootstrap-controller {} --election-type preferred --all-topic-partitions",
        cluster.address
    );
    expect![[r#"
        PARTITION    RESULT   LEADER BEFORE  LEADER AFTER  ERROR
        orders.eu-0  elected              -             -
        orders.us-0  failed               -             -  PREFERRED_LEADER_NOT_AVAILABLE (80)
        payments-0   elected              -             -

        PREFERRED_LEADER_NOT_AVAILABLE (80): 1 partition
          orders.us-0
          What to do: The preferred replica cannot lead: its broker is down, or it is not in sync. Start the
          broker, wait until the replica is in the ISR ('klamm leaders --partitions --under-replicated'),
          then run the election again.

        preferred election: 2 elected, 0 not needed, 1 failed
        --- stderr
        Controllers serve no metadata: leaders before and after are not known.
        --- exit 1
    "#]].assert_eq(&klamm(&line).await.shown(cluster.port()));
    let refused = klamm(&format!("{line} --dry-run")).await;
    expect![[r#"
        --- stderr
        error: --dry-run does not work with controllers
          cause: controllers elect leaders but serve no metadata, which says who leads now
          next step: use --bootstrap-server with a broker
        --- exit 2
    "#]]
    .assert_eq(&refused.shown(cluster.port()));
}
