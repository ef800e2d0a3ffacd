//! The life of a broker as the controller sees it: registered, caught up, unfenced, on its way out.

mod run;

use std::time::Duration;

use klamm_metadata::{BrokerEpoch, Features};
use klamm_protocol::messages::broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use klamm_protocol::messages::broker_registration::BrokerRegistrationResponse;
use klamm_protocol::{BrokerId, ErrorCode, Offset, Uuid, VersionRange};
use thiserror::Error;

pub(super) use run::{Keeper, Signals};

/// How soon the next heartbeat follows while something is waited for.
const SOON: Duration = Duration::from_millis(10);

/// Where a broker is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// The controller does not know it yet.
    Registering,
    /// It has still to see the record of its own registration.
    CatchingUp,
    /// It makes ready to serve, or waits to be unfenced.
    Starting,
    /// It is unfenced.
    Running,
    /// Others are to lead what it leads.
    ShuttingDown,
    /// It may stop.
    Stopped,
}

/// Why a broker cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LifecycleError {
    /// The controller did not take it in time.
    #[error(
        "node {node} could not register within {} (initial.broker.registration.timeout.ms): {last}",
        klamm_net::seconds(*.after)
    )]
    NotRegistered {
        /// The broker.
        node: BrokerId,
        /// How long it tried.
        after: Duration,
        /// What went wrong last.
        last: String,
    },
    /// The cluster has features at levels that klamm's brokers do not have.
    #[error(
        "klamm's brokers do not support what this cluster has: {}; lower the levels with \
         kafka-features downgrade, or format the cluster with them (klamm format --feature {})",
        features_text(.0), flags_text(.0)
    )]
    Features(Vec<UnsupportedFeature>),
    /// The controller refuses for good.
    #[error("the controller does not take node {node}: {code}; {}", refused_text(*.code))]
    Refused {
        /// The broker.
        node: BrokerId,
        /// The controller's answer.
        code: ErrorCode,
    },
    /// Another process has registered with the same id.
    #[error(
        "another process has registered as node {0}, so this one stops; give each broker a node.id \
         of its own"
    )]
    Replaced(BrokerId),
}

/// A feature that the cluster has finalized at a level that klamm does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedFeature {
    /// Its name.
    pub name: String,
    /// The finalized level.
    pub level: i16,
    /// The highest that klamm's brokers have.
    pub max: i16,
}

fn features_text(features: &[UnsupportedFeature]) -> String {
    let texts = features.iter().map(|feature| {
        let UnsupportedFeature { name, level, max } = feature;
        format!("{name} is at level {level}, and at most {max} is supported")
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn flags_text(features: &[UnsupportedFeature]) -> String {
    let texts = features
        .iter()
        .map(|feature| format!("{}={}", feature.name, feature.max));
    texts.collect::<Vec<_>>().join(" --feature ")
}

fn refused_text(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::INCONSISTENT_CLUSTER_ID => {
            "its directories were formatted for another cluster: give it directories of its own"
        }
        ErrorCode::CLUSTER_AUTHORIZATION_FAILED => {
            "brokers must be allowed CLUSTER_ACTION on the cluster, or be super.users"
        }
        _ => "the controller's log says why",
    }
}

/// The features of a cluster that brokers with these levels do not support.
pub(super) fn unsupported(
    finalized: &Features,
    supported: &[(&'static str, VersionRange)],
) -> Vec<UnsupportedFeature> {
    let has = |name: &str| supported.iter().find(|(known, _)| *known == name);
    let found = finalized.levels().filter_map(|(name, level)| {
        let range = has(name).map_or(VersionRange::new(0, 0), |(_, range)| *range);
        (!range.contains(level)).then(|| UnsupportedFeature {
            name: name.to_owned(),
            level,
            max: range.max,
        })
    });
    found.collect()
}

/// What to do about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Ask again after so long.
    After(Duration),
    /// Ask again after a pause: something is wrong, which is said.
    Failed(ErrorCode),
    /// Stop, for nothing will get better.
    Fatal(LifecycleError),
}

/// A broker's place in its life. It decides what the next request says, and what an answer means.
#[derive(Debug)]
pub(super) struct Lifecycle {
    id: BrokerId,
    heartbeat_interval: Duration,
    stage: Stage,
    epoch: Option<BrokerEpoch>,
    /// Whether everything is there to serve clients.
    is_ready: bool,
    wants_shutdown: bool,
}

impl Lifecycle {
    pub(super) fn new(id: BrokerId, heartbeat_interval: Duration) -> Self {
        Self {
            id,
            heartbeat_interval,
            stage: Stage::Registering,
            epoch: None,
            is_ready: false,
            wants_shutdown: false,
        }
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    pub(super) fn epoch(&self) -> Option<BrokerEpoch> {
        self.epoch
    }

    /// Everything is there to serve clients: the broker need not be fenced any longer.
    pub(super) fn ready(&mut self) {
        self.is_ready = true;
    }

    /// Others are to lead what this broker leads, so that it can stop.
    pub(super) fn shut_down(&mut self) {
        self.wants_shutdown = true;
        self.stage = match self.stage {
            // It leads nothing.
            Stage::Registering | Stage::CatchingUp | Stage::Stopped => Stage::Stopped,
            Stage::Starting | Stage::Running | Stage::ShuttingDown => Stage::ShuttingDown,
        };
    }

    /// Takes the answer to a registration.
    pub(super) fn registered(&mut self, response: &BrokerRegistrationResponse) -> Next {
        match ErrorCode(response.error_code) {
            ErrorCode::NONE => {
                self.epoch = Some(BrokerEpoch(response.broker_epoch));
                if self.stage == Stage::Registering {
                    self.stage = Stage::CatchingUp;
                }
                Next::After(Duration::ZERO)
            }
            code @ (ErrorCode::INCONSISTENT_CLUSTER_ID
            | ErrorCode::CLUSTER_AUTHORIZATION_FAILED
            | ErrorCode::UNSUPPORTED_VERSION
            | ErrorCode::INVALID_REGISTRATION
            | ErrorCode::INVALID_REQUEST) => {
                let node = self.id;
                Next::Fatal(LifecycleError::Refused { node, code })
            }
            // An earlier run of this broker may count as alive for a while.
            code => Next::Failed(code),
        }
    }

    /// The next heartbeat: the broker has metadata up to `end`, and these directories have failed.
    pub(super) fn heartbeat(&self, end: Offset, offline_dirs: Vec<Uuid>) -> BrokerHeartbeatRequest {
        BrokerHeartbeatRequest {
            broker_id: self.id.0,
            broker_epoch: self.epoch.map_or(-1, |epoch| epoch.0),
            // Brokers tell the offset of the last record that they know.
            current_metadata_offset: end.0 - 1,
            want_fence: !self.is_ready,
            want_shut_down: self.wants_shutdown,
            offline_log_dirs: offline_dirs,
            ..BrokerHeartbeatRequest::default()
        }
    }

    /// Takes the answer to a heartbeat.
    pub(super) fn heard(&mut self, response: &BrokerHeartbeatResponse) -> Next {
        match ErrorCode(response.error_code) {
            ErrorCode::NONE => {}
            ErrorCode::STALE_BROKER_EPOCH => {
                return Next::Fatal(LifecycleError::Replaced(self.id));
            }
            code => return Next::Failed(code),
        }
        self.stage = match self.stage {
            Stage::CatchingUp if response.is_caught_up => Stage::Starting,
            Stage::Starting | Stage::Running if response.is_fenced => Stage::Starting,
            Stage::Starting if self.is_ready => Stage::Running,
            Stage::ShuttingDown if response.should_shut_down => Stage::Stopped,
            stage => stage,
        };
        let is_waiting = match self.stage {
            Stage::CatchingUp | Stage::ShuttingDown => true,
            Stage::Starting => self.is_ready,
            Stage::Registering | Stage::Running | Stage::Stopped => false,
        };
        Next::After(match is_waiting {
            true => SOON.min(self.heartbeat_interval),
            false => self.heartbeat_interval,
        })
    }
}

#[cfg(test)]
mod tests;
