//! Where the replicas of new partitions go: striped over racks, and over the brokers of a rack.
//!
//! The rules are those of Apache Kafka's `StripedReplicaPlacer`, so that operators see the spread they
//! know: partition by partition, the first replica comes from the next rack with an unfenced broker
//! and the others from the racks in turn; within a rack the brokers take turns, unfenced ones first.
//! When each unfenced broker could have led once, racks and brokers are shuffled.

use std::collections::BTreeMap;

use klamm_protocol::BrokerId;
use thiserror::Error;

use crate::Replicas;

#[cfg(test)]
mod tests;

/// A broker that may get replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsableBroker {
    /// Its id.
    pub id: BrokerId,
    /// Its rack.
    pub rack: Option<Box<str>>,
    /// Whether it is fenced: it gets replicas only where others do not suffice, and never the first.
    pub fenced: bool,
}

/// Random numbers from the caller: one that is at least 0 and below the argument, which is positive.
pub trait Random {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize;
}

impl<F: FnMut(usize) -> usize> Random for F {
    fn below(&mut self, bound: usize) -> usize {
        self(bound)
    }
}

/// Why replicas cannot be placed. In Kafka all of these are INVALID_REPLICATION_FACTOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// The replication factor is zero or less.
    #[error("the replication factor must be positive, not {0}")]
    NotPositive(i32),
    /// Every broker is fenced, or none is registered.
    #[error("no broker is unfenced")]
    AllFenced,
    /// There are fewer brokers than replicas.
    #[error("a replication factor of {wanted} needs as many brokers; {registered} may be used")]
    TooFewBrokers {
        /// The replication factor.
        wanted: i32,
        /// How many brokers there are.
        registered: usize,
    },
}

/// Places partitions, one after another.
#[derive(Clone, Debug)]
pub struct Placer<R> {
    racks: Vec<Rack>,
    brokers: usize,
    unfenced: usize,
    /// The rack that the next partition begins with.
    start: usize,
    /// How many partitions were placed since the last shuffle.
    round: usize,
    random: R,
}

impl<R: Random> Placer<R> {
    /// A placer over these brokers, which begins at a random rack, and in each rack at a random broker.
    pub fn new(brokers: impl IntoIterator<Item = UsableBroker>, mut random: R) -> Self {
        let mut racks: BTreeMap<Option<Box<str>>, Rack> = BTreeMap::new();
        for broker in brokers {
            let rack = racks.entry(broker.rack).or_default();
            let list = if broker.fenced {
                &mut rack.fenced
            } else {
                &mut rack.unfenced
            };
            list.brokers.push(broker.id);
        }
        let mut racks: Vec<Rack> = racks.into_values().collect();
        for list in racks.iter_mut().flat_map(Rack::lists) {
            list.brokers.sort_unstable();
            if !list.brokers.is_empty() {
                list.start = random.below(list.brokers.len());
            }
        }
        let unfenced = racks.iter().map(|rack| rack.unfenced.brokers.len()).sum();
        let fenced: usize = racks.iter().map(|rack| rack.fenced.brokers.len()).sum();
        Self {
            start: if racks.is_empty() {
                0
            } else {
                random.below(racks.len())
            },
            brokers: unfenced + fenced,
            unfenced,
            racks,
            round: 0,
            random,
        }
    }

    /// The replicas of the next partition. The first is never a fenced broker.
    pub fn place(&mut self, replication_factor: i32) -> Result<Replicas, PlacementError> {
        let count = self.check(replication_factor)?;
        if self.round == self.unfenced && self.unfenced > 1 {
            self.shuffle();
        }
        let racks = self.racks.len();
        let start = self.start % racks;
        let round = self.round;
        let mut replicas = Vec::with_capacity(count);
        let mut leading = start;
        while replicas.is_empty() {
            replicas.extend(self.racks[leading].unfenced.next(round));
            leading = (leading + 1) % racks;
        }
        // The rack of the first replica has had its turn.
        let mut skip = Some((leading + racks - 1) % racks);
        let mut rack = start;
        while replicas.len() < count {
            if skip.take_if(|skipped| *skipped == rack).is_none() {
                replicas.extend(self.racks[rack].next(round));
            }
            rack = (rack + 1) % racks;
        }
        self.round += 1;
        self.start = start + 1;
        Ok(replicas.into_iter().collect())
    }

    fn check(&self, replication_factor: i32) -> Result<usize, PlacementError> {
        let positive = usize::try_from(replication_factor)
            .ok()
            .filter(|count| *count > 0);
        let count = positive.ok_or(PlacementError::NotPositive(replication_factor))?;
        if self.unfenced == 0 {
            return Err(PlacementError::AllFenced);
        }
        if count > self.brokers {
            return Err(PlacementError::TooFewBrokers {
                wanted: replication_factor,
                registered: self.brokers,
            });
        }
        Ok(count)
    }

    fn shuffle(&mut self) {
        shuffle(&mut self.racks, &mut self.random);
        for list in self.racks.iter_mut().flat_map(Rack::lists) {
            shuffle(&mut list.brokers, &mut self.random);
        }
        self.round = 0;
    }
}

#[derive(Clone, Debug, Default)]
struct Rack {
    unfenced: Turns,
    fenced: Turns,
}

impl Rack {
    fn lists(&mut self) -> [&mut Turns; 2] {
        [&mut self.unfenced, &mut self.fenced]
    }

    fn next(&mut self, round: usize) -> Option<BrokerId> {
        self.unfenced
            .next(round)
            .or_else(|| self.fenced.next(round))
    }
}

/// Brokers that take turns: each at most once in a round, another first in each round.
#[derive(Clone, Debug, Default)]
struct Turns {
    brokers: Vec<BrokerId>,
    start: usize,
    taken: usize,
    round: usize,
}

impl Turns {
    fn next(&mut self, round: usize) -> Option<BrokerId> {
        if self.brokers.is_empty() {
            return None;
        }
        if self.round != round {
            self.round = round;
            self.taken = 0;
            self.start = (self.start + 1) % self.brokers.len();
        }
        let turn = (self.taken < self.brokers.len())
            .then(|| self.brokers[(self.start + self.taken) % self.brokers.len()]);
        self.taken += usize::from(turn.is_some());
        turn
    }
}

fn shuffle<T>(items: &mut [T], random: &mut impl Random) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}
