//! What is counted of a connection.

use std::collections::BTreeMap;

use klamm_protocol::ApiKey;

/// Requests and responses of one API in a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiCounts {
    /// Requests.
    pub requests: u64,
    /// Their bytes, sizes included.
    pub request_bytes: u64,
    /// Responses.
    pub responses: u64,
    /// Their bytes, sizes included.
    pub response_bytes: u64,
    /// The versions that occur, the lowest and the highest.
    pub versions: Option<(i16, i16)>,
    /// Error codes other than 0, and in how many places each occurs.
    pub errors: BTreeMap<i16, u64>,
    /// How long the responses took.
    pub latency: Latency,
}

impl ApiCounts {
    pub(super) fn version(&mut self, version: i16) {
        let (min, max) = self.versions.unwrap_or((version, version));
        self.versions = Some((min.min(version), max.max(version)));
    }

    pub(super) fn errors(&mut self, errors: &[(i16, u32)]) {
        for (code, count) in errors {
            *self.errors.entry(*code).or_default() += u64::from(*count);
        }
    }
}

/// Counts by API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<i16, ApiCounts>);

impl Counts {
    pub(super) fn of(&mut self, key: ApiKey) -> &mut ApiCounts {
        self.0.entry(key.0).or_default()
    }

    /// Every API that occurs, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (ApiKey, &ApiCounts)> {
        self.0.iter().map(|(key, counts)| (ApiKey(*key), counts))
    }
}

/// How long things took, in nanoseconds: the shortest and the longest as they are, in between to
/// within 2%.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    buckets: BTreeMap<u16, u64>,
    count: u64,
    bounds: Option<(u64, u64)>,
}

/// Buckets for each power of two.
const STEPS: u32 = 64;

impl Latency {
    pub(super) fn add(&mut self, nanos: u64) {
        *self.buckets.entry(bucket(nanos)).or_default() += 1;
        self.count += 1;
        let (min, max) = self.bounds.unwrap_or((nanos, nanos));
        self.bounds = Some((min.min(nanos), max.max(nanos)));
    }

    /// The shortest.
    pub fn min(&self) -> Option<u64> {
        self.bounds.map(|(min, _)| min)
    }

    /// The longest.
    pub fn max(&self) -> Option<u64> {
        self.bounds.map(|(_, max)| max)
    }

    /// The one in the middle.
    pub fn median(&self) -> Option<u64> {
        let (min, max) = self.bounds?;
        let mut left = self.count.div_ceil(2);
        let (bucket, _) = self.buckets.iter().find(|(_, count)| {
            left = left.saturating_sub(**count);
            left == 0
        })?;
        Some(middle(*bucket).clamp(min, max))
    }
}

fn bucket(nanos: u64) -> u16 {
    let step = u64::from(STEPS);
    if nanos < step {
        return nanos as u16;
    }
    // The highest bit, and as many below it as tell the steps apart.
    let shift = nanos.ilog2() - STEPS.ilog2();
    ((shift + 1) * STEPS + ((nanos >> shift) - step) as u32) as u16
}

/// A value in the middle of a bucket.
fn middle(bucket: u16) -> u64 {
    let bucket = u32::from(bucket);
    if bucket < STEPS {
        return bucket.into();
    }
    let shift = bucket / STEPS - 1;
    let low = u64::from(bucket % STEPS + STEPS) << shift;
    low + ((1 << shift) >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_close() {
        for nanos in [0, 1, 63, 64, 65, 1_000, 123_456_789, u64::MAX / 3, u64::MAX] {
            let close = middle(bucket(nanos));
            assert!(close.abs_diff(nanos) <= nanos / 64, "{nanos}: {close}");
        }
        let mut latency = Latency::default();
        assert_eq!(latency.median(), None);
        for nanos in [5, 1_000_000, 7] {
            latency.add(nanos);
        }
        let all = (latency.min(), latency.median(), latency.max());
        assert_eq!(all, (Some(5), Some(7), Some(1_000_000)));
    }

    #[test]
    fn buckets_are_in_order() {
        let mut last = 0;
        for exponent in 0..64 {
            for nanos in [1u64 << exponent, (1 << exponent) + (1 << exponent >> 1)] {
                assert!(bucket(nanos) >= last);
                last = bucket(nanos);
            }
        }
    }
}
