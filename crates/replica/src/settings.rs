use core::time::Duration;

use klamm_metadata::{BrokerEpoch, Cluster};
use klamm_protocol::BrokerId;

/// What the configuration says of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `min.insync.replicas` as it is configured: where a partition has fewer replicas, all count.
    pub min_insync_replicas: usize,
    /// `replica.lag.time.max.ms`.
    pub lag_time_max: Duration,
}

impl Default for Settings {
    /// Apache Kafka's defaults.
    fn default() -> Self {
        Self {
            min_insync_replicas: 1,
            lag_time_max: Duration::from_secs(30),
        }
    }
}

/// What a broker that is not fenced is known for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its epoch: a Fetch with an earlier one is of a run that has ended.
    pub epoch: BrokerEpoch,
    /// Whether it is on its way out, so that it joins no ISR.
    pub is_shutting_down: bool,
}

/// What the metadata says of brokers, as far as it decides on an ISR.
pub trait Brokers {
    /// The broker's standing; `None` where it is fenced or not registered.
    fn standing(&self, broker: BrokerId) -> Option<Standing>;
}

impl Brokers for Cluster {
    fn standing(&self, broker: BrokerId) -> Option<Standing> {
        let broker = self.broker(broker).filter(|broker| !broker.fenced)?;
        Some(Standing {
            epoch: broker.epoch,
            is_shutting_down: broker.in_controlled_shutdown,
        })
    }
}
