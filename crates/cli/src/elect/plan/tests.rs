use expect_test::expect;

use super::*;
use crate::cluster::testing::cluster;

/// Brokers 1 and 2 run, 3 does not.
fn example() -> Cluster {
    let mut cluster = cluster(
        &[1, 2],
        &[
            ("a-led", 0, 1, &[1, 2], &[1, 2]),
            ("b-moved", 0, 2, &[1, 2], &[1, 2]),
            ("c-behind", 0, 2, &[1, 2], &[2]),
            ("d-down", 0, 2, &[3, 2], &[2]),
            ("e-leaderless-in-sync", 0, -1, &[3, 2], &[2]),
            ("f-leaderless-unclean", 0, -1, &[3, 2], &[3]),
            ("g-leaderless-dead", 0, -1, &[3], &[3]),
            ("h-elr", 0, -1, &[3, 1, 2], &[]),
            ("i-bad-disk", 0, 2, &[1, 2], &[1, 2]),
        ],
    );
    for (tp, partition) in &mut cluster.partitions {
        match &*tp.topic {
            "h-elr" => partition.elr = Some(vec![BrokerId(2)]),
            "i-bad-disk" => partition.offline.push(BrokerId(1)),
            _ => {}
        }
    }
    cluster
}

fn shown(election: ElectionType) -> String {
    let cluster = example();
    let line = |(tp, partition): (&TopicPartition, &PartitionDescription)| {
        let Forecast { outcome, leader } = forecast(election, &cluster, Some(partition));
        let failure = outcome
            .failure()
            .map(|failure| format!(" {failure}"))
            .unwrap_or_default();
        let leader = leader.map(|id| id.0);
        format!("{tp}: {}{failure} -> {leader:?}\n", outcome.name())
    };
    cluster.partitions.iter().map(line).collect()
}

#[test]
fn preferred_elections() {
    expect![[r#"
        a-led-0: not_needed -> Some(1)
        b-moved-0: elected -> Some(1)
        c-behind-0: failed PREFERRED_LEADER_NOT_AVAILABLE (80) -> Some(2)
        d-down-0: failed PREFERRED_LEADER_NOT_AVAILABLE (80) -> Some(2)
        e-leaderless-in-sync-0: elected -> Some(2)
        f-leaderless-unclean-0: failed PREFERRED_LEADER_NOT_AVAILABLE (80) -> None
        g-leaderless-dead-0: failed PREFERRED_LEADER_NOT_AVAILABLE (80) -> None
        h-elr-0: elected -> Some(2)
        i-bad-disk-0: failed PREFERRED_LEADER_NOT_AVAILABLE (80) -> Some(2)
    "#]]
    .assert_eq(&shown(ElectionType::Preferred));
}

#[test]
fn unclean_elections() {
    expect![[r#"
        a-led-0: not_needed -> Some(1)
        b-moved-0: not_needed -> Some(2)
        c-behind-0: not_needed -> Some(2)
        d-down-0: not_needed -> Some(2)
        e-leaderless-in-sync-0: elected -> Some(2)
        f-leaderless-unclean-0: elected -> Some(2)
        g-leaderless-dead-0: failed ELIGIBLE_LEADERS_NOT_AVAILABLE (83) -> None
        h-elr-0: elected -> Some(2)
        i-bad-disk-0: not_needed -> Some(2)
    "#]]
    .assert_eq(&shown(ElectionType::Unclean));
}

#[test]
fn partitions_that_do_not_exist_fail() {
    let forecast = forecast(ElectionType::Preferred, &example(), None);
    let failure = forecast.outcome.failure().map(ToString::to_string);
    assert_eq!(failure.as_deref(), Some("UNKNOWN_TOPIC_OR_PARTITION (3)"));
}

#[test]
fn candidates_are_what_an_election_of_all_is_about() {
    let names = |election| {
        let candidates = candidates(election, &example());
        candidates
            .iter()
            .map(|tp| tp.topic[..1].to_owned())
            .collect::<String>()
    };
    assert_eq!(names(ElectionType::Preferred), "bcdefghi");
    assert_eq!(names(ElectionType::Unclean), "efgh");
}
