use std::ops::Deref;

use klamm_protocol::{BrokerId, SmallVec};

/// A list of brokers: an assignment, an ISR, an ELR. Four and fewer need no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Replicas(SmallVec<[BrokerId; 4]>);

impl Replicas {
    /// No broker.
    pub const NONE: Self = Self(SmallVec::new_const());

    /// As records and messages have it.
    pub fn to_wire(&self) -> SmallVec<[i32; 4]> {
        self.iter().map(|broker| broker.0).collect()
    }

    /// Those for which `keep` holds, in the same order.
    pub fn filtered(&self, keep: impl Fn(BrokerId) -> bool) -> Self {
        self.iter()
            .copied()
            .filter(|broker| keep(*broker))
            .collect()
    }

    /// Whether every broker of `others` is in this list.
    pub fn contains_all(&self, others: &[BrokerId]) -> bool {
        others.iter().all(|broker| self.contains(broker))
    }
}

impl Deref for Replicas {
    type Target = [BrokerId];

    fn deref(&self) -> &[BrokerId] {
        &self.0
    }
}

impl FromIterator<BrokerId> for Replicas {
    fn from_iter<I: IntoIterator<Item = BrokerId>>(brokers: I) -> Self {
        Self(brokers.into_iter().collect())
    }
}

impl From<&[i32]> for Replicas {
    fn from(ids: &[i32]) -> Self {
        ids.iter().copied().map(BrokerId).collect()
    }
}

impl<const N: usize> From<[i32; N]> for Replicas {
    fn from(ids: [i32; N]) -> Self {
        ids[..].into()
    }
}

impl From<BrokerId> for Replicas {
    fn from(broker: BrokerId) -> Self {
        Self::from_iter([broker])
    }
}
