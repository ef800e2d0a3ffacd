//! InitProducerId: ids of idempotent producers, out of blocks that the controller gives.

use klamm_protocol::ErrorCode;
use klamm_protocol::messages::allocate_producer_ids::AllocateProducerIdsRequest;
use klamm_protocol::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use tokio::sync::{Mutex, oneshot};

use super::{Question, Replicas, Shared};

/// The ids that are left of the last block.
#[derive(Debug, Default)]
pub(super) struct ProducerIds(Mutex<Block>);

#[derive(Debug, Default)]
struct Block {
    next: i64,
    left: i32,
}

impl Replicas {
    /// Gives an idempotent producer an id that no other has.
    pub(crate) async fn init_producer_id(
        &self,
        request: InitProducerIdRequest,
    ) -> InitProducerIdResponse {
        let given = match request.transactional_id {
            Some(id) if id.is_empty() => Err(ErrorCode::INVALID_REQUEST),
            // Nobody coordinates transactions here, so trying again does not help.
            Some(_) => Err(ErrorCode::UNSUPPORTED_VERSION),
            None => self.0.producer_id().await,
        };
        let mut response = InitProducerIdResponse {
            producer_id: -1,
            producer_epoch: -1,
            ..InitProducerIdResponse::default()
        };
        match given {
            Ok(id) => {
                response.producer_id = id;
                response.producer_epoch = 0;
            }
            Err(error) => response.error_code = error.0,
        }
        response
    }
}

impl Shared {
    async fn producer_id(&self) -> Result<i64, ErrorCode> {
        let mut block = self.producer_ids.0.lock().await;
        if block.left == 0 {
            *block = self.allocate().await?;
        }
        let id = block.next;
        block.next += 1;
        block.left -= 1;
        Ok(id)
    }

    async fn allocate(&self) -> Result<Block, ErrorCode> {
        let request = AllocateProducerIdsRequest {
            broker_id: self.broker.0,
            broker_epoch: self.broker_epoch().0,
            ..AllocateProducerIdsRequest::default()
        };
        let (answer, answered) = oneshot::channel();
        let question = Question::AllocateProducerIds(request, answer);
        // The producer asks again, as it does while the coordinator of a transaction loads.
        let later = ErrorCode::COORDINATOR_LOAD_IN_PROGRESS;
        let sent = self.questions.send(question).await;
        sent.map_err(|_| later)?;
        let response = answered.await.map_err(|_| later)?;
        match ErrorCode(response.error_code) {
            ErrorCode::NONE if response.producer_id_len > 0 => Ok(Block {
                next: response.producer_id_start,
                left: response.producer_id_len,
            }),
            error => {
                tracing::warn!(%error, "the controller gives no ids for producers");
                Err(later)
            }
        }
    }
}
