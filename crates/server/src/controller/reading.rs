//! What the controller tells of itself.

use klamm_metadata::{Broker, Feature, MetadataVersion};

use super::Controller;
use crate::metrics::{BrokerReading, BrokerState, Reading};

/// Whether a controller can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// It is the active controller, and what it began with is committed.
    Active,
    /// It follows the active controller and has all that it knows to be committed.
    Following,
    /// There is no active controller that it knows of.
    NoLeader,
    /// It has become the active controller, and the quorum has not committed that yet.
    Beginning,
    /// It has still to fetch what is committed.
    Behind,
}

impl Controller {
    pub(crate) fn readiness(&self) -> Readiness {
        let raft = self.quorum.raft();
        let committed = raft.high_watermark();
        if let Some(lead) = &self.lead {
            let is_begun = lead.begun_at.is_some_and(|end| committed >= Some(end));
            return match is_begun {
                true => Readiness::Active,
                false => Readiness::Beginning,
            };
        }
        match (raft.leader(), committed) {
            (None, _) => Readiness::NoLeader,
            (Some(_), Some(committed)) if raft.log().end() >= committed => Readiness::Following,
            (Some(_), _) => Readiness::Behind,
        }
    }

    /// Everything at the moment. The image counts its partitions itself: nothing here looks at them.
    pub(crate) fn reading(&mut self) -> Reading {
        let now = self.clock.now();
        let [queue_time, processing_time, commit_latency] = self.meters.summaries(now.elapsed);
        let (snapshot_bytes, snapshot_age) = self.meters.snapshot(now.elapsed);
        let image = self.image();
        let topics = image.topics();
        let raft = self.quorum.raft();
        let metadata_version = image.features().metadata_version();
        let metadata_version = metadata_version.map_or(0, MetadataVersion::level);
        let kraft_version = (Feature::KRAFT_VERSION.name, raft.kraft_version().0);
        let static_voters = &self.node.settings.node.quorum.static_voters;
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis());
        Reading {
            is_active: self.lead.is_some(),
            leader: raft.leader(),
            quorum_state: raft.state(),
            epoch: raft.epoch().0,
            log_end: raft.log().end().0,
            log_end_epoch: raft.log().last_epoch().0,
            high_watermark: raft.high_watermark().map(|offset| offset.0),
            voters: raft.voters().iter().count(),
            observers: raft.observer_count(now.into()),
            ignores_static_voters: !static_voters.is_empty()
                && raft.kraft_version().has_dynamic_voters(),
            applied_end: self.end().0,
            last_append_ms: self.meters.last_append_ms(),
            now_ms: now.timestamp_ms,
            metadata_version,
            features: [kraft_version, (MetadataVersion::FEATURE, metadata_version)]
                .into_iter()
                .chain(image.features().levels())
                .map(|(name, level)| (name.to_owned(), level))
                .collect(),
            brokers: image
                .cluster()
                .brokers()
                .map(|broker| self.broker_reading(broker))
                .collect(),
            topics: topics.len(),
            partitions: topics.partition_count(),
            leaderless: topics.leaderless_count(),
            off_preferred: topics.off_preferred_count(),
            reassigning: topics.reassigning_count(),
            leader_changes: self.meters.leader_changes(),
            unclean_elections: self.meters.unclean_elections,
            eligible_elections: self.meters.eligible_elections,
            new_active_controllers: self.meters.new_active_controllers,
            metadata_errors: self.meters.metadata_errors,
            queue_time,
            processing_time,
            commit_latency,
            idle_ratio: self.meters.idle_ratio(now.elapsed),
            waiting_answers: self.parked.len(),
            snapshot_bytes,
            snapshot_age_ms: millis(snapshot_age).unwrap_or(u64::MAX),
        }
    }

    fn broker_reading(&self, broker: &Broker) -> BrokerReading {
        let now = self.clock.now().into();
        let unheard = self
            .lead
            .as_ref()
            .and_then(|lead| lead.sessions.unheard_for(broker, now));
        BrokerReading {
            id: broker.id,
            state: match (broker.fenced, broker.in_controlled_shutdown) {
                (true, _) => BrokerState::Fenced,
                (false, true) => BrokerState::ControlledShutdown,
                (false, false) => BrokerState::Active,
            },
            in_controlled_shutdown: broker.in_controlled_shutdown,
            unheard_ms: unheard.and_then(|time| u64::try_from(time.as_millis()).ok()),
        }
    }
}
