//! What is asked of the controllers.

mod brokers;
mod configs;
mod isr;
mod leaders;
mod moves;
mod reads;
mod security;
mod spread;
mod topics;

use std::fmt::Debug;

use fastrand::Rng;
use klamm_metadata::{Image, Partition};

use crate::side::Side;
use crate::wire::Said;

pub(crate) use brokers::{BROKERS, Register};
pub(crate) use spread::{Spread, TOPIC as PLACED};

/// A request that means the same on both sides, in the names that both sides know.
pub(crate) trait Operation: Debug {
    /// Sends it, with the ids and epochs of this side.
    fn ask(&self, side: &mut Side, how: How) -> Said;

    /// Whether Apache Kafka's controller may answer from before the last change.
    fn may_be_behind(&self) -> bool {
        false
    }

    /// Where the answer of a controller is a random one: what has to be as on the other side.
    fn spread(&self) -> Option<&Spread> {
        None
    }
}

/// How a request is sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    /// How many versions below the latest, in turn with the latest.
    pub(crate) version: u8,
    /// The client for whom a broker forwards it, if one does.
    pub(crate) principal: Option<&'static str>,
}

/// One operation of a history.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) how: How,
    pub(crate) operation: Box<dyn Operation>,
}

const TOPICS: [&str; 5] = ["a", "b", "c", "d.e", "f"];
const PRINCIPALS: [&str; 2] = ["alice", "bob"];

impl Step {
    /// Any operation, of which most are about what is there.
    pub(crate) fn random(rng: &mut Rng, image: &Image) -> Self {
        let is_young = image.cluster().brokers().count() < 3;
        let (principal, operation): (bool, Box<dyn Operation>) = match rng.u8(..100) {
            0..60 if is_young && rng.bool() => (false, brokers::registration(rng, image)),
            0..4 => (false, brokers::registration(rng, image)),
            4..26 => (false, brokers::heartbeat(rng, image)),
            26 => (true, brokers::unregistration(rng)),
            27..29 => (false, brokers::producer_ids(rng)),
            29..36 => (true, topics::creation(rng, image)),
            36..39 => (true, topics::more_partitions(rng, image)),
            39..41 => (true, topics::deletion(rng)),
            41..57 => (false, isr::alteration(rng, image)),
            57..62 => (false, isr::directories(rng, image)),
            62..69 => (true, leaders::election(rng, image)),
            69..77 => (true, moves::reassignment(rng, image)),
            77..79 => (true, moves::list(rng)),
            79..86 => (true, configs::alteration(rng)),
            86..88 => (true, configs::description(rng)),
            88..91 => (true, security::acls(rng)),
            91 => (true, security::quotas(rng)),
            92 => (true, security::scram(rng)),
            93..95 => (true, configs::features(rng)),
            95..97 => (true, spread::spread(rng)),
            _ => (true, reads::cluster(rng)),
        };
        let principal = (principal && rng.u8(..6) == 0).then(|| pick(rng, &PRINCIPALS));
        let version = if rng.u8(..4) == 0 { rng.u8(..) } else { 0 };
        let how = How { version, principal };
        Self { how, operation }
    }
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(..of.len())]
}

/// True once in so many times.
fn once_in(rng: &mut Rng, times: u8) -> bool {
    rng.u8(..times) == 0
}

/// A value that is wrong now and then: how far it is from the right one.
fn off(rng: &mut Rng) -> i32 {
    match rng.u8(..20) {
        0 => -1,
        1 => 1,
        _ => 0,
    }
}

/// A topic that is there, or any once in a while.
fn topic(rng: &mut Rng, image: &Image) -> &'static str {
    let there: Vec<&str> = TOPICS
        .into_iter()
        .filter(|name| image.topics().by_name(name).is_some())
        .collect();
    match there.is_empty() || once_in(rng, 20) {
        true => pick(rng, &["a", "b", "c", "nowhere"]),
        false => pick(rng, &there),
    }
}

/// A partition that is there, mostly.
fn place(rng: &mut Rng, image: &Image) -> (&'static str, i32) {
    let topic = topic(rng, image);
    let count = image
        .topics()
        .by_name(topic)
        .map_or(1, |topic| topic.partition_count());
    let beyond = i32::from(once_in(rng, 30));
    let count = i32::try_from(count).unwrap_or(1);
    (topic, rng.i32(0..count) + beyond)
}

fn partition<'a>(image: &'a Image, (topic, index): (&str, i32)) -> Option<&'a Partition> {
    image.topics().by_name(topic)?.partition(index.into())
}

/// Some of the brokers in any order, each once; ids that are none's now and then.
fn replicas(rng: &mut Rng, image: &Image) -> Vec<i32> {
    let mut all: Vec<i32> = image
        .cluster()
        .brokers()
        .map(|broker| broker.id.0)
        .collect();
    if once_in(rng, 12) {
        all.push(rng.i32(1..9));
    }
    rng.shuffle(&mut all);
    all.truncate(match rng.u8(..10) {
        0 => 1,
        1..4 => 2,
        4..9 => 3,
        _ => 4,
    });
    all
}
