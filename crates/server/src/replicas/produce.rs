//! Produce.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use klamm_metadata::{Image, Place};
use klamm_protocol::messages::produce::{
    BatchIndexAndErrorMessage, LeaderIdAndEpoch, NodeEndpoint, PartitionProduceResponse,
    ProduceRequest, ProduceResponse, TopicProduceData, TopicProduceResponse,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionIndex, SmallString, Uuid};
use klamm_replica::{Acks, ProduceError};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::hosted::{Commitment, Hosted, Moment, Refused};
use super::incoming::{self, Invalid};
use super::records::leader_hint;
use super::{Replicas, Shared};

/// The first version in which topics have ids in place of names.
const WITH_TOPIC_IDS: i16 = 13;
/// The first version that says in words what is wrong.
const WITH_MESSAGES: i16 = 8;
/// The first version that tells who leads where another is asked (KIP-951).
const WITH_LEADERS: i16 = 10;

/// What becomes of a Produce.
#[derive(Debug)]
pub(crate) enum Produced {
    /// It is answered.
    Answer(ProduceResponse),
    /// With acks=0 there is no answer.
    Silence,
    /// Where something went wrong with acks=0, the connection is closed so that the producer notices.
    Close,
}

/// A partition's batch, written or not.
struct Outcome {
    /// The place of its topic in the request.
    topic: usize,
    answer: PartitionProduceResponse,
    /// What is waited for.
    waiting: Option<(Arc<Hosted>, Commitment)>,
}

impl Replicas {
    /// Writes what a producer sends, and answers when it counts as the request wants it to. Who asks
    /// comes by `listener`, where it is told of other brokers.
    ///
    /// Everything is written when this is polled for the first time: on a connection the next Produce
    /// begins then.
    pub(crate) async fn produce(
        &self,
        request: ProduceRequest,
        version: i16,
        listener: &str,
    ) -> Produced {
        let timeout = u64::try_from(request.timeout_ms).unwrap_or(0);
        let deadline = Instant::now() + Duration::from_millis(timeout);
        let acks = Acks::from_wire(request.acks);
        let topics: Vec<(SmallString, Uuid)> = request
            .topic_data
            .iter()
            .map(|topic| (topic.name.clone(), topic.topic_id))
            .collect();
        let mut outcomes = self.0.write(request.topic_data, acks, version);
        if acks == Some(Acks::None) {
            let is_good = |outcome: &Outcome| outcome.answer.error_code == ErrorCode::NONE.0;
            return match outcomes.iter().all(is_good) {
                true => Produced::Silence,
                false => Produced::Close,
            };
        }
        self.await_commits(&mut outcomes, deadline).await;
        Produced::Answer(self.0.produce_response(topics, outcomes, version, listener))
    }

    /// Waits until everything is committed, or time is up.
    async fn await_commits(&self, outcomes: &mut [Outcome], deadline: Instant) {
        let mut late = Vec::new();
        for (place, outcome) in outcomes.iter_mut().enumerate() {
            let Some((hosted, commitment)) = outcome.waiting.take() else {
                continue;
            };
            let Commitment { waiter, mut result } = commitment;
            match timeout_at(deadline, &mut result).await {
                Ok(acked) => settle(&mut outcome.answer, acked),
                Err(_) => late.push((place, hosted, waiter, result)),
            }
        }
        if late.is_empty() {
            return;
        }
        // Between the deadline and this, some may have been committed after all.
        let settled = self.blocking(move |shared| {
            let moment = shared.moment();
            let stop = |(place, hosted, waiter, mut result): (_, Arc<Hosted>, _, _)| {
                let stopped = shared.with(&hosted, &moment, |state| Ok(state.stop_waiting(waiter)));
                let acked: Result<Result<(), ProduceError>, _> = match stopped {
                    Ok(true) => Err(oneshot::error::TryRecvError::Empty),
                    _ => oneshot::Receiver::try_recv(&mut result),
                };
                (place, acked)
            };
            late.into_iter().map(stop).collect::<Vec<(usize, _)>>()
        });
        for (place, acked) in settled.await {
            let answer = &mut outcomes[place].answer;
            match acked {
                Ok(acked) => settle(answer, Ok(acked)),
                Err(_) => fail(answer, ErrorCode::REQUEST_TIMED_OUT),
            }
        }
    }
}

fn settle(
    answer: &mut PartitionProduceResponse,
    acked: Result<Result<(), ProduceError>, oneshot::error::RecvError>,
) {
    match acked {
        Ok(Ok(())) => {}
        Ok(Err(error)) => fail(answer, error.into()),
        // The replica is gone, and nobody knows what becomes of the batch.
        Err(_) => fail(answer, ErrorCode::NOT_LEADER_OR_FOLLOWER),
    }
}

fn fail(answer: &mut PartitionProduceResponse, error: ErrorCode) {
    answer.error_code = error.0;
    answer.base_offset = -1;
    answer.log_start_offset = -1;
    answer.log_append_time_ms = -1;
}

impl Shared {
    fn write(
        &self,
        topics: Vec<TopicProduceData>,
        acks: Option<Acks>,
        version: i16,
    ) -> Vec<Outcome> {
        let moment = self.moment();
        let mut outcomes = Vec::new();
        for (place, topic) in topics.into_iter().enumerate() {
            for partition in topic.partition_data {
                let mut outcome = Outcome {
                    topic: place,
                    answer: PartitionProduceResponse {
                        index: partition.index,
                        base_offset: -1,
                        log_append_time_ms: -1,
                        log_start_offset: -1,
                        ..PartitionProduceResponse::default()
                    },
                    waiting: None,
                };
                let Some(acks) = acks else {
                    outcome.answer.error_code = ErrorCode::INVALID_REQUIRED_ACKS.0;
                    outcomes.push(outcome);
                    continue;
                };
                let hosted = match version >= WITH_TOPIC_IDS {
                    true => self.find(&moment.image, topic.topic_id, partition.index),
                    false => self.find_by_name(&moment.image, &topic.name, partition.index),
                };
                match hosted {
                    Ok(hosted) => {
                        let records = partition.records;
                        self.write_to(&hosted, records, acks, version, &moment, &mut outcome);
                    }
                    Err(error) => outcome.answer.error_code = error.0,
                }
                outcomes.push(outcome);
            }
        }
        outcomes
    }

    fn write_to(
        &self,
        hosted: &Arc<Hosted>,
        records: Option<Bytes>,
        acks: Acks,
        version: i16,
        moment: &Moment,
        outcome: &mut Outcome,
    ) {
        let topic = self.with(hosted, moment, |state| Ok(Arc::clone(&state.topic)));
        let topic = match topic {
            Ok(topic) => topic,
            Err(error) => return outcome.answer.error_code = error.0,
        };
        // Nobody else waits while records are looked at.
        let batch = match incoming::check(records, &topic, version, moment.now_ms) {
            Ok(batch) => batch,
            Err(invalid) => return refuse(&mut outcome.answer, &invalid, version),
        };
        if batch.bytes().len() as u64 > u64::from(topic.log.segment_bytes) {
            outcome.answer.error_code = ErrorCode::RECORD_LIST_TOO_LARGE.0;
            return;
        }
        let append_time = batch.header().append_time();
        let written = self.with(hosted, moment, |state| {
            state.produce(batch, acks, moment, hosted)
        });
        match written {
            Ok(Ok(written)) => {
                outcome.answer.base_offset = written.base.0;
                outcome.answer.log_start_offset = written.log_start.0;
                outcome.answer.log_append_time_ms = append_time.unwrap_or(-1);
                outcome.waiting = written
                    .committed
                    .map(|committed| (Arc::clone(hosted), committed));
            }
            Ok(Err(Refused::Replica(error))) => {
                let text = matches!(error, ProduceError::OutOfOrderSequence { .. });
                if version >= WITH_MESSAGES && text {
                    outcome.answer.error_message = Some(error.to_string().into());
                }
                outcome.answer.error_code = ErrorCode::from(error).0;
            }
            Ok(Err(Refused::Log(error))) => {
                tracing::error!(partition = %hosted.name.name(), %error, "a batch is refused");
                outcome.answer.error_code = ErrorCode::UNKNOWN_SERVER_ERROR.0;
            }
            Err(error) => outcome.answer.error_code = error.0,
        }
    }

    fn produce_response(
        &self,
        topics: Vec<(SmallString, Uuid)>,
        outcomes: Vec<Outcome>,
        version: i16,
        listener: &str,
    ) -> ProduceResponse {
        let image = self.image();
        let mut leaders: BTreeSet<BrokerId> = BTreeSet::new();
        let mut answers: BTreeMap<usize, Vec<PartitionProduceResponse>> = BTreeMap::new();
        for Outcome {
            topic, mut answer, ..
        } in outcomes
        {
            if version >= WITH_LEADERS {
                let (name, id) = &topics[topic];
                add_leader(&image, name, *id, &mut answer, &mut leaders);
            }
            answers.entry(topic).or_default().push(answer);
        }
        let responses = topics
            .into_iter()
            .enumerate()
            .map(|(place, (name, topic_id))| TopicProduceResponse {
                name,
                topic_id,
                partition_responses: answers.remove(&place).unwrap_or_default(),
                ..TopicProduceResponse::default()
            });
        let endpoint = |id: &BrokerId| {
            let broker = image.cluster().broker(*id)?;
            let at = broker.listeners.get(listener)?;
            Some(NodeEndpoint {
                node_id: id.0,
                host: (&*at.host).into(),
                port: at.port.into(),
                rack: broker.rack.as_deref().map(Into::into),
                ..NodeEndpoint::default()
            })
        };
        ProduceResponse {
            responses: responses.collect(),
            node_endpoints: leaders.iter().filter_map(endpoint).collect(),
            ..ProduceResponse::default()
        }
    }
}

fn add_leader(
    image: &Image,
    name: &str,
    id: Uuid,
    answer: &mut PartitionProduceResponse,
    leaders: &mut BTreeSet<BrokerId>,
) {
    let topics = image.topics();
    let topic = match id.is_zero() {
        true => topics.by_name(name),
        false => topics.by_id(id),
    };
    let Some(topic) = topic else {
        return;
    };
    let place = Place {
        topic: topic.id(),
        index: PartitionIndex(answer.index),
    };
    if let Some((leader, epoch)) = leader_hint(image, place, ErrorCode(answer.error_code)) {
        leaders.extend(leader.known());
        answer.current_leader = LeaderIdAndEpoch {
            leader_id: leader.0,
            leader_epoch: epoch.0,
            ..LeaderIdAndEpoch::default()
        };
    }
}

fn refuse(answer: &mut PartitionProduceResponse, invalid: &Invalid, version: i16) {
    answer.error_code = invalid.code().0;
    if version >= WITH_MESSAGES {
        answer.error_message = Some(invalid.to_string().into());
        let wrong = invalid.records().iter();
        answer.record_errors = wrong
            .map(|index| BatchIndexAndErrorMessage {
                batch_index: *index,
                batch_index_error_message: Some(invalid.to_string().into()),
                ..BatchIndexAndErrorMessage::default()
            })
            .collect();
    }
}
