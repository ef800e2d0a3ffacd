//! Who leads, as brokers say.

use std::collections::BTreeMap;
use std::time::Duration;

use klamm_client::{Admin, BrokerId, ClientError, TopicSelection};
use tokio::time::{Instant, sleep};

/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// A partition as a broker describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Led {
    pub(super) leader: Option<BrokerId>,
    pub(super) preferred: Option<BrokerId>,
    pub(super) replicas: usize,
    pub(super) in_sync: usize,
}

/// All partitions of a topic, in order.
pub(super) async fn look(admin: &Admin, topic: &str) -> Result<Vec<Led>, ClientError> {
    let selection = TopicSelection::named([topic]);
    let topics = admin
        .describe_topics(&selection, Default::default())
        .await?;
    let topic = topics.into_values().next().and_then(Result::ok);
    let partitions = topic.map(|topic| topic.partitions).unwrap_or_default();
    let led = partitions.into_iter().map(|partition| Led {
        leader: partition.leader,
        preferred: partition.replicas.first().copied(),
        replicas: partition.replicas.len(),
        in_sync: partition.isr.len(),
    });
    Ok(led.collect())
}

/// Looks until partitions are so, and gives them; `None` where they are not after a while.
pub(super) async fn until(
    admin: &Admin,
    topic: &str,
    limit: Duration,
    mut is_so: impl FnMut(&[Led]) -> bool,
) -> Result<Option<Vec<Led>>, ClientError> {
    let deadline = Instant::now() + limit;
    loop {
        let led = look(admin, topic).await?;
        if is_so(&led) {
            return Ok(Some(led));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        sleep(LOOK).await;
    }
}

/// How many partitions each broker leads; brokers that lead none are there, too.
pub(super) fn counts(led: &[Led], brokers: &[BrokerId]) -> BTreeMap<BrokerId, usize> {
    let mut counts: BTreeMap<BrokerId, usize> = brokers.iter().map(|id| (*id, 0)).collect();
    for leader in led.iter().filter_map(|led| led.leader) {
        *counts.entry(leader).or_default() += 1;
    }
    counts
}

/// The broker that leads most; of several the one with the lowest id.
pub(super) fn busiest(counts: &BTreeMap<BrokerId, usize>) -> Option<BrokerId> {
    let most = counts.values().max()?;
    counts
        .iter()
        .find(|(_, count)| *count == most)
        .map(|(id, _)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_is_the_first_of_those_that_lead_most() {
        let led = |leader: i32| Led {
            leader: BrokerId(leader).known(),
            preferred: None,
            replicas: 3,
            in_sync: 3,
        };
        let brokers = [1, 2, 3].map(BrokerId);
        let counted = counts(&[led(3), led(2), led(-1), led(2), led(3)], &brokers);
        let expected = [(BrokerId(1), 0), (BrokerId(2), 2), (BrokerId(3), 2)];
        assert_eq!(counted, expected.into());
        assert_eq!(busiest(&counted), Some(BrokerId(2)));
        assert_eq!(busiest(&BTreeMap::new()), None);
    }
}
