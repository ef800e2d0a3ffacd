use klamm_protocol::ErrorCode;
use klamm_protocol::messages::sasl_authenticate::{
    SaslAuthenticateRequest, SaslAuthenticateResponse,
};

use super::exchange::Api;
use super::serve::{Ask, Call};
use crate::controller::Controller;

impl Api for SaslAuthenticateRequest {
    fn refused(&self, _: i16, error: ErrorCode, text: Option<&str>) -> SaslAuthenticateResponse {
        SaslAuthenticateResponse {
            error_code: error.0,
            error_message: text.map(Into::into),
            ..SaslAuthenticateResponse::default()
        }
    }
}

impl Ask for SaslAuthenticateRequest {
    /// Nobody authenticates on a PLAINTEXT listener, and there are no others yet.
    fn answer(&self, call: &Call, _: &mut Controller) -> SaslAuthenticateResponse {
        let text = "this listener is PLAINTEXT: clients do not authenticate here";
        self.refused(call.version, ErrorCode::ILLEGAL_SASL_STATE, Some(text))
    }
}
