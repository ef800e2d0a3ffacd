use klamm_protocol::records::ControlType;
use thiserror::Error;

use super::{Batch, Entry};
use crate::RecordType;

/// Which records are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The first offset.
    pub from: Option<i64>,
    /// The last offset.
    pub to: Option<i64>,
    /// Names of types; any where there are none.
    pub kinds: Vec<String>,
}

/// No record has a type of this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no type of record {0:?}")]
pub struct UnknownKind(pub String);

/// What records of topics that are not Apache Kafka's own are called.
pub(super) const DATA: &str = "data";
/// All control records.
const CONTROL: &str = "control";

impl Filter {
    /// Adds a type by its name, in any case: one of [`RecordType::all`], of a control record such as
    /// `COMMIT`, `control` for all of these, or `data`.
    pub fn add_kind(&mut self, name: &str) -> Result<(), UnknownKind> {
        let mut control = (0..=6).map(|code| ControlType::from_code(code).to_string());
        let found = RecordType::find(name)
            .map(|kind| kind.name.to_owned())
            .or_else(|| control.find(|known| known.eq_ignore_ascii_case(name)))
            .or_else(|| {
                let mut others = [CONTROL, DATA].into_iter();
                let other = others.find(|known| known.eq_ignore_ascii_case(name));
                other.map(str::to_owned)
            });
        self.kinds
            .push(found.ok_or_else(|| UnknownKind(name.to_owned()))?);
        Ok(())
    }

    /// Whether a batch may have records that are shown.
    pub fn takes_batch(&self, batch: &Batch) -> bool {
        let last = batch.inner().last_offset().0;
        self.from.is_none_or(|from| last >= from) && !self.is_past(batch)
    }

    /// Whether a batch comes after all that is shown.
    pub fn is_past(&self, batch: &Batch) -> bool {
        // Only batches of magic 2 say their first offset.
        let first = batch.header().map(|header| header.base_offset.0);
        self.to.zip(first).is_some_and(|(to, first)| first > to)
    }

    /// Whether a record is shown.
    pub fn takes(&self, entry: &Entry) -> bool {
        self.from.is_none_or(|from| entry.offset >= from)
            && self.to.is_none_or(|to| entry.offset <= to)
            && (self.kinds.is_empty()
                || self
                    .kinds
                    .iter()
                    .any(|kind| *kind == entry.kind || (entry.is_control && kind == CONTROL)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names() {
        let mut filter = Filter::default();
        for name in [
            "topicrecord",
            "OffsetCommitValue",
            "commit",
            "Control",
            "data",
        ] {
            filter.add_kind(name).unwrap();
        }
        let expected = ["TopicRecord", "OffsetCommit", "COMMIT", "control", "data"];
        assert_eq!(filter.kinds, expected);
        let error = filter.add_kind("TopicRecords").unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"there is no type of record "TopicRecords""#
        );
    }
}
