use klamm_protocol::data::metadata::ProducerIdsRecord;
use klamm_protocol::messages::allocate_producer_ids::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse,
};
use klamm_protocol::{BrokerId, ErrorCode};

use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// How many producer ids a broker gets at a time.
const BLOCK_LEN: i32 = 1000;

/// Gives a broker the next block of producer ids, which no other broker ever gets.
pub fn allocate_producer_ids(
    view: &View<'_>,
    request: &AllocateProducerIdsRequest,
) -> Decision<AllocateProducerIdsResponse> {
    let refuse = |error: ErrorCode| {
        Decision::answer(AllocateProducerIdsResponse {
            error_code: error.0,
            ..Default::default()
        })
    };
    let broker = view.image().cluster().broker(BrokerId(request.broker_id));
    if broker.is_none_or(|broker| broker.epoch.0 != request.broker_epoch) {
        return refuse(ErrorCode::STALE_BROKER_EPOCH);
    }
    let producer_id_start = view.image().next_producer_id();
    let Some(next_producer_id) = producer_id_start.checked_add(BLOCK_LEN.into()) else {
        return refuse(ErrorCode::UNKNOWN_SERVER_ERROR);
    };
    let mut decision = Decision::answer(AllocateProducerIdsResponse {
        producer_id_start,
        producer_id_len: BLOCK_LEN,
        ..Default::default()
    });
    let record = ProducerIdsRecord {
        broker_id: request.broker_id,
        broker_epoch: request.broker_epoch,
        next_producer_id,
        ..Default::default()
    };
    decision.records.push(record.into());
    decision
}
