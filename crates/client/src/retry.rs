use std::time::Duration;

use klamm_net::{Cause, NetError};
use tokio::time::Instant;

use crate::ClientConfig;

/// Pauses that double from the first to the longest, each a fifth shorter or longer at random, so
/// that clients which failed together do not come back together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    const JITTER: f64 = 0.2;

    pub(crate) fn between_retries(config: &ClientConfig) -> Self {
        Self {
            first: config.retry_backoff,
            longest: config.retry_backoff_max,
        }
    }

    pub(crate) fn between_connects(config: &ClientConfig) -> Self {
        Self {
            first: config.reconnect_backoff,
            longest: config.reconnect_backoff_max,
        }
    }

    /// The pause after so many failures in a row, counted from 1.
    pub(crate) fn after(&self, failures: u32) -> Duration {
        // 2^31 times a millisecond is past any longest pause.
        let doubled = self
            .first
            .saturating_mul(1 << failures.saturating_sub(1).min(31));
        let jitter = 1.0 + Self::JITTER * (2.0 * fastrand::f64() - 1.0);
        doubled.min(self.longest).mul_f64(jitter).min(self.longest)
    }
}

/// Until when a call goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    start: Instant,
    pub(crate) at: Instant,
}

impl Deadline {
    /// Part of the time left that is kept for the answer's way back.
    const WAY_BACK: u32 = 10;
    const LONGEST_WAY_BACK: Duration = Duration::from_secs(1);
    /// More than anybody waits, and little enough to be added to any instant.
    const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

    pub(crate) fn after(timeout: Duration) -> Self {
        let start = Instant::now();
        Self {
            start,
            at: start + timeout.min(Self::LONGEST),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }

    pub(crate) fn total(&self) -> Duration {
        self.at - self.start
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Where a wait took nearly all of the call's time, says the whole of it: people look for the
    /// number that they gave, not for what connecting left of it.
    pub(crate) fn in_full(&self, mut error: NetError) -> NetError {
        let total = self.total();
        if let Cause::Timeout { after, .. }
        | Cause::ConnectTimeout { after }
        | Cause::Throttled { after, .. } = &mut error.cause
            && *after < total
            && total - *after <= total / Self::WAY_BACK
        {
            *after = total;
        }
        error
    }

    /// When a part of the call that may take `timeout` must be over.
    pub(crate) fn within(&self, timeout: Duration) -> Instant {
        self.at.min(Instant::now() + timeout.min(Self::LONGEST))
    }
}

/// The `timeout_ms` to give a server whose answer is waited for until `at`: a little less, so that
/// what it says when the time is over still arrives.
pub(crate) fn server_timeout_ms(at: Instant) -> i32 {
    let left = at.saturating_duration_since(Instant::now());
    let way_back = (left / Deadline::WAY_BACK).min(Deadline::LONGEST_WAY_BACK);
    i32::try_from((left - way_back).as_millis())
        .unwrap_or(i32::MAX)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_with_a_fifth_of_jitter() {
        let millis = Duration::from_millis;
        let backoff = Backoff {
            first: millis(100),
            longest: millis(1_000),
        };
        for (failures, expected) in [(1, 100), (2, 200), (3, 400), (4, 800)] {
            for _ in 0..100 {
                let pause = backoff.after(failures);
                let range = millis(expected * 8 / 10)..=millis(expected * 12 / 10);
                assert!(range.contains(&pause), "{pause:?} after {failures}");
            }
        }
        for failures in [5, 33, u32::MAX] {
            let pause = backoff.after(failures);
            assert!(
                (millis(800)..=millis(1_000)).contains(&pause),
                "{pause:?} after {failures}"
            );
        }
        assert_eq!(
            Backoff {
                first: Duration::ZERO,
                longest: millis(1)
            }
            .after(9),
            Duration::ZERO
        );
    }

    #[tokio::test(start_paused = true)]
    async fn waits_of_nearly_all_the_time_are_said_to_be_all_of_it() {
        let second = Duration::from_secs(1);
        let said = |deadline: &Deadline, millis| {
            let cause = Cause::ConnectTimeout {
                after: Duration::from_millis(millis),
            };
            let server = klamm_net::ServerAddress::new("broker-1", 9092);
            let error = NetError {
                server,
                cause,
                sent: false,
            };
            match deadline.in_full(error).cause {
                Cause::ConnectTimeout { after } => after.as_millis(),
                cause => panic!("{cause}"),
            }
        };
        let deadline = Deadline::after(second);
        for (waited, expected) in [(996, 1_000), (900, 1_000), (899, 899), (2_000, 2_000)] {
            assert_eq!(said(&deadline, waited), expected);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn servers_get_a_little_less_time_than_is_waited() {
        let after = |seconds| server_timeout_ms(Instant::now() + Duration::from_secs(seconds));
        assert_eq!(after(30), 29_000);
        assert_eq!(after(1), 900);
        assert_eq!(after(0), 1);
        assert_eq!(after(1 << 40), i32::MAX);
    }
}
