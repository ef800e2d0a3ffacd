//! What a controller tells of itself: names are those that Apache Kafka's JMX metrics get from the
//! usual exporter, and klamm's own where there are none.

mod meters;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod window;

pub(crate) use meters::Meters;
pub(crate) use window::Summary;

use std::sync::Arc;

use klamm_protocol::BrokerId;

use crate::listener::Tally;

/// What the controller's task tells when it is asked. It costs no look at any partition.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) is_active: bool,
    /// The active controller, where it is known.
    pub(crate) leader: Option<BrokerId>,
    pub(crate) quorum_state: &'static str,
    pub(crate) epoch: i32,
    pub(crate) log_end: i64,
    pub(crate) log_end_epoch: i32,
    pub(crate) high_watermark: Option<i64>,
    pub(crate) voters: usize,
    pub(crate) observers: usize,
    /// Static voters are configured, and the log has others.
    pub(crate) ignores_static_voters: bool,
    /// The end of what the image has.
    pub(crate) applied_end: i64,
    pub(crate) last_append_ms: i64,
    pub(crate) now_ms: i64,
    pub(crate) metadata_version: i16,
    /// The levels of features by their names.
    pub(crate) features: Vec<(String, i16)>,
    pub(crate) brokers: Vec<BrokerReading>,
    pub(crate) topics: usize,
    pub(crate) partitions: usize,
    pub(crate) leaderless: usize,
    pub(crate) off_preferred: usize,
    pub(crate) reassigning: usize,
    pub(crate) leader_changes: Vec<(&'static str, u64)>,
    pub(crate) unclean_elections: u64,
    pub(crate) eligible_elections: u64,
    pub(crate) new_active_controllers: u64,
    pub(crate) metadata_errors: u64,
    pub(crate) queue_time: Summary,
    pub(crate) processing_time: Summary,
    pub(crate) commit_latency: Summary,
    pub(crate) idle_ratio: f64,
    pub(crate) waiting_answers: usize,
    pub(crate) snapshot_bytes: u64,
    pub(crate) snapshot_age_ms: u64,
}

/// What is told of a broker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BrokerReading {
    pub(crate) id: BrokerId,
    pub(crate) state: BrokerState,
    /// Whether it hands over its partitions, or has, fenced or not.
    pub(crate) in_controlled_shutdown: bool,
    /// How long it was not heard of; only the active controller knows.
    pub(crate) unheard_ms: Option<u64>,
}

/// The state of a registered broker, with the numbers that Apache Kafka has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BrokerState {
    Fenced = 10,
    ControlledShutdown = 20,
    Active = 30,
}

/// All that a scrape is made of.
#[derive(Debug)]
pub(crate) struct Scrape {
    pub(crate) controller: Reading,
    /// The connections by listener.
    pub(crate) listeners: Vec<(Arc<str>, Tally)>,
    /// How much work waits for the controller's task.
    pub(crate) queued: usize,
    /// When the node started, in milliseconds since 1970.
    pub(crate) started_ms: i64,
}

impl Scrape {
    /// The text that Prometheus reads.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for metric in table::METRICS {
            (metric.write)(self, &mut text::Samples::begin(metric.head, &mut text));
        }
        text
    }
}
