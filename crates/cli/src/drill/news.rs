//! What changes on a cluster, in words.

use std::collections::BTreeMap;
use std::time::Duration;

use klamm_client::BrokerId;

use super::history::Change;
use super::watch::News;
use crate::table::plural;

/// How many partitions are named in a line.
const MOST_NAMED: usize = 10;

/// Tells of changes, with how long what they end has been so.
#[derive(Debug, Default)]
pub(super) struct Words {
    leaderless: BTreeMap<usize, Duration>,
    away: BTreeMap<BrokerId, Duration>,
    silent: Option<Duration>,
}

impl Words {
    /// When it was, and what: a line each.
    pub(super) fn tell(&mut self, news: &News) -> (Duration, Vec<String>) {
        match news {
            News::Changed { at, changes } => (*at, self.changed(*at, changes)),
            News::Silence { at, why } => {
                self.silent = Some(*at);
                (*at, vec![format!("no broker answers: {why}")])
            }
            News::Answer { at } => {
                let since = self.silent.take().unwrap_or(*at);
                let after = shown(at.saturating_sub(since));
                (*at, vec![format!("brokers answer again, {after} after")])
            }
        }
    }

    fn changed(&mut self, at: Duration, changes: &[Change]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut lost = Vec::new();
        let mut again = Vec::new();
        let mut moved: BTreeMap<(BrokerId, BrokerId), usize> = BTreeMap::new();
        let mut in_sync = None;
        for change in changes {
            match *change {
                Change::Broker { id, is_there } => lines.push(self.broker(at, id, is_there)),
                Change::Leader {
                    partition,
                    before,
                    leader,
                } => match (before, leader) {
                    (_, None) => {
                        self.leaderless.insert(partition, at);
                        lost.push(partition);
                    }
                    (Some(before), Some(leader)) => {
                        *moved.entry((before, leader)).or_default() += 1;
                    }
                    (None, Some(_)) => {
                        let since = self.leaderless.remove(&partition).unwrap_or(at);
                        again.push((partition, at.saturating_sub(since)));
                    }
                },
                Change::OutOfSync { before: 0, now } => {
                    let has = if now == 1 { "has" } else { "have" };
                    in_sync = Some(format!(
                        "{} {has} replicas out of sync",
                        plural(now, "partition")
                    ));
                }
                Change::OutOfSync { now: 0, .. } => {
                    in_sync = Some("all replicas are in sync".to_owned());
                }
                Change::OutOfSync { .. } => {}
            }
        }
        lines.extend(without_leader(&lost));
        lines.extend(with_leader(&again));
        lines.extend(with_others(&moved));
        lines.extend(in_sync);
        lines
    }

    fn broker(&mut self, at: Duration, id: BrokerId, is_there: bool) -> String {
        if !is_there {
            self.away.insert(id, at);
            return format!("broker {id} has left");
        }
        match self.away.remove(&id) {
            Some(since) => {
                let after = shown(at.saturating_sub(since));
                format!("broker {id} is back, {after} after")
            }
            None => format!("broker {id} has come"),
        }
    }
}

fn without_leader(lost: &[usize]) -> Option<String> {
    let (count, has) = have(lost.len())?;
    Some(format!("{count} {has} no leader: {}", named(lost)))
}

fn with_leader(again: &[(usize, Duration)]) -> Option<String> {
    let (count, has) = have(again.len())?;
    let waits = again.iter().map(|(_, wait)| *wait);
    let (least, most) = (shown(waits.clone().min()?), shown(waits.max()?));
    let after = if least == most {
        most
    } else {
        format!("{least} to {most}")
    };
    let partitions: Vec<usize> = again.iter().map(|(partition, _)| *partition).collect();
    Some(format!(
        "{count} {has} a leader again, {after} after: {}",
        named(&partitions)
    ))
}

fn with_others(moved: &BTreeMap<(BrokerId, BrokerId), usize>) -> Option<String> {
    let (count, has) = have(moved.values().sum())?;
    let moves: Vec<String> = moved
        .iter()
        .map(|((before, leader), count)| format!("{count} from broker {before} to {leader}"))
        .collect();
    Some(format!(
        "{count} {has} another leader: {}",
        moves.join(", ")
    ))
}

fn have(count: usize) -> Option<(String, &'static str)> {
    let has = if count == 1 { "has" } else { "have" };
    (count > 0).then(|| (plural(count, "partition"), has))
}

/// Partitions by number, the first ones.
pub(super) fn named(partitions: &[usize]) -> String {
    let numbers = partitions.iter().take(MOST_NAMED);
    let numbers: Vec<String> = numbers.map(ToString::to_string).collect();
    let numbers = numbers.join(", ");
    match partitions.len().saturating_sub(MOST_NAMED) {
        0 => numbers,
        more => format!("{numbers} and {more} more"),
    }
}

/// How long something took.
pub(super) fn shown(span: Duration) -> String {
    if span < Duration::from_secs(10) {
        format!("{} ms", span.as_millis())
    } else {
        format!("{:.1} s", span.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::history::changes;
    use super::super::seen::Seen;
    use super::super::seen::testing::seen;
    use super::*;

    #[test]
    fn a_broker_goes_and_comes_back() {
        let looks = [
            seen(20, &[1, 3], &[(-1, 2, 2), (-1, 2, 2), (3, 2, 2)]),
            seen(350, &[1, 3], &[(3, 3, 2), (-1, 2, 2), (3, 2, 2)]),
            seen(361, &[1, 3], &[(3, 3, 2), (1, 3, 2), (3, 2, 2)]),
            seen(12_000, &[1, 2, 3, 4], &[(3, 3, 3), (1, 3, 2), (3, 2, 3)]),
            seen(12_010, &[1, 2, 3, 4], &[(2, 4, 3), (2, 4, 3), (3, 2, 3)]),
        ];
        let mut before = seen(0, &[1, 2, 3], &[(2, 1, 3), (2, 1, 3), (3, 2, 3)]);
        let mut words = Words::default();
        let mut lines = String::new();
        let mut tell = |news: &News| {
            let (at, told) = words.tell(news);
            for line in told {
                lines.push_str(&format!("{:5} {line}\n", at.as_millis()));
            }
        };
        for look in looks {
            let changes = changes(&before, &look);
            tell(&News::Changed {
                at: look.at,
                changes,
            });
            before = look;
        }
        let at = Duration::from_millis;
        tell(&News::Silence {
            at: at(20_000),
            why: "connection refused".into(),
        });
        tell(&News::Answer { at: at(20_400) });
        expect![[r#"
               20 broker 2 has left
               20 2 partitions have no leader: 0, 1
               20 3 partitions have replicas out of sync
              350 1 partition has a leader again, 330 ms after: 0
              361 1 partition has a leader again, 341 ms after: 1
            12000 broker 2 is back, 12.0 s after
            12000 broker 4 has come
            12010 2 partitions have another leader: 1 from broker 1 to 2, 1 from broker 3 to 2
            12010 all replicas are in sync
            20000 no broker answers: connection refused
            20400 brokers answer again, 400 ms after
        "#]]
        .assert_eq(&lines);
    }

    #[test]
    fn many_partitions_are_counted() {
        let led: Vec<_> = (0..13).map(|_| (1, 1, 3)).collect();
        let lost: Vec<_> = (0..13).map(|_| (-1, 2, 3)).collect();
        let changes = changes(&seen(0, &[1], &led), &seen(1, &[1], &lost));
        let (_, lines) = Words::default().tell(&News::Changed {
            at: Duration::ZERO,
            changes,
        });
        let line = "13 partitions have no leader: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 3 more";
        assert_eq!(lines, [line]);
        assert!(super::super::history::changes(&Seen::default(), &Seen::default()).is_empty());
    }
}
