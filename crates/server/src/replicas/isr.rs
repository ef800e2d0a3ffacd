//! ISRs that leaders propose, on their way to the controller.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use klamm_metadata::{LeaderRecoveryState, Place};
use klamm_protocol::messages::alter_partition::{
    AlterPartitionRequest, AlterPartitionResponse, BrokerState, RequestPartitionData,
    RequestTopicData, ResponsePartitionData,
};
use klamm_protocol::{ErrorCode, LeaderEpoch, PartitionEpoch, PartitionIndex, Uuid};
use klamm_replica::{CommittedIsr, ProposedIsr};
use tokio::sync::{mpsc, oneshot};

use super::{Question, Shared};

/// The wait before a proposal goes out again, doubled with each time up to the longest.
const BACKOFF: Duration = Duration::from_millis(50);
const MAX_DOUBLINGS: u32 = 5;

/// An ISR that a partition's leader wants.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    pub(super) place: Place,
    pub(super) proposal: ProposedIsr,
}

/// Sends what leaders propose, all that is there at a time in one request.
pub(super) async fn send(shared: Weak<Shared>, mut proposals: mpsc::UnboundedReceiver<Proposal>) {
    let mut closing = match shared.upgrade() {
        Some(shared) => shared.closing.subscribe(),
        None => return,
    };
    loop {
        let first = tokio::select! {
            _ = closing.wait_for(|closing| *closing) => return,
            first = proposals.recv() => first,
        };
        let Some(Proposal { place, proposal }) = first else {
            return;
        };
        // A partition has one proposal at a time: a later one takes its place.
        let mut batch = BTreeMap::from([(place, proposal)]);
        let mut take_rest = |batch: &mut BTreeMap<Place, ProposedIsr>| {
            while let Ok(Proposal { place, proposal }) = proposals.try_recv() {
                batch.insert(place, proposal);
            }
        };
        take_rest(&mut batch);
        if let Some(wait) = backoff(&batch) {
            tokio::select! {
                _ = closing.wait_for(|closing| *closing) => return,
                () = tokio::time::sleep(wait) => {}
            }
            take_rest(&mut batch);
        }
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let answer = ask(&shared, &batch).await;
        let told = tokio::task::spawn_blocking(move || tell(&shared, batch, answer));
        let _ = told.await;
    }
}

/// How long to wait, where all were sent before.
fn backoff(batch: &BTreeMap<Place, ProposedIsr>) -> Option<Duration> {
    let fewest = batch.values().map(|proposal| proposal.attempt).min()?;
    (fewest > 0).then(|| BACKOFF * 2_u32.pow((fewest - 1).min(MAX_DOUBLINGS)))
}

/// The answer; `None` where there is none.
async fn ask(
    shared: &Arc<Shared>,
    batch: &BTreeMap<Place, ProposedIsr>,
) -> Option<AlterPartitionResponse> {
    let (answer, answered) = oneshot::channel();
    let question = Question::AlterPartition(request(shared, batch), answer);
    shared.questions.send(question).await.ok()?;
    answered.await.ok()
}

fn request(shared: &Shared, batch: &BTreeMap<Place, ProposedIsr>) -> AlterPartitionRequest {
    let broker_epoch = shared.broker_epoch().0;
    let mut topics: BTreeMap<Uuid, Vec<RequestPartitionData>> = BTreeMap::new();
    for (place, proposal) in batch {
        let members = proposal.isr.iter().map(|member| BrokerState {
            broker_id: member.broker.0,
            broker_epoch: match member.epoch {
                _ if member.broker == shared.broker => broker_epoch,
                Some(epoch) => epoch.0,
                None => -1,
            },
            ..BrokerState::default()
        });
        let partition = RequestPartitionData {
            partition_index: place.index.0,
            leader_epoch: proposal.leader_epoch.0,
            new_isr_with_epochs: members.collect(),
            leader_recovery_state: LeaderRecoveryState::Recovered.to_wire(),
            partition_epoch: proposal.partition_epoch.0,
            ..RequestPartitionData::default()
        };
        topics.entry(place.topic).or_default().push(partition);
    }
    let topics = topics
        .into_iter()
        .map(|(topic_id, partitions)| RequestTopicData {
            topic_id,
            partitions,
            ..RequestTopicData::default()
        });
    AlterPartitionRequest {
        broker_id: shared.broker.0,
        broker_epoch,
        topics: topics.collect(),
        ..AlterPartitionRequest::default()
    }
}

/// What the controller says to each proposal.
fn answers(
    response: Option<AlterPartitionResponse>,
) -> Result<BTreeMap<Place, ResponsePartitionData>, ErrorCode> {
    let response = response.ok_or(ErrorCode::NETWORK_EXCEPTION)?;
    match ErrorCode(response.error_code) {
        ErrorCode::NONE => {}
        error => return Err(error),
    }
    let topics = response.topics.into_iter();
    Ok(topics
        .flat_map(|topic| {
            topic.partitions.into_iter().map(move |partition| {
                let place = Place {
                    topic: topic.topic_id,
                    index: PartitionIndex(partition.partition_index),
                };
                (place, partition)
            })
        })
        .collect())
}

fn tell(
    shared: &Shared,
    batch: BTreeMap<Place, ProposedIsr>,
    response: Option<AlterPartitionResponse>,
) {
    let answers = answers(response);
    let moment = shared.moment();
    for (place, proposal) in batch {
        let answer = match &answers {
            Err(error) => Err(*error),
            Ok(answers) => match answers.get(&place) {
                Some(answer) => committed(answer),
                None => Err(ErrorCode::UNKNOWN_SERVER_ERROR),
            },
        };
        if let Err(error) = &answer {
            let isr: Vec<i32> = proposal.isr.iter().map(|member| member.broker.0).collect();
            tracing::info!(%place, ?isr, %error, "the controller did not take an ISR");
        }
        let Some(hosted) = shared.hosted(place) else {
            continue;
        };
        // What cannot be used needs no answer.
        let _ = shared.with(&hosted, &moment, |state| {
            let (now, brokers) = (moment.now, moment.image.cluster());
            state
                .replica
                .isr_answered(proposal.id, answer, now, brokers);
            Ok(())
        });
    }
}

fn committed(answer: &ResponsePartitionData) -> Result<CommittedIsr, ErrorCode> {
    match ErrorCode(answer.error_code) {
        ErrorCode::NONE => {}
        error => return Err(error),
    }
    let recovery = LeaderRecoveryState::from_wire(answer.leader_recovery_state);
    Ok(CommittedIsr {
        leader_epoch: LeaderEpoch(answer.leader_epoch),
        partition_epoch: PartitionEpoch(answer.partition_epoch),
        isr: answer.isr[..].into(),
        recovery: recovery.unwrap_or_default(),
    })
}
