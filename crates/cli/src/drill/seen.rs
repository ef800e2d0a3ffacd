//! What a look at a cluster shows: which brokers are in service, and who leads.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use klamm_client::{Admin, BrokerId, ClientError, LeaderEpoch, SmallString, TopicSelection};
use tokio::time::Instant;

/// A partition as a broker describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Led {
    pub(super) leader: Option<BrokerId>,
    epoch: Option<LeaderEpoch>,
    pub(super) preferred: Option<BrokerId>,
    replicas: usize,
    in_sync: usize,
}

/// What one answer says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// When it was asked for, from the drill's beginning, and when the answer came.
    pub(super) asked: Duration,
    pub(super) at: Duration,
    /// The brokers in service.
    pub(super) brokers: BTreeSet<BrokerId>,
    /// All partitions of the topic, in order.
    pub(super) led: Vec<Led>,
}

impl Led {
    pub(super) fn is_in_sync(&self) -> bool {
        self.in_sync == self.replicas
    }

    pub(super) fn is_whole(&self) -> bool {
        self.leader.is_some() && self.is_in_sync()
    }
}

impl Seen {
    /// Asks any broker.
    pub(super) async fn look(
        admin: &Admin,
        topic: &SmallString,
        began: Instant,
    ) -> Result<Self, ClientError> {
        let asked = began.elapsed();
        let selection = TopicSelection::Named(vec![topic.clone()]);
        let metadata = admin.metadata(&selection, Default::default()).await?;
        let brokers = metadata.cluster.brokers.iter().map(|broker| broker.id);
        // A broker that does not know the topic yet tells nothing of it.
        let topic = metadata.topics.into_values().find_map(Result::ok);
        let partitions = topic.map(|topic| topic.partitions).unwrap_or_default();
        let led = partitions.into_iter().map(|partition| Led {
            leader: partition.leader,
            epoch: partition.leader_epoch,
            preferred: partition.preferred_leader(),
            replicas: partition.replicas.len(),
            in_sync: partition.isr.len(),
        });
        Ok(Self {
            asked,
            at: began.elapsed(),
            brokers: brokers.collect(),
            led: led.collect(),
        })
    }

    /// What is known with this look after an earlier one: a broker that lags behind may have told of
    /// leaders that are over.
    pub(super) fn after(mut self, before: &Self) -> Self {
        for (led, known) in self.led.iter_mut().zip(&before.led) {
            if led.epoch < known.epoch {
                led.clone_from(known);
            }
        }
        let untold = before.led.get(self.led.len()..).unwrap_or_default();
        self.led.extend_from_slice(untold);
        self
    }

    /// How many partitions each broker leads; those of `brokers` that lead none are there, too.
    pub(super) fn leads(
        &self,
        brokers: impl IntoIterator<Item = BrokerId>,
    ) -> BTreeMap<BrokerId, usize> {
        let mut counts: BTreeMap<BrokerId, usize> = brokers.into_iter().map(|id| (id, 0)).collect();
        for leader in self.led.iter().filter_map(|led| led.leader) {
            *counts.entry(leader).or_default() += 1;
        }
        counts
    }
}

/// The broker that leads most; of several the one with the lowest id.
pub(super) fn busiest(counts: &BTreeMap<BrokerId, usize>) -> Option<BrokerId> {
    let most = counts.values().max()?;
    counts
        .iter()
        .find(|(_, count)| *count == most)
        .map(|(id, _)| *id)
}

/// What tests look at.
#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A look at so many milliseconds: who is in service, and of each partition the leader or -1, the
    /// leader epoch and how many of three replicas are in sync.
    pub(in crate::drill) fn seen(at_ms: u64, brokers: &[i32], led: &[(i32, i32, usize)]) -> Seen {
        let led = led.iter().map(|&(leader, epoch, in_sync)| Led {
            leader: BrokerId(leader).known(),
            epoch: Some(LeaderEpoch(epoch)),
            preferred: None,
            replicas: 3,
            in_sync,
        });
        Seen {
            asked: Duration::from_millis(at_ms),
            at: Duration::from_millis(at_ms),
            brokers: brokers.iter().copied().map(BrokerId).collect(),
            led: led.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::seen;
    use super::*;

    #[test]
    fn the_busiest_is_the_first_of_those_that_lead_most() {
        let led = [3, 2, -1, 2, 3].map(|leader| (leader, 1, 3));
        let counted = seen(0, &[], &led).leads([1, 2, 3].map(BrokerId));
        let expected = [(BrokerId(1), 0), (BrokerId(2), 2), (BrokerId(3), 2)];
        assert_eq!(counted, expected.into());
        assert_eq!(busiest(&counted), Some(BrokerId(2)));
        assert_eq!(busiest(&BTreeMap::new()), None);
    }

    #[test]
    fn what_is_older_changes_nothing() {
        let before = seen(0, &[1, 2], &[(1, 5, 3), (2, 7, 3), (1, 1, 3)]);
        let now = seen(9, &[2], &[(-1, 6, 2), (1, 6, 3)]).after(&before);
        assert_eq!(now, seen(9, &[2], &[(-1, 6, 2), (2, 7, 3), (1, 1, 3)]));
        // A broker that does not know the topic tells nothing.
        assert_eq!(seen(9, &[1, 2], &[]).after(&before).led, before.led);
    }
}
