use std::collections::BTreeSet;

use klamm_metadata::Record;
use klamm_protocol::ErrorCode;
use klamm_protocol::data::metadata::RegisterControllerRecord;
use klamm_protocol::data::metadata::register_controller_record::{
    ControllerEndpoint, ControllerFeature,
};
use klamm_protocol::messages::controller_registration::{
    ControllerRegistrationRequest, ControllerRegistrationResponse,
};

use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// The highest number of a security protocol.
const MAX_SECURITY_PROTOCOL: i16 = 3;

/// Notes where a controller listens and which features it supports (KIP-919). The last registration
/// of an id counts.
pub fn register_controller(
    view: &View<'_>,
    request: &ControllerRegistrationRequest,
) -> Decision<ControllerRegistrationResponse> {
    match register(view, request) {
        Ok(record) => {
            let mut decision = Decision::answer(ControllerRegistrationResponse::default());
            decision.records.push(record);
            decision
        }
        Err(refusal) => Decision::answer(ControllerRegistrationResponse {
            error_code: refusal.code.0,
            error_message: Some((&*refusal.text).into()),
            ..Default::default()
        }),
    }
}

fn register(view: &View<'_>, request: &ControllerRegistrationRequest) -> Result<Record, Refusal> {
    if !view.metadata_version().allows_controller_registration() {
        let text = "The current MetadataVersion is too old to support controller registrations.";
        return Err(Refusal::new(ErrorCode::UNSUPPORTED_VERSION, text));
    }
    let mut names = BTreeSet::new();
    for listener in &request.listeners {
        let text = match listener.security_protocol {
            0..=MAX_SECURITY_PROTOCOL if names.insert(&*listener.name) => continue,
            0..=MAX_SECURITY_PROTOCOL => format!("listener {} is there twice", listener.name),
            unknown => format!(
                "Unknown security protocol {unknown} in listener {}",
                listener.name
            ),
        };
        return Err(Refusal::new(ErrorCode::INVALID_REGISTRATION, text));
    }
    let end_points = request.listeners.iter().map(|listener| ControllerEndpoint {
        name: listener.name.clone(),
        host: listener.host.clone(),
        port: listener.port,
        security_protocol: listener.security_protocol,
        ..Default::default()
    });
    let features = request.features.iter().map(|feature| ControllerFeature {
        name: feature.name.clone(),
        min_supported_version: feature.min_supported_version,
        max_supported_version: feature.max_supported_version,
        ..Default::default()
    });
    let record = RegisterControllerRecord {
        controller_id: request.controller_id,
        incarnation_id: request.incarnation_id,
        // There is nothing left to migrate from.
        zk_migration_ready: false,
        end_points: end_points.collect(),
        features: features.collect(),
        ..Default::default()
    };
    Ok(record.into())
}
