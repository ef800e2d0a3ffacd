use expect_test::{Expect, expect};

use super::*;
use crate::elect::args::ElectionType;
use crate::elect::report::Leader;
use klamm_client::TopicPartition;

fn row(topic: &str, partition: i32, outcome: Outcome, before: i32, after: i32) -> Row {
    let leader = |id: i32| {
        if id < 0 {
            Leader::None
        } else {
            Leader::Broker(id)
        }
    };
    Row {
        partition: TopicPartition::new(topic, partition),
        outcome,
        before: leader(before),
        after: leader(after),
        detail: None,
    }
}

fn report(rows: Vec<Row>) -> Report {
    let row = |broker, leaders_before, leaders_after| BrokerRow {
        broker,
        leaders_before,
        leaders_after,
    };
    Report {
        election: ElectionType::Preferred,
        dry_run: false,
        interrupted: false,
        is_all: false,
        rows,
        brokers: Some(vec![row(1, 10, 12), row(2, 4, 2), row(3, 0, 0)]),
    }
}

fn mixed() -> Report {
    let unavailable = Outcome::Failed(Failure::of_kafka(80, "PREFERRED_LEADER_NOT_AVAILABLE"));
    let denied = Failure {
        code: Some(31),
        name: "CLUSTER_AUTHORIZATION_FAILED".to_owned(),
        message: Some("no ALTER for User:alice".to_owned()),
    };
    let mut rows = vec![
        row("orders.eu", 0, Outcome::Elected, 2, 1),
        row("orders.eu", 1, Outcome::NotNeeded, 1, 1),
        row("orders.eu", 2, unavailable.clone(), 2, 2),
        row("orders.us", 0, unavailable, -1, -1),
        row("payments", 7, Outcome::Failed(denied), 2, 2),
        row("payments", 8, Outcome::Failed(Failure::unknown()), 2, 1),
        row("payments", 9, Outcome::Failed(Failure::not_asked()), 2, 2),
    ];
    rows[2].detail = Some("preferred broker 3 is down".to_owned());
    report(rows)
}

#[track_caller]
fn check(report: &Report, format: Format, look: Look, expected: &Expect) {
    expected.assert_eq(&results(report, format, look).replace('\x1b', "^"));
}

#[test]
fn tables() {
    check(
        &mixed(),
        Format::Table,
        Look::default(),
        &expect![[r#"
            PARTITION    RESULT      LEADER BEFORE  LEADER AFTER  ERROR
            orders.eu-0  elected                 2             1
            orders.eu-1  not needed              1             1
            orders.eu-2  failed                  2             2  PREFERRED_LEADER_NOT_AVAILABLE (80)
            orders.us-0  failed               none          none  PREFERRED_LEADER_NOT_AVAILABLE (80)
            payments-7   failed                  2             2  CLUSTER_AUTHORIZATION_FAILED (31)
            payments-8   failed                  2             1  OUTCOME_UNKNOWN
            payments-9   failed                  2             2  NOT_ASKED

            Partitions of the topics asked for that each broker leads:
            BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
                 1            10           12      +2
                 2             4            2      -2
                 3             0            0       0

            CLUSTER_AUTHORIZATION_FAILED (31): 1 partition
              payments-7
              The cluster says: no ALTER for User:alice
              What to do: This user may not elect leaders. Run as a user with ALTER on the cluster, or have an
              administrator grant that.
            PREFERRED_LEADER_NOT_AVAILABLE (80): 2 partitions
              orders.eu-2: preferred broker 3 is down
              orders.us-0
              What to do: The preferred replica cannot lead: its broker is down, or it is not in sync. Start the
              broker, wait until the replica is in the ISR ('klamm leaders --partitions --under-replicated'),
              then run the election again.
            NOT_ASKED: 1 partition
              payments-9
              What to do: The command ended before these were asked for. Run it again: what is already elected
              is not elected twice.
            OUTCOME_UNKNOWN: 1 partition
              payments-8
              What to do: The cluster was asked and its answer did not come: leaders may have changed, or may
              yet. See who leads with 'klamm leaders --partitions', then run the same command again: what is
              already elected is not elected twice.

            preferred election: 1 elected, 1 not needed, 5 failed (of these 1 not asked for, 1 unknown)
        "#]],
    );
}

#[test]
fn tables_of_successes_have_no_error_column() {
    let report = report(vec![row("orders.eu", 0, Outcome::Elected, 2, 1)]);
    check(
        &report,
        Format::Table,
        Look::default(),
        &expect![[r#"
            PARTITION    RESULT   LEADER BEFORE  LEADER AFTER
            orders.eu-0  elected              2             1

            Partitions of the topics asked for that each broker leads:
            BROKER  LEADS BEFORE  LEADS AFTER  CHANGE
                 1            10           12      +2
                 2             4            2      -2
                 3             0            0       0

            preferred election: 1 elected, 0 not needed, 0 failed
        "#]],
    );
}

#[test]
fn tables_of_nothing_are_a_sentence() {
    let report = Report {
        brokers: None,
        is_all: true,
        ..report(Vec::new())
    };
    check(
        &report,
        Format::Table,
        Look::default(),
        &expect![[r#"
            preferred election: no partition needs one
        "#]],
    );
}

#[test]
fn narrow_terminals_with_colours() {
    let look = Look {
        colour: true,
        width: Some(60),
    };
    check(
        &mixed(),
        Format::Table,
        look,
        &expect![[r#"
            ^[1mPARTITION^[0m    ^[1mRESULT^[0m      ^[1mLEADER BEFORE^[0m  ^[1mLEADER AFTER^[0m  ^[1mERROR^[0m
            orders.eu-0  ^[32melected^[0m                 2             1
            orders.eu-1  ^[2mnot needed^[0m              1             1
            orders.eu-2  ^[31mfailed^[0m                  2             2  PREFER… (80)
            orders.us-0  ^[31mfailed^[0m               none          none  PREFER… (80)
            payments-7   ^[31mfailed^[0m                  2             2  CLUSTE… (31)
            payments-8   ^[31mfailed^[0m                  2             1  OUTCOM…KNOWN
            payments-9   ^[31mfailed^[0m                  2             2  NOT_ASKED

            Partitions of the topics asked for that each broker leads:
            ^[1mBROKER^[0m  ^[1mLEADS BEFORE^[0m  ^[1mLEADS AFTER^[0m  ^[1mCHANGE^[0m
                 1            10           12      +2
                 2             4            2      -2
                 3             0            0       0

            ^[31mCLUSTER_AUTHORIZATION_FAILED (31): 1 partition^[0m
              payments-7
              The cluster says: no ALTER for User:alice
              What to do: This user may not elect leaders. Run as a user
              with ALTER on the cluster, or have an administrator grant
              that.
            ^[31mPREFERRED_LEADER_NOT_AVAILABLE (80): 2 partitions^[0m
              orders.eu-2: preferred broker 3 is down
              orders.us-0
              What to do: The preferred replica cannot lead: its broker
              is down, or it is not in sync. Start the broker, wait
              until the replica is in the ISR ('klamm leaders
              --partitions --under-replicated'), then run the election
              again.
            ^[31mNOT_ASKED: 1 partition^[0m
              payments-9
              What to do: The command ended before these were asked for.
              Run it again: what is already elected is not elected
              twice.
            ^[31mOUTCOME_UNKNOWN: 1 partition^[0m
              payments-8
              What to do: The cluster was asked and its answer did not
              come: leaders may have changed, or may yet. See who leads
              with 'klamm leaders --partitions', then run the same
              command again: what is already elected is not elected
              twice.

            ^[31mpreferred election: 1 elected, 1 not needed, 5 failed (of
              these 1 not asked for, 1 unknown)^[0m
        "#]],
    );
}

#[test]
fn dry_runs_say_would() {
    let report = Report {
        dry_run: true,
        ..mixed()
    };
    let text = results(&report, Format::Table, Look::default());
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.to_lowercase().contains("would"))
        .collect();
    expect![[r#"
        PARTITION    RESULT       LEADER BEFORE  WOULD LEAD  ERROR
        orders.eu-0  would elect              2           1
        orders.eu-2  would fail               2           2  PREFERRED_LEADER_NOT_AVAILABLE (80)
        orders.us-0  would fail            none        none  PREFERRED_LEADER_NOT_AVAILABLE (80)
        payments-7   would fail               2           2  CLUSTER_AUTHORIZATION_FAILED (31)
        payments-8   would fail               2           1  OUTCOME_UNKNOWN
        payments-9   would fail               2           2  NOT_ASKED
        BROKER  LEADS BEFORE  WOULD LEAD  CHANGE
        dry run of a preferred election, nothing was changed: 1 would be elected, 1 not needed, 5 would fail"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn interrupted_reports_say_so() {
    let report = Report {
        interrupted: true,
        ..mixed()
    };
    expect![[r#"
        preferred election: 1 elected, 1 not needed, 5 failed (of these 1 not asked for, 1 unknown); interrupted before the end
    "#]]
    .assert_eq(&summary(&report, Look::default()));
}

#[test]
fn plain_lines() {
    let mut report = mixed();
    report.rows[0].before = Leader::Unknown;
    check(
        &report,
        Format::Plain,
        Look::default(),
        &expect![[r#"
        topic=orders.eu partition=0 result=elected error_code=0 error_name=NONE leader_before=- leader_after=1
        topic=orders.eu partition=1 result=not_needed error_code=84 error_name=ELECTION_NOT_NEEDED leader_before=1 leader_after=1
        topic=orders.eu partition=2 result=failed error_code=80 error_name=PREFERRED_LEADER_NOT_AVAILABLE leader_before=2 leader_after=2
        topic=orders.us partition=0 result=failed error_code=80 error_name=PREFERRED_LEADER_NOT_AVAILABLE leader_before=none leader_after=none
        topic=payments partition=7 result=failed error_code=31 error_name=CLUSTER_AUTHORIZATION_FAILED leader_before=2 leader_after=2
        topic=payments partition=8 result=failed error_code=- error_name=OUTCOME_UNKNOWN leader_before=2 leader_after=1
        topic=payments partition=9 result=failed error_code=- error_name=NOT_ASKED leader_before=2 leader_after=2
    "#]],
    );
}

#[test]
fn json_is_one_object_on_one_line() {
    let mut report = mixed();
    report.rows.truncate(3);
    report.rows[1].after = Leader::Unknown;
    check(
        &report,
        Format::Json,
        Look::default(),
        &expect![[r#"
        {"election_type":"preferred","dry_run":false,"interrupted":false,"counts":{"elected":1,"not_needed":1,"failed":1},"partitions":[{"topic":"orders.eu","partition":0,"result":"elected","error_code":0,"error_name":"NONE","error_message":null,"detail":null,"advice":null,"leader_before":2,"leader_after":1},{"topic":"orders.eu","partition":1,"result":"not_needed","error_code":84,"error_name":"ELECTION_NOT_NEEDED","error_message":null,"detail":null,"advice":null,"leader_before":1,"leader_after":null},{"topic":"orders.eu","partition":2,"result":"failed","error_code":80,"error_name":"PREFERRED_LEADER_NOT_AVAILABLE","error_message":null,"detail":"preferred broker 3 is down","advice":"The preferred replica cannot lead: its broker is down, or it is not in sync. Start the broker, wait until the replica is in the ISR ('klamm leaders --partitions --under-replicated'), then run the election again.","leader_before":2,"leader_after":2}],"brokers":[{"broker":1,"leaders_before":10,"leaders_after":12},{"broker":2,"leaders_before":4,"leaders_after":2},{"broker":3,"leaders_before":0,"leaders_after":0}]}
    "#]],
    );
    let empty = Report {
        rows: Vec::new(),
        brokers: None,
        ..report
    };
    check(
        &empty,
        Format::Json,
        Look::default(),
        &expect![[r#"
        {"election_type":"preferred","dry_run":false,"interrupted":false,"counts":{"elected":0,"not_needed":0,"failed":0},"partitions":[],"brokers":null}
    "#]],
    );
}

#[test]
fn long_groups_are_cut() {
    let failure = Outcome::Failed(Failure::of_kafka(7, "REQUEST_TIMED_OUT"));
    let report = report(
        (0..13)
            .map(|n| row("a", n, failure.clone(), 1, 1))
            .collect(),
    );
    let text = failures(&report, Look::default());
    assert!(
        text.contains("REQUEST_TIMED_OUT (7): 13 partitions"),
        "{text}"
    );
    assert!(text.contains("  a-9\n  and 3 more\n"), "{text}");
}
