use std::time::Duration;

use crate::settings::ControllerSettings;

/// How often the controller does what by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundSettings {
    /// Between rounds that give the lead back to preferred leaders
    /// (`leader.imbalance.check.interval.seconds`); `None` where there are none.
    pub(crate) rebalance: Option<Duration>,
    /// Between rounds of unclean elections (`unclean.leader.election.interval.ms`).
    pub(crate) unclean: Duration,
    /// Between rounds that remove expired delegation tokens
    /// (`delegation.token.expiry.check.interval.ms`).
    pub(crate) tokens: Duration,
    /// The longest time without a record (`metadata.max.idle.interval.ms`); `None` for no limit.
    pub(crate) idle: Option<Duration>,
}

impl RoundSettings {
    pub(crate) fn of(settings: &ControllerSettings) -> Self {
        Self {
            rebalance: settings.leader_rebalance_interval,
            unclean: settings.unclean_election_interval,
            tokens: settings.tokens.expiry_check_interval,
            idle: settings.metadata_log.max_idle_interval,
        }
    }
}

/// When the next rounds are due.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    settings: RoundSettings,
    rebalance_at: Option<Duration>,
    unclean_at: Duration,
    tokens_at: Duration,
    idle_at: Option<Duration>,
}

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Give the lead back to preferred leaders.
    Rebalance,
    /// Elect uncleanly where it is allowed.
    Unclean,
    /// Remove delegation tokens that have expired.
    Tokens,
    /// Write a record that says nothing.
    Idle,
}

impl Rounds {
    pub(crate) fn new(settings: RoundSettings, now: Duration) -> Self {
        let after = |wait: Duration| now.saturating_add(wait);
        Self {
            settings,
            rebalance_at: settings.rebalance.map(after),
            unclean_at: after(settings.unclean),
            tokens_at: after(settings.tokens),
            idle_at: settings.idle.map(after),
        }
    }

    /// What is due, once each time.
    pub(crate) fn due(&mut self, now: Duration) -> Option<Due> {
        if let Some(interval) = self.settings.rebalance
            && self.rebalance_at.is_some_and(|at| at <= now)
        {
            self.rebalance_at = Some(now.saturating_add(interval));
            return Some(Due::Rebalance);
        }
        if self.unclean_at <= now {
            self.unclean_at = now.saturating_add(self.settings.unclean);
            return Some(Due::Unclean);
        }
        if self.tokens_at <= now {
            self.tokens_at = now.saturating_add(self.settings.tokens);
            return Some(Due::Tokens);
        }
        if self.idle_at.is_some_and(|at| at <= now) {
            self.wrote(now);
            return Some(Due::Idle);
        }
        None
    }

    /// A round has more to do: it goes on at once.
    pub(crate) fn go_on(&mut self, round: Due, now: Duration) {
        match round {
            Due::Rebalance => self.rebalance_at = Some(now),
            Due::Unclean => self.unclean_at = now,
            Due::Tokens => self.tokens_at = now,
            Due::Idle => {}
        }
    }

    /// Records were written.
    pub(crate) fn wrote(&mut self, now: Duration) {
        self.idle_at = self.settings.idle.map(|idle| now.saturating_add(idle));
    }

    /// When [`Rounds::due`] is to be asked next.
    pub(crate) fn deadline(&self) -> Duration {
        let others = [self.rebalance_at, self.idle_at].into_iter().flatten();
        let always = self.unclean_at.min(self.tokens_at);
        others.fold(always, Duration::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn rounds_come_at_their_intervals() {
        let settings = RoundSettings {
            rebalance: Some(seconds(10)),
            unclean: seconds(4),
            tokens: seconds(7),
            idle: Some(seconds(3)),
        };
        let mut rounds = Rounds::new(settings, seconds(100));
        assert_eq!(rounds.due(seconds(102)), None);
        assert_eq!(rounds.deadline(), seconds(103));
        rounds.wrote(seconds(102));
        assert_eq!(rounds.deadline(), seconds(104));
        assert_eq!(rounds.due(seconds(104)), Some(Due::Unclean));
        assert_eq!(rounds.due(seconds(104)), None);
        assert_eq!(rounds.due(seconds(105)), Some(Due::Idle));
        let due: Vec<Due> = std::iter::from_fn(|| rounds.due(seconds(110))).collect();
        assert_eq!(due, [Due::Rebalance, Due::Unclean, Due::Tokens, Due::Idle]);
        rounds.go_on(Due::Rebalance, seconds(110));
        assert_eq!(rounds.due(seconds(110)), Some(Due::Rebalance));
        assert_eq!(rounds.due(seconds(110)), None);
    }

    #[test]
    fn what_is_turned_off_never_comes() {
        let settings = RoundSettings {
            rebalance: None,
            unclean: seconds(4),
            tokens: seconds(5_000),
            idle: None,
        };
        let mut rounds = Rounds::new(settings, seconds(0));
        assert_eq!(rounds.due(seconds(1_000)), Some(Due::Unclean));
        assert_eq!(rounds.due(seconds(1_000)), None);
        assert_eq!(rounds.deadline(), seconds(1_004));
    }
}
