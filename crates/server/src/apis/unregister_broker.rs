use klamm_controller::unregister;
use klamm_metadata::Operation;
use klamm_protocol::messages::unregister_broker::{
    UnregisterBrokerRequest, UnregisterBrokerResponse,
};
use klamm_protocol::{BrokerId, ErrorCode};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for UnregisterBrokerRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> UnregisterBrokerResponse {
        UnregisterBrokerResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..UnregisterBrokerResponse::default()
        }
    }
}

impl Decide for UnregisterBrokerRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<UnregisterBrokerResponse>, CommitError> {
        let id = BrokerId(self.broker_id);
        let decision = match unregister(&active.view()?, id) {
            Ok(decision) => decision,
            Err(error) => {
                let text = format!("broker {id} is not registered");
                let response = self.refused(call.version, error, Some(&text));
                return Ok(active.read(response));
            }
        };
        let pending = active.commit(decision)?;
        active.lead.sessions.unregistered(id);
        active.presence.forgotten(id);
        Ok(pending.map(|()| UnregisterBrokerResponse::default()))
    }
}
