//! Brokers begin, tell of themselves, and go.

use fastrand::Rng;
use klamm_metadata::{Feature, Image, MetadataVersion};
use klamm_protocol::messages::allocate_producer_ids::AllocateProducerIdsRequest;
use klamm_protocol::messages::broker_heartbeat::BrokerHeartbeatRequest;
use klamm_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, Feature as FeatureRange, Listener,
};
use klamm_protocol::messages::unregister_broker::UnregisterBrokerRequest;
use klamm_protocol::{BrokerId, Uuid};

use super::{How, Operation, off, once_in, pick};
use crate::side::Side;
use crate::wire::Said;

/// The brokers of a history.
pub(crate) const BROKERS: std::ops::RangeInclusive<i32> = 1..=6;
/// A broker has at most so many directories.
const DIRS: u8 = 3;

fn broker(rng: &mut Rng, image: &Image) -> i32 {
    let known: Vec<i32> = image
        .cluster()
        .brokers()
        .map(|broker| broker.id.0)
        .collect();
    match known.is_empty() || once_in(rng, 25) {
        true => rng.i32(BROKERS),
        false => pick(rng, &known),
    }
}

/// A broker begins.
#[derive(Debug)]
pub(crate) struct Register {
    broker: i32,
    /// Which run of it.
    run: u8,
    rack: Option<&'static str>,
    dirs: Vec<u8>,
    /// Whether it stopped cleanly: it then knows its last epoch.
    knows_epoch: bool,
    epoch_off: i32,
    other_cluster: bool,
    is_old: bool,
    listeners: u8,
}

pub(super) fn registration(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let unknown: Vec<i32> = BROKERS
        .filter(|id| image.cluster().broker(BrokerId(*id)).is_none())
        .collect();
    let broker = match unknown.is_empty() || once_in(rng, 2) {
        true => broker(rng, image),
        false => pick(rng, &unknown),
    };
    let known = image.cluster().broker(BrokerId(broker));
    let last = known.map_or(0, |broker| broker.incarnation.as_bytes()[1]);
    let dirs = pick(rng, &[1, 1, 2, DIRS]);
    let mut dirs: Vec<u8> = (0..dirs).collect();
    if once_in(rng, 30) {
        dirs = pick(rng, &[[].as_slice(), &[1, 1], &[2, 0]]).to_vec();
    }
    Box::new(Register {
        broker,
        run: match known {
            // The earlier run is connected; where it is not is in the table of differences. So is one
            // that registers again while it hands over its partitions.
            Some(known) => {
                let is_new = known.in_controlled_shutdown || once_in(rng, 4);
                last.wrapping_add(u8::from(is_new))
            }
            None => rng.u8(..),
        },
        rack: pick(rng, &[None, Some("x"), Some("y"), Some("z")]),
        dirs,
        knows_epoch: rng.bool(),
        epoch_off: off(rng),
        other_cluster: once_in(rng, 40),
        is_old: once_in(rng, 40),
        listeners: if once_in(rng, 30) { rng.u8(..3) } else { 1 },
    })
}

impl Register {
    /// A broker with one directory, as any.
    pub(crate) fn of(broker: i32) -> Self {
        Self {
            broker,
            run: 0,
            rack: None,
            dirs: vec![0],
            knows_epoch: false,
            epoch_off: 0,
            other_cluster: false,
            is_old: false,
            listeners: 1,
        }
    }
}

impl Operation for Register {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let mut incarnation = [0x11; 16];
        incarnation[0] = u8::try_from(self.broker).unwrap_or(0);
        incarnation[1] = self.run;
        let features = Feature::ALL.iter();
        let features = features.map(|feature| (feature.name, 0, feature.max_level()));
        let newest = match self.is_old {
            true => MetadataVersion::MINIMUM,
            false => MetadataVersion::LATEST_PRODUCTION,
        };
        let versions = (
            MetadataVersion::FEATURE,
            MetadataVersion::MINIMUM.level(),
            newest.level(),
        );
        let cluster = match self.other_cluster {
            true => "another",
            false => side.cluster_id.as_str(),
        };
        let request = BrokerRegistrationRequest {
            broker_id: self.broker,
            cluster_id: cluster.into(),
            incarnation_id: Uuid::from_bytes(incarnation),
            listeners: (0..self.listeners)
                .map(|number| Listener {
                    name: ["PLAINTEXT", "OTHER"][usize::from(number)].into(),
                    host: "127.0.0.1".into(),
                    port: 9092 + u16::from(number),
                    ..Default::default()
                })
                .collect(),
            features: features
                .chain([versions])
                .map(|(name, min, max)| FeatureRange {
                    name: name.into(),
                    min_supported_version: min,
                    max_supported_version: max,
                    ..Default::default()
                })
                .collect(),
            rack: self.rack.map(Into::into),
            log_dirs: self
                .dirs
                .iter()
                .map(|number| side.dir(self.broker, *number))
                .collect(),
            previous_broker_epoch: match self.knows_epoch {
                true => side.epoch(self.broker) + i64::from(self.epoch_off),
                false => -1,
            },
            ..Default::default()
        };
        let known = side.broker(self.broker);
        let is_new = known.is_none_or(|known| known.incarnation != request.incarnation_id);
        let said = match is_new {
            true => side.ask_as_new(self.broker, how, &request),
            false => side.ask_as(self.broker, how, &request),
        };
        // The first heartbeat follows, so that the controller knows whose connection it is.
        if let (Some(0), Some(broker_epoch)) = (
            said.response["errorCode"].as_i64(),
            said.response["brokerEpoch"].as_i64(),
        ) {
            let heartbeat = BrokerHeartbeatRequest {
                broker_id: self.broker,
                broker_epoch,
                want_fence: true,
                ..Default::default()
            };
            side.beat(How::default(), &heartbeat);
        }
        said
    }
}

/// A broker tells how it is and what it wants.
#[derive(Debug)]
struct Heartbeat {
    broker: i32,
    epoch_off: i32,
    is_caught_up: bool,
    want_fence: bool,
    want_shut_down: bool,
    offline: Vec<u8>,
    cordoned: Option<Vec<u8>>,
}

pub(super) fn heartbeat(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let broker = broker(rng, image);
    let known = image.cluster().broker(BrokerId(broker));
    let is_active = known.is_some_and(|broker| broker.is_active());
    // A failed directory and something else at once is in the table of differences.
    let offline = match is_active && once_in(rng, 10) {
        true => vec![rng.u8(..DIRS)],
        false => Vec::new(),
    };
    // A broker that takes its stop back is in the table, too.
    let stops = known.is_some_and(|broker| broker.in_controlled_shutdown);
    let want_fence = offline.is_empty() && !stops && once_in(rng, 6);
    let want_shut_down = stops || offline.is_empty() && once_in(rng, 8);
    let cordoned = match rng.u8(..15) {
        0 => Some(vec![rng.u8(..DIRS)]),
        1 => Some(Vec::new()),
        _ => None,
    };
    Box::new(Heartbeat {
        broker,
        epoch_off: off(rng),
        is_caught_up: !once_in(rng, 6),
        want_fence,
        want_shut_down,
        offline,
        cordoned,
    })
}

impl Operation for Heartbeat {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let epoch = side.epoch(self.broker);
        let dirs = |numbers: &[u8]| -> Vec<Uuid> {
            let dirs = numbers.iter().map(|number| side.dir(self.broker, *number));
            dirs.collect()
        };
        let mut offline_log_dirs = dirs(&self.offline);
        offline_log_dirs.retain(|dir| side.may_fail(*dir));
        let request = BrokerHeartbeatRequest {
            broker_id: self.broker,
            broker_epoch: epoch + i64::from(self.epoch_off),
            current_metadata_offset: match self.is_caught_up {
                true => side.end() - 1,
                false => epoch - 1,
            },
            want_fence: self.want_fence,
            want_shut_down: self.want_shut_down,
            offline_log_dirs,
            cordoned_log_dirs: self.cordoned.as_deref().map(dirs),
            ..Default::default()
        };
        side.beat(how, &request)
    }
}

/// A broker is gone for good.
#[derive(Debug)]
pub(crate) struct Unregister(pub(crate) i32);

pub(super) fn unregistration(rng: &mut Rng) -> Box<dyn Operation> {
    Box::new(Unregister(rng.i32(BROKERS)))
}

impl Operation for Unregister {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let request = UnregisterBrokerRequest {
            broker_id: self.0,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}

/// A broker wants ids for its producers.
#[derive(Debug)]
struct ProducerIds {
    broker: i32,
    epoch_off: i32,
}

pub(super) fn producer_ids(rng: &mut Rng) -> Box<dyn Operation> {
    Box::new(ProducerIds {
        broker: rng.i32(BROKERS),
        epoch_off: off(rng),
    })
}

impl Operation for ProducerIds {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let request = AllocateProducerIdsRequest {
            broker_id: self.broker,
            broker_epoch: side.epoch(self.broker) + i64::from(self.epoch_off),
            ..Default::default()
        };
        side.ask(how, &request)
    }
}
