use std::collections::BTreeMap;

use expect_test::expect_file;

use super::super::audit::Audit;
use super::super::history::Change;
use super::super::spread::Spread;
use super::super::talk::Event;
use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Twelve partitions of three brokers, one of which is away from 3 s to 6 s. Those that it led have no
/// leader for 300 ms.
fn history() -> History {
    let mut history = History::default();
    let mut broker = |at, id, is_there| {
        let id = BrokerId(id);
        history.note(ms(at), &Change::Broker { id, is_there });
    };
    for id in 1..=3 {
        broker(400, id, true);
    }
    broker(3_200, 2, false);
    broker(6_000, 2, true);
    for partition in 0..12 {
        let id = BrokerId(partition as i32 % 3 + 1);
        let mut led = |at, leader| {
            let change = Change::Leader {
                partition,
                before: None,
                leader,
            };
            history.note(ms(at), &change);
        };
        led(500, Some(id));
        if id == BrokerId(2) {
            led(3_000, None);
            led(3_300, Some(BrokerId(1 + 2 * (partition as i32 / 3 % 2))));
            led(7_200, Some(id));
        }
    }
    history
}

/// A record each 40 ms to each partition; those of broker 2 wait while there is no leader.
fn sent() -> Vec<Vec<Sent>> {
    let sent = |partition: u64| {
        let times = (0..200).map(|n| 600 + n * 40 + partition * 3);
        let sent = times.map(|at| {
            let is_stuck = partition % 3 == 1 && (3_000..3_310).contains(&at);
            let ended = if is_stuck { 3_312 } else { at + 2 + at % 3 };
            Sent {
                at: ms(at),
                ended: ms(ended),
                failure: None,
            }
        });
        sent.collect()
    };
    (0..12).map(sent).collect()
}

fn report() -> Report {
    let leads = |counts: [usize; 3]| -> BTreeMap<BrokerId, usize> {
        (1..).map(BrokerId).zip(counts).collect()
    };
    let event = |at, what: &str| Event {
        at: ms(at),
        what: what.to_owned(),
    };
    Report {
        partitions: 12,
        rate: 300,
        took: ms(9_000),
        audit: Audit {
            sent: 2_400,
            acked: 2_400,
            ..Audit::default()
        },
        unavailability: Some(Spread {
            min: ms(300),
            median: ms(306),
            max: ms(312),
        }),
        hit: 4,
        failures: Vec::new(),
        leaders: vec![
            ("before", leads([4, 4, 4])),
            ("failover", leads([6, 0, 6])),
            ("restart", leads([6, 0, 6])),
            ("election", leads([4, 4, 4])),
        ],
        events: vec![
            event(400, "3 brokers serve"),
            event(600, "300 records a second to 12 partitions"),
            event(3_000, "broker 2 is killed; it led 4 partitions"),
            event(3_300, "others lead, 300 ms after"),
            event(6_000, "broker 2 is back"),
            event(7_200, "preferred leaders are elected"),
        ],
        form: ClusterForm::Own {
            ready: ms(400),
            killed: BrokerId(2),
            led_again: ms(300),
            in_sync_again: ms(900),
        },
    }
}

fn shown(report: &Report, history: &History, sent: &[Vec<Sent>]) -> String {
    page(Story {
        report,
        history,
        sent,
    })
}

#[test]
fn a_drill() {
    let page = shown(&report(), &history(), &sent());
    // The style is in a file of its own, and so is that of all pages; an element a line is readable.
    let page = page.replace(BASE_STYLE, "").replace(STYLE, "");
    let lines = page.replace("><", ">\n<");
    expect_file!["../../../tests/snapshots/drill.html"].assert_eq(&lines);
}

#[test]
fn nothing_comes_from_elsewhere() {
    let page = shown(&report(), &history(), &sent());
    for foreign in [
        "<script", "http:", "https:", "url(", "@import", "<link", "<img",
    ] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    assert!(page.contains("prefers-color-scheme") || page.contains("light-dark("));
}

#[test]
fn names_are_escaped() {
    let hostile = "<script>alert('&')</script>";
    let report = Report {
        events: vec![Event {
            at: ms(1),
            what: hostile.to_owned(),
        }],
        failures: vec![hostile.to_owned()],
        form: ClusterForm::Other {
            topic: hostile.into(),
            leaderless: None,
        },
        ..report()
    };
    let page = shown(&report, &history(), &sent());
    assert!(!page.contains("<script"), "{page}");
    assert!(page.matches("&lt;script&gt;").count() >= 3, "{page}");
}

#[test]
fn empty_drills_and_large_ones() {
    let none = Report {
        took: Duration::ZERO,
        leaders: Vec::new(),
        events: Vec::new(),
        unavailability: None,
        audit: Audit::default(),
        ..report()
    };
    let page = shown(&none, &History::default(), &[]);
    assert!(page.contains("No record was acknowledged."), "{page}");
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");

    let many = vec![sent().remove(1); 10_000];
    let page = shown(&report(), &history(), &many);
    assert!(page.contains("48 of 10000 partitions, those whose records waited longest."));
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
}
