use klamm_controller::heartbeat;
use klamm_metadata::Operation;
use klamm_protocol::messages::broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use klamm_protocol::{BrokerId, ErrorCode, Offset};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for BrokerHeartbeatRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> BrokerHeartbeatResponse {
        BrokerHeartbeatResponse {
            error_code: error.0,
            ..BrokerHeartbeatResponse::default()
        }
    }
}

impl Decide for BrokerHeartbeatRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<BrokerHeartbeatResponse>, CommitError> {
        let id = BrokerId(self.broker_id);
        let broker = active.lead.image.cluster().broker(id);
        if let Some(broker) = broker.filter(|broker| broker.epoch.0 == self.broker_epoch) {
            let offset = Offset(self.current_metadata_offset);
            active.lead.sessions.heard(broker, offset, call.arrived);
            active.presence.claim(&call.peer, id, Some(broker.epoch));
        }
        let decision = heartbeat(&active.view()?, &active.lead.sessions, self);
        let was_fenced = broker_is_fenced(active, id);
        let pending = active.commit(decision)?;
        let is_fenced = broker_is_fenced(active, id);
        if was_fenced != is_fenced {
            tracing::info!(broker = id.0, is_fenced, "heartbeat");
        }
        if pending.response.handing_over {
            // Brokers tell the offset of the last record that they know.
            let last = Offset(pending.at.0 - 1);
            active.lead.sessions.handed_over(id, last);
        }
        Ok(pending.map(|reply| reply.response))
    }
}

fn broker_is_fenced(active: &Active<'_>, id: BrokerId) -> Option<bool> {
    let broker = active.lead.image.cluster().broker(id);
    broker.map(|broker| broker.fenced)
}
