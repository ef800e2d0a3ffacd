use std::path::PathBuf;

use thiserror::Error;

/// Why a schema cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A schema file is not what the schema language allows.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<SchemaError>,
    },
    /// The text is not JSON.
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// Something is missing or of the wrong kind.
    #[error("{place}: {problem}")]
    Invalid {
        /// Schema, struct and field, joined by dots.
        place: String,
        /// What is wrong there.
        problem: String,
    },
}

impl SchemaError {
    pub(crate) fn invalid(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid {
            place: place.into(),
            problem: problem.into(),
        }
    }
}
