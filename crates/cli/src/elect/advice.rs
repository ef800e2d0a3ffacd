use klamm_client::{BrokerId, PartitionDescription};

use crate::cluster::Cluster;

use super::args::ElectionType;
use super::outcome::{Failure, NOT_ASKED, OUTCOME_UNKNOWN};

/// What a person should do about each error that an election can end with.
const ADVICE: &[(i16, &str)] = &[
    (
        -1,
        "The controller failed in a way it has no code for. Its log at this moment says why; run \
         the election again \
         after that is mended.",
    ),
    (
        3,
        "The cluster has no such topic or partition, or this user may not see it. Check the name \
         and the number with \
         'klamm leaders --partitions'; a topic deleted meanwhile can be left out.",
    ),
    (
        7,
        "The controller did not decide these before the deadline; those it decided stand. Run \
         the same command again, \
         with a longer --timeout or in waves (--batch-size).",
    ),
    (
        13,
        "The connection broke before the answer came. See who leads with 'klamm leaders \
         --partitions', then run the \
         same command again: what is already elected is not elected twice.",
    ),
    (17, "No topic can have this name. Correct it."),
    (
        29,
        "This user may not see the topic. Run as a user with DESCRIBE on it, or have an \
         administrator grant that.",
    ),
    (
        31,
        "This user may not elect leaders. Run as a user with ALTER on the cluster, or have an \
         administrator grant \
         that.",
    ),
    (
        35,
        "The cluster does not know this kind of election. Unclean elections on request need \
         Kafka 2.4 or later on \
         every node.",
    ),
    (
        41,
        "The cluster was changing its controller. Run the same command again; if it lasts, look \
         at the controllers' \
         quorum.",
    ),
    (
        42,
        "The cluster did not take the request: a partition is listed twice, or the kind of \
         election is unknown to it. \
         Upgrade the older of klamm and the cluster if the list is right.",
    ),
    (
        44,
        "The cluster refuses so many elections in one request (Apache Kafka: 10,000). Use waves: \
         --batch-size 1000.",
    ),
    (
        56,
        "The replica's log directory is offline. Look at that broker's disks and log, then run \
         the election again.",
    ),
    (
        80,
        "The preferred replica cannot lead: its broker is down, or it is not in sync. Start the \
         broker, wait until the replica is in the ISR ('klamm leaders --partitions \
         --under-replicated'), then run the election again.",
    ),
    (
        83,
        "No replica can lead: none is running. Start one of the brokers that have the partition, \
         the last leader \
         before the others: it has all records.",
    ),
    (84, "Nothing to do: the leader is the one that was wanted."),
    (
        89,
        "The cluster limits how fast its metadata may change. Use waves: --batch-size 100 \
         --pause 10s.",
    ),
];

/// What to do about an error code.
pub(crate) fn advice_for_code(code: i16) -> &'static str {
    match ADVICE.binary_search_by_key(&code, |(code, _)| *code) {
        Ok(index) => ADVICE[index].1,
        Err(_) => "An election is not expected to end like this. The controller's log says more.",
    }
}

/// What to do about a failure.
pub(crate) fn advice(failure: &Failure) -> &'static str {
    match failure.code {
        Some(code) => advice_for_code(code),
        None if failure.name == OUTCOME_UNKNOWN => {
            "The cluster was asked and its answer did not come: leaders may have changed, or may \
             yet. See who leads with 'klamm leaders --partitions', then run the same command \
             again: what is already elected is not \
             elected twice."
        }
        None if failure.name == NOT_ASKED => {
            "The command ended before these were asked for. Run it again: what is already \
             elected is not elected \
             twice."
        }
        None => "The controller's log says more.",
    }
}

/// What metadata shows of the reason, for one partition.
pub(crate) fn detail(
    election: ElectionType,
    failure: &Failure,
    cluster: &Cluster,
    partition: &PartitionDescription,
) -> Option<String> {
    match (election, failure.code?) {
        (ElectionType::Preferred, 80) => {
            let preferred = partition.preferred_leader()?;
            let isr = ids(&partition.isr);
            if !cluster.is_up(preferred) {
                Some(format!("preferred broker {preferred} is down"))
            } else if partition.offline.contains(&preferred) {
                Some(format!(
                    "the log directory of preferred broker {preferred} is offline"
                ))
            } else if !partition.isr.contains(&preferred) {
                Some(format!(
                    "preferred broker {preferred} is not in the ISR [{isr}]"
                ))
            } else {
                None
            }
        }
        (_, 80 | 83) => {
            let down = |id: &BrokerId| !cluster.is_online(*id, partition);
            let down: Vec<_> = partition.replicas.iter().copied().filter(down).collect();
            (!down.is_empty()).then(|| format!("not running: {}", ids(&down)))
        }
        _ => None,
    }
}

fn ids(ids: &[BrokerId]) -> String {
    ids.iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::cluster;

    /// Codes that ElectLeaders can answer for a partition or as a whole, those of the client's own
    /// making included.
    const CAN_HAPPEN: [i16; 16] = [-1, 3, 7, 13, 17, 29, 31, 35, 41, 42, 44, 56, 80, 83, 84, 89];

    #[test]
    fn every_code_that_can_happen_has_advice() {
        let codes: Vec<_> = ADVICE.iter().map(|(code, _)| *code).collect();
        assert_eq!(codes, CAN_HAPPEN, "ascending, each once");
        for (code, text) in ADVICE {
            assert!(text.ends_with('.'), "{code}");
        }
        assert!(advice(&Failure::of_kafka(120, "X")).contains("controller's log"));
        assert!(advice(&Failure::unknown()).contains("klamm leaders"));
        assert!(advice(&Failure::not_asked()).contains("Run it again"));
    }

    #[test]
    fn details_come_from_metadata() {
        let cluster = cluster(
            &[1, 2],
            &[("a", 0, 1, &[3, 1], &[1]), ("a", 1, 1, &[2, 1], &[1])],
        );
        let details: Vec<_> = cluster
            .partitions
            .values()
            .map(|p| {
                let failure = Failure::of_kafka(80, "X");
                detail(ElectionType::Preferred, &failure, &cluster, p).unwrap_or_default()
            })
            .collect();
        let down = "preferred broker 3 is down";
        assert_eq!(details, [down, "preferred broker 2 is not in the ISR [1]"]);
    }

    #[test]
    fn details_of_unclean_elections_name_who_is_down() {
        let cluster = cluster(&[1], &[("a", 0, -1, &[2, 3], &[2])]);
        let partition = cluster.partitions.values().next().expect("one");
        let failure = Failure::of_kafka(83, "X");
        let detail = detail(ElectionType::Unclean, &failure, &cluster, partition);
        assert_eq!(detail.as_deref(), Some("not running: 2,3"));
    }
}
