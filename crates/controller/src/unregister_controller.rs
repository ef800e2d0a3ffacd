use klamm_protocol::data::metadata::UnregisterControllerRecord;
use klamm_protocol::messages::unregister_controller::{
    UnregisterControllerRequest, UnregisterControllerResponse,
};
use klamm_protocol::{BrokerId, ErrorCode};

use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// Forgets a controller that is no more, so that what it supported binds nobody (KIP-1312). One that
/// runs registers again.
pub fn unregister_controller(
    view: &View<'_>,
    request: &UnregisterControllerRequest,
) -> Decision<UnregisterControllerResponse> {
    let refuse = |code: ErrorCode, text: &str| {
        Decision::answer(UnregisterControllerResponse {
            error_code: code.0,
            error_message: Some(text.into()),
            ..Default::default()
        })
    };
    if !view.metadata_version().allows_controller_unregistration() {
        let text = "The current MetadataVersion is too old to support controller unregistration.";
        return refuse(ErrorCode::UNSUPPORTED_VERSION, text);
    }
    let id = BrokerId(request.controller_id);
    if view.image().cluster().controller(id).is_none() {
        let text = format!("Controller ID {id} is not currently registered.");
        return refuse(ErrorCode::CONTROLLER_ID_NOT_REGISTERED, &text);
    }
    let mut decision = Decision::answer(UnregisterControllerResponse::default());
    let record = UnregisterControllerRecord {
        controller_id: id.0,
        ..Default::default()
    };
    decision.records.push(record.into());
    decision
}
