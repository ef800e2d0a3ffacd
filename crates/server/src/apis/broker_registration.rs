use klamm_controller::{EarlierRun, Registration};
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
            earlier: known.map_or(EarlierRun::Gone, |known| {
                active.presence.run(id, known.epoch)
            }),
        };
        let now = active.moment();
        let decided = registration.decide(&active.view()?, &active.lead.sessions, now);
        let decision = match decided {
            Ok(decision) => decision,
            Err(error) => {
                let code = ErrorCode::from(&error);
                let refusals = &mut active.lead.refusals;
                let now = active.now.elapsed;
                if let Some(untold) = refusals.refused(id, self.incarnation_id, code, now) {
                    tracing::warn!(broker = id.0, %error, untold, "registration refused");
                }
                return Ok(active.read(self.refused(call.version, code, None)));
            }
        };
        let registered = &decision.response;
        let awaited_until = registered.awaited_until;
        let epoch = BrokerEpoch(registered.response.broker_epoch);
        let pending = active.commit(decision)?;
        tracing::info!(broker = id.0, epoch = epoch.0, "broker registered");
        active.lead.refusals.registered(id);
        active.lead.sessions.registered(id, epoch, now);
        if let Some(until) = awaited_until {
            active.lead.lost.add(id, until);
        }
        active.presence.claim(&call.peer, id, Some(epoch));
        Ok(pending.map(|registered| registered.response))
    }
}
