use serde::{Deserialize, Serialize};

use crate::error::LogError;
use crate::storage::Dir;

/// `.kafka_cleanshutdown`: the mark of a directory whose logs were all closed, with the epoch of the
/// broker that did it (KIP-966: with it the controller knows that nothing was lost).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanShutdown {
    /// The broker epoch of the run that ended; `None` in files of older versions.
    pub broker_epoch: Option<i64>,
}

#[derive(Serialize, Deserialize)]
struct Json {
    version: i32,
    #[serde(rename = "brokerEpoch", default)]
    broker_epoch: Option<i64>,
}

const VERSION: i32 = 0;

impl CleanShutdown {
    /// The file's name.
    pub const FILE_NAME: &'static str = ".kafka_cleanshutdown";

    /// The mark, if it is there. One that cannot be read counts as one without an epoch.
    pub fn read(dir: &dyn Dir) -> Result<Option<Self>, LogError> {
        let text = super::read(dir, Self::FILE_NAME)?;
        Ok(text.map(|text| Self {
            broker_epoch: serde_json::from_str(&text)
                .ok()
                .and_then(|json: Json| json.broker_epoch),
        }))
    }

    /// Makes the mark.
    pub fn write(self, dir: &dyn Dir) -> Result<(), LogError> {
        let json = Json {
            version: VERSION,
            broker_epoch: self.broker_epoch,
        };
        let text = serde_json::to_string(&json).expect("two numbers are JSON");
        super::write(dir, Self::FILE_NAME, &text)
    }

    /// Removes the mark, durably: what to do before anything in the directory changes.
    pub fn remove(dir: &dyn Dir) -> Result<(), LogError> {
        let removed = dir
            .remove_if_there(Self::FILE_NAME)
            .and_then(|()| dir.sync());
        removed.map_err(LogError::io("remove", dir.file(Self::FILE_NAME)))
    }
}
