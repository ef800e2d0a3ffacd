use klamm_controller::UpdateFeatures;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::update_features::{UpdateFeaturesRequest, UpdateFeaturesResponse};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for UpdateFeaturesRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> UpdateFeaturesResponse {
        UpdateFeaturesResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..UpdateFeaturesResponse::default()
        }
    }
}

impl Decide for UpdateFeaturesRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<UpdateFeaturesResponse>, CommitError> {
        let update = UpdateFeatures {
            request: self,
            version: call.version,
            kraft_version: active.quorum.raft().kraft_version().0,
        };
        let decision = update.decide(&active.view()?);
        if decision.response.error_code == 0
            && let Some(level) = update.kraft_upgrade()
            && let Err(error) = active.raise_kraft_version(level, self.validate_only)
        {
            let text = format!("Invalid update version {level} for feature kraft.version: {error}");
            let code = ErrorCode::INVALID_UPDATE_VERSION;
            return Ok(active.read(self.refused(call.version, code, Some(&text))));
        }
        active.commit(decision)
    }
}
