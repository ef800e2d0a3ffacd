use klamm_controller::Registration;
use klamm_metadata::{BrokerEpoch, Operation};
use klamm_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, BrokerRegistrationResponse,
};
use klamm_protocol::{BrokerId, ErrorCode};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for BrokerRegistrationRequest {
    const NEEDS: Option<Operation> = Some(Operation::ClusterAction);

    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> BrokerRegistrationResponse {
        BrokerRegistrationResponse {
            error_code: error.0,
            ..BrokerRegistrationResponse::default()
        }
    }
}

impl Decide for BrokerRegistrationRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<BrokerRegistrationResponse>, CommitError> {
        let id = BrokerId(self.broker_id);
        let known = active.lead.image.cluster().broker(id);
        let registration = Registration {
            request: self,
            version: call.version,
            cluster_id: &active.node.cluster_id,
            next_offset: active.next_offset(),
            earlier_connected: known.is_some_and(|known| active.presence.has_run(id, known.epoch)),
        };
        let now = active.moment();
        let decided = registration.decide(&active.view()?, &active.lead.sessions, now);
        let decision = match decided {
            Ok(decision) => decision,
            Err(error) => {
                tracing::warn!(broker = id.0, %error, "registration refused");
                let response = self.refused(call.version, ErrorCode::from(&error), None);
                return Ok(active.read(response));
            }
        };
        let epoch = BrokerEpoch(decision.response.broker_epoch);
        let pending = active.commit(decision)?;
        tracing::info!(broker = id.0, epoch = epoch.0, "broker registered");
        active.lead.sessions.registered(id, epoch, now);
        active.presence.claim(&call.peer, id, Some(epoch));
        Ok(pending)
    }
}
