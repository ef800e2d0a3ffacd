use klamm_metadata::{LeaderRecoveryState, Replicas};
use klamm_protocol::BrokerId;

#[cfg(test)]
mod tests;

/// Why and how far an election goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElectionKind {
    /// Keep the partition online with a replica that has everything: the current leader, if it may
    /// stay.
    Online,
    /// As `Online`, and the preferred leader before anybody else.
    Preferred,
    /// As `Online`, and rather any live replica than none: what it lacks is lost.
    Unclean,
    /// As `Online`, and never a leader that may have lost records: where it is not certain yet that
    /// those who have them are gone.
    CleanOnly,
}

/// How the leader came to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// It leads already.
    Kept,
    /// It is in sync.
    InSync,
    /// It is an eligible leader replica: nobody is in sync, and it has every committed record.
    Eligible,
    /// It was the last to lead. No other replica is known to have more; what it did not write to its
    /// disk is lost.
    LastKnownLeader,
    /// It is alive, and no more is known of it: records may be lost.
    Unclean,
    /// Nobody may lead.
    Nobody,
}

impl How {
    /// Whether committed records may be lost.
    pub fn is_unclean(self) -> bool {
        matches!(self, Self::LastKnownLeader | Self::Unclean)
    }
}

/// A partition as an election sees it: its state after the change that calls for one.
#[derive(Clone, Copy, Debug)]
pub struct Candidates<'a> {
    /// The replicas in the order of the assignment: the preferred leader first.
    pub replicas: &'a [BrokerId],
    /// The in-sync replicas.
    pub isr: &'a [BrokerId],
    /// The eligible leader replicas.
    pub elr: &'a [BrokerId],
    /// Who led last, where nobody leads.
    pub last_known_elr: &'a [BrokerId],
    /// The current leader, or [`BrokerId::NONE`].
    pub leader: BrokerId,
    /// The recovery state.
    pub recovery: LeaderRecoveryState,
    /// Whether the cluster has eligible leader replicas.
    pub elr_enabled: bool,
}

/// What an election comes to: the partition's state from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Election {
    /// The leader, or [`BrokerId::NONE`].
    pub leader: BrokerId,
    /// The in-sync replicas.
    pub isr: Replicas,
    /// The eligible leader replicas.
    pub elr: Replicas,
    /// Who led last, where nobody leads.
    pub last_known_elr: Replicas,
    /// The recovery state.
    pub recovery: LeaderRecoveryState,
    /// How the leader came to lead.
    pub how: How,
}

impl Candidates<'_> {
    /// Picks the leader. Every change of a leader goes through here.
    ///
    /// `is_live` says of a replica whether its broker is registered, not fenced and not shutting down,
    /// and its log directory online.
    pub fn elect(&self, kind: ElectionKind, is_live: impl Fn(BrokerId) -> bool) -> Election {
        let (leader, how) = self.pick(kind, is_live);
        let unclean = how.is_unclean();
        let alone = || Replicas::from(leader);
        Election {
            isr: match how {
                How::Eligible | How::LastKnownLeader | How::Unclean => alone(),
                How::Kept | How::InSync | How::Nobody => self.isr.iter().copied().collect(),
            },
            elr: match unclean {
                true => Replicas::NONE,
                false => self
                    .elr
                    .iter()
                    .copied()
                    .filter(|b| how == How::Kept || *b != leader)
                    .collect(),
            },
            last_known_elr: match leader.known() {
                Some(_) => Replicas::NONE,
                None if self.last_known_elr.is_empty() => self.leader.known().into_iter().collect(),
                None => self.last_known_elr.iter().copied().collect(),
            },
            recovery: if unclean {
                LeaderRecoveryState::Recovering
            } else {
                self.recovery
            },
            leader,
            how,
        }
    }

    fn pick(&self, kind: ElectionKind, is_live: impl Fn(BrokerId) -> bool) -> (BrokerId, How) {
        let is_valid = |broker: BrokerId| {
            let has_everything =
                self.isr.contains(&broker) || self.isr.is_empty() && self.elr.contains(&broker);
            has_everything && is_live(broker)
        };
        let preferred = self
            .replicas
            .first()
            .copied()
            .filter(|_| kind == ElectionKind::Preferred);
        let mut clean = preferred
            .into_iter()
            .chain(self.leader.known())
            .chain(self.replicas.iter().copied());
        if let Some(leader) = clean.find(|broker| is_valid(*broker)) {
            let how = match () {
                () if leader == self.leader => How::Kept,
                () if self.isr.contains(&leader) => How::InSync,
                () => How::Eligible,
            };
            return (leader, how);
        }
        if let [last] = *self.last_known_elr
            && self.elr_enabled
            && kind != ElectionKind::CleanOnly
            && self.isr.is_empty()
            && self.elr.is_empty()
            && is_live(last)
        {
            return (last, How::LastKnownLeader);
        }
        let mut any = self
            .replicas
            .iter()
            .copied()
            .filter(|_| kind == ElectionKind::Unclean);
        match any.find(|broker| is_live(*broker)) {
            Some(leader) => (leader, How::Unclean),
            None => (BrokerId::NONE, How::Nobody),
        }
    }
}
