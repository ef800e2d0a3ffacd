use std::fmt;

use klamm_client::{ErrorCode, PartitionError};

/// What became of a partition's election.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It has a new leader.
    Elected,
    /// It had the leader that was wanted.
    NotNeeded,
    /// It was not elected, or nobody knows.
    Failed(Failure),
}

impl Outcome {
    /// As results name it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Elected => "elected",
            Self::NotNeeded => "not_needed",
            Self::Failed(_) => "failed",
        }
    }

    pub(crate) fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// Why a partition has no new leader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Failure {
    /// Kafka's code; `None` where no server answered.
    pub(crate) code: Option<i16>,
    /// Kafka's name of the code, or [`OUTCOME_UNKNOWN`] or [`NOT_ASKED`].
    pub(crate) name: String,
    /// What the server said besides the code.
    pub(crate) message: Option<String>,
}

/// The cluster was asked and did not answer: the leader may have changed, or may yet.
pub(crate) const OUTCOME_UNKNOWN: &str = "OUTCOME_UNKNOWN";

/// The cluster was not asked, since something went wrong before.
pub(crate) const NOT_ASKED: &str = "NOT_ASKED";

impl From<Result<(), PartitionError>> for Outcome {
    fn from(result: Result<(), PartitionError>) -> Self {
        match result {
            Ok(()) => Self::Elected,
            Err(error) if error.is_election_not_needed() => Self::NotNeeded,
            Err(error) => Self::Failed(Failure::new(error.code, error.message.as_deref())),
        }
    }
}

impl Failure {
    /// What a server answered.
    pub(crate) fn new(code: ErrorCode, message: Option<&str>) -> Self {
        let name = code.name().unwrap_or("UNNAMED_ERROR");
        let message = message.filter(|message| !message.is_empty());
        Self {
            message: message.map(str::to_owned),
            ..Self::of_kafka(code.0, name)
        }
    }

    pub(crate) fn of_kafka(code: i16, name: &str) -> Self {
        Self {
            code: Some(code),
            name: name.to_owned(),
            message: None,
        }
    }

    pub(crate) fn unknown() -> Self {
        Self {
            code: None,
            name: OUTCOME_UNKNOWN.to_owned(),
            message: None,
        }
    }

    pub(crate) fn not_asked() -> Self {
        Self {
            code: None,
            name: NOT_ASKED.to_owned(),
            message: None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{} ({code})", self.name),
            None => f.write_str(&self.name),
        }
    }
}
