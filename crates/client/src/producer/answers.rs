use std::collections::HashMap;

use klamm_net::{NetError, ServerAddress};
use klamm_protocol::messages::produce::{PartitionProduceResponse, ProduceResponse};
use klamm_protocol::{ErrorCode, Offset, SmallString, Uuid};
use tokio::time::Instant;

use super::batch::Batch;
use super::sender::{Produced, is_final};
use super::state::State;
use super::{ProduceError, Shared};
use crate::leaders::{Leaders, Leadership};
use crate::retry::Backoff;
use crate::{ClientError, TopicPartition};

/// Ends batches whose answer came, and puts the others back.
pub(super) fn settle(shared: &Shared, produced: Produced, backoff: &Backoff) {
    let mut state = shared.state();
    match produced.outcome {
        Ok(answer) => {
            let mut told = by_partition(&state.leaders, answer.response, shared);
            for (partition, batch) in produced.batches {
                let settling = Settling {
                    shared,
                    partition,
                    server: &answer.server,
                    backoff,
                };
                match told.remove(&settling.partition) {
                    Some(told) => settling.told(&mut state, batch, told),
                    None => settling.left_out(&mut state, batch),
                }
            }
        }
        Err(error) => {
            let may_be_written = matches!(&error, ClientError::Net(NetError { sent: true, .. }));
            for (partition, mut batch) in produced.batches {
                state.leaders.distrust(&partition.topic);
                state.avoid(&partition.topic);
                let cause = ProduceError::Client(error.clone());
                if is_final(&error) {
                    fail(shared, &mut state, &partition, batch, &cause);
                    continue;
                }
                batch.may_be_written |= may_be_written;
                batch.last = Some(Box::new(cause));
                state.again(&partition, batch);
            }
        }
    }
}

/// What an answer says of each partition, where topics may have names or ids.
fn by_partition(
    leaders: &Leaders,
    response: ProduceResponse,
    shared: &Shared,
) -> HashMap<TopicPartition, PartitionProduceResponse> {
    let nodes = response.node_endpoints.iter();
    let nodes = nodes.map(|node| (node.node_id, node.host.as_str(), node.port));
    shared.client.learned_nodes(nodes);
    let mut told = HashMap::new();
    for topic in response.responses {
        let named = (topic.topic_id != Uuid::ZERO).then(|| leaders.named(topic.topic_id));
        let Some(name) = named.unwrap_or(Some(&topic.name)).cloned() else {
            continue;
        };
        for partition in topic.partition_responses {
            let key = TopicPartition::new(name.clone(), partition.index);
            told.insert(key, partition);
        }
    }
    told
}

/// One partition's part of an answer.
struct Settling<'a> {
    shared: &'a Shared,
    partition: TopicPartition,
    server: &'a ServerAddress,
    backoff: &'a Backoff,
}

impl Settling<'_> {
    fn told(&self, state: &mut State, mut batch: Batch, told: PartitionProduceResponse) {
        let code = ErrorCode(told.error_code);
        match code {
            // The broker has it from a request whose answer was lost.
            ErrorCode::NONE | ErrorCode::DUPLICATE_SEQUENCE_NUMBER => {
                let offset = (told.base_offset >= 0).then_some(Offset(told.base_offset));
                let append_time = (told.log_append_time_ms >= 0).then_some(told.log_append_time_ms);
                state.queue(&self.partition).acknowledged(batch.ordinal);
                self.shared.release(state, &batch);
                batch.acknowledge(&self.partition, offset, append_time);
            }
            ErrorCode::OUT_OF_ORDER_SEQUENCE_NUMBER | ErrorCode::UNKNOWN_PRODUCER_ID
                if self.shared.options.idempotence =>
            {
                let queue = state.queue(&self.partition);
                // Where batches before it are still on their way, they come first when it is sent
                // again; else the leader waits for numbers that nobody will send.
                if queue.is_lowest(batch.ordinal) {
                    queue.refused_order();
                }
                self.again(state, batch, told);
            }
            ErrorCode::MESSAGE_TOO_LARGE if batch.records() > 1 => {
                let flush_id = batch.flush_id;
                state.split(flush_id);
                state.queue(&self.partition).halve(batch);
                state.waiting.insert(self.partition.clone());
            }
            code if code.is_retriable() => {
                batch.may_be_written |= !is_before_the_write(code);
                let moved = Leadership::told(
                    told.current_leader.leader_id,
                    told.current_leader.leader_epoch,
                );
                if code.is_invalid_metadata() && !state.leaders.moved(&self.partition, moved) {
                    state.leaders.distrust(&self.partition.topic);
                }
                self.again(state, batch, told);
            }
            _ => {
                let error = self.refused(&told);
                fail(self.shared, state, &self.partition, batch, &error);
            }
        }
    }

    fn again(&self, state: &mut State, mut batch: Batch, told: PartitionProduceResponse) {
        batch.last = Some(Box::new(self.refused(&told)));
        // A leader that has been named is asked at once (KIP-951).
        let is_led = state.leaders.of(&self.partition).epoch.map(|epoch| epoch.0)
            == Some(told.current_leader.leader_epoch);
        batch.not_before = (!is_led).then(|| Instant::now() + self.backoff.after(batch.attempts));
        state.again(&self.partition, batch);
    }

    fn refused(&self, told: &PartitionProduceResponse) -> ProduceError {
        ProduceError::Refused {
            partition: self.partition.clone(),
            server: self.server.clone(),
            code: ErrorCode(told.error_code),
            message: told.error_message.clone(),
        }
    }

    fn left_out(&self, state: &mut State, mut batch: Batch) {
        batch.may_be_written = true;
        let told = PartitionProduceResponse {
            error_code: ErrorCode::UNKNOWN_SERVER_ERROR.0,
            error_message: Some(SmallString::from_static("the answer leaves it out")),
            ..Default::default()
        };
        self.again(state, batch, told);
    }
}

/// Whether a leader that answers so has not written the batch. With any other code it may have, and
/// have waited in vain for its followers then, or have lost the lead.
fn is_before_the_write(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::NOT_ENOUGH_REPLICAS | ErrorCode::CORRUPT_MESSAGE
    )
}

/// Gives up what has waited for longer than `delivery.timeout.ms`.
pub(super) fn expire(shared: &Shared, state: &mut State, now: Instant) {
    let after = shared.options.delivery_timeout;
    let Some(before) = now.checked_sub(after) else {
        return;
    };
    let mut expired = Vec::new();
    for partition in &state.waiting {
        if let Some(queue) = state.queues.get_mut(partition) {
            let batches = queue.expired(before).into_iter();
            expired.extend(batches.map(|batch| (partition.clone(), batch)));
        }
    }
    let any = !expired.is_empty();
    for (partition, mut batch) in expired {
        let error = ProduceError::Expired {
            partition,
            after,
            attempts: batch.attempts,
            last: batch.last.take(),
            outcome_unknown: batch.may_be_written,
        };
        shared.release(state, &batch);
        batch.fail(&error);
    }
    if any {
        shared.changed.notify_waiters();
    }
}

/// Ends a batch that was taken out of its queue and will not be sent again.
pub(super) fn fail(
    shared: &Shared,
    state: &mut State,
    partition: &TopicPartition,
    batch: Batch,
    error: &ProduceError,
) {
    let queue = state.queue(partition);
    queue.answered(batch.ordinal);
    queue.lost();
    shared.release(state, &batch);
    batch.fail(error);
    shared.changed.notify_waiters();
}

/// Ends everything that is queued.
pub(super) fn fail_all(shared: &Shared, state: &mut State, error: &ProduceError) {
    for partition in std::mem::take(&mut state.waiting) {
        let batches: Vec<_> = state.queue(&partition).drain().collect();
        for batch in batches {
            shared.release(state, &batch);
            batch.fail(error);
        }
    }
    shared.changed.notify_waiters();
}

impl Shared {
    /// Gives back what a batch has taken of the buffer, and counts it as ended.
    fn release(&self, state: &mut State, batch: &Batch) {
        self.room.add_permits(batch.buffered);
        state.ended(batch.flush_id);
    }
}
