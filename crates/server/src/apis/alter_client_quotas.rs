use klamm_controller::alter_client_quotas;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::alter_client_quotas::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, RequestEntityData, RequestEntryData,
    ResponseEntityData, ResponseEntryData,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for AlterClientQuotasRequest {
    const NEEDS: Option<Operation> = Some(Operation::AlterConfigs);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> AlterClientQuotasResponse {
        let part = |part: &RequestEntityData| ResponseEntityData {
            entity_type: part.entity_type.clone(),
            entity_name: part.entity_name.clone(),
            ..ResponseEntityData::default()
        };
        let entry = |entry: &RequestEntryData| ResponseEntryData {
            error_code: error.0,
            error_message: text.map(Into::into),
            entity: entry.entity.iter().map(part).collect(),
            ..ResponseEntryData::default()
        };
        AlterClientQuotasResponse {
            entries: self.entries.iter().map(entry).collect(),
            ..AlterClientQuotasResponse::default()
        }
    }
}

impl Decide for AlterClientQuotasRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<AlterClientQuotasResponse>, CommitError> {
        let decision = alter_client_quotas(&active.view()?, self);
        active.commit(decision)
    }
}
