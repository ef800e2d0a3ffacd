use klamm_protocol::{ApiKey, ApiVersion};

use super::head::RequestHead;

/// Whether the next frame of a client may be a token of SASL without a header, as they follow
/// SaslHandshake v0 (KIP-43), until the first request after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    may_come: bool,
}

impl Tokens {
    /// The request, and the response, that tokens follow.
    pub(crate) const HANDSHAKE: ApiVersion = ApiVersion {
        key: ApiKey::SASL_HANDSHAKE,
        version: 0,
    };

    pub(crate) fn may_come(self) -> bool {
        self.may_come
    }

    /// Whether a frame that begins with `head` is one; a token may be too short for a head.
    pub(crate) fn is_token(self, head: Option<&RequestHead>) -> bool {
        self.may_come && !head.is_some_and(RequestHead::is_likely)
    }

    /// A request came.
    pub(crate) fn requested(&mut self, api: ApiVersion) {
        self.may_come = api == Self::HANDSHAKE;
    }
}
