use klamm_metadata::placement::PlacementError;
use klamm_protocol::ErrorCode;

/// Why an item of a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: ErrorCode,
    pub(crate) text: String,
}

impl Refusal {
    pub(crate) fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { code, text }
    }

    /// The client may not do it.
    pub(crate) fn unauthorized(code: ErrorCode) -> Self {
        let text = match code {
            ErrorCode::TOPIC_AUTHORIZATION_FAILED => "Topic authorization failed.",
            ErrorCode::GROUP_AUTHORIZATION_FAILED => "Group authorization failed.",
            _ => "Cluster authorization failed.",
        };
        Self::new(code, text)
    }
}

impl From<PlacementError> for Refusal {
    fn from(error: PlacementError) -> Self {
        Self::new(ErrorCode::INVALID_REPLICATION_FACTOR, error.to_string())
    }
}
