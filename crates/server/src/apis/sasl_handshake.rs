use klamm_protocol::ErrorCode;
use klamm_protocol::messages::sasl_handshake::{SaslHandshakeRequest, SaslHandshakeResponse};

use super::exchange::Api;
use super::serve::{Ask, Call};
use crate::controller::Controller;

impl Api for SaslHandshakeRequest {
    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> SaslHandshakeResponse {
        SaslHandshakeResponse {
            error_code: error.0,
            ..SaslHandshakeResponse::default()
        }
    }
}

impl Ask for SaslHandshakeRequest {
    /// Nobody authenticates on a PLAINTEXT listener, and there are no others yet.
    fn answer(&self, call: &Call, _: &mut Controller) -> SaslHandshakeResponse {
        self.refused(call.version, ErrorCode::ILLEGAL_SASL_STATE, None)
    }
}
