//! Elections that clients ask for.

use fastrand::Rng;
use klamm_metadata::Image;
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, TopicPartitions};

use super::{How, Operation, once_in, place};
use crate::side::Side;
use crate::wire::Said;

#[derive(Debug)]
struct Elect {
    kind: i8,
    places: Option<Vec<(&'static str, Vec<i32>)>>,
}

pub(super) fn election(rng: &mut Rng, image: &Image) -> Box<dyn Operation> {
    let kind = match once_in(rng, 40) {
        true => 2,
        false => rng.i8(0..=1),
    };
    let places = (!once_in(rng, 6)).then(|| {
        // Each topic and each partition once: what klamm does otherwise is in the table of
        // differences.
        let mut places: Vec<(&'static str, Vec<i32>)> = Vec::new();
        for _ in 0..rng.u8(1..=3) {
            let (topic, index) = place(rng, image);
            match places.iter_mut().find(|(name, _)| *name == topic) {
                Some((_, indexes)) if indexes.contains(&index) => {}
                Some((_, indexes)) => indexes.push(index),
                None => places.push((topic, vec![index])),
            }
        }
        places
    });
    Box::new(Elect { kind, places })
}

impl Operation for Elect {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let topics = self.places.as_ref().map(|places| {
            let topics = places.iter().map(|(topic, indexes)| TopicPartitions {
                topic: (*topic).into(),
                partitions: indexes.iter().copied().collect(),
                ..Default::default()
            });
            topics.collect()
        });
        let request = ElectLeadersRequest {
            election_type: self.kind,
            topic_partitions: topics,
            timeout_ms: 60_000,
            ..Default::default()
        };
        side.ask(how, &request)
    }
}
