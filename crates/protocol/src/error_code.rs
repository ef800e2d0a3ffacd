use core::fmt;

/// An error code as it is on the wire. Codes that this release does not name are kept as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorCode(pub i16);

// Constants for every code, and the table of names: generated from `facts/errors.tsv`.
include!(concat!(env!("OUT_DIR"), "/error_codes.rs"));

/// What is known of an error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    code: i16,
    name: &'static str,
    retriable: bool,
    invalid_metadata: bool,
}

impl ErrorCode {
    fn known(self) -> Option<&'static Known> {
        KNOWN
            .binary_search_by_key(&self.0, |known| known.code)
            .ok()
            .map(|index| &KNOWN[index])
    }

    /// Every code that Apache Kafka 4.4.0 names, in ascending order.
    pub fn all() -> impl Iterator<Item = Self> {
        KNOWN.iter().map(|known| Self(known.code))
    }

    /// Kafka's name, such as `ELECTION_NOT_NEEDED`; `None` for a code of a later release.
    pub fn name(self) -> Option<&'static str> {
        self.known().map(|known| known.name)
    }

    /// Whether the same request may succeed when it is sent again.
    pub fn is_retriable(self) -> bool {
        self.known().is_some_and(|known| known.retriable)
    }

    /// Whether the client's metadata is out of date, so that it should ask for it again first.
    pub fn is_invalid_metadata(self) -> bool {
        self.known().is_some_and(|known| known.invalid_metadata)
    }

    /// Whether it stands for success.
    pub fn is_ok(self) -> bool {
        self == Self::NONE
    }

    /// `Ok` for success, the code itself otherwise.
    pub fn ok(self) -> Result<(), Self> {
        if self.is_ok() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for ErrorCode {
    /// `ELECTION_NOT_NEEDED (84)`, or `error 999` for a code without a name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "error {}", self.0),
        }
    }
}

impl From<i16> for ErrorCode {
    fn from(code: i16) -> Self {
        Self(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn codes_have_names_and_unknown_ones_a_number() {
        assert_eq!(
            ErrorCode::ELECTION_NOT_NEEDED.to_string(),
            "ELECTION_NOT_NEEDED (84)"
        );
        assert_eq!(ErrorCode(-1).name(), Some("UNKNOWN_SERVER_ERROR"));
        assert_eq!(ErrorCode(31_000).to_string(), "error 31000");
        assert!(ErrorCode::NOT_CONTROLLER.is_retriable());
        assert!(!ErrorCode::POLICY_VIOLATION.is_retriable());
        assert!(!ErrorCode(31_000).is_retriable());
        assert_eq!(ErrorCode::all().count(), 138);
    }
}
