mod record;

use bytes::Bytes;
use klamm_protocol::ApiVersion;
use klamm_schema::value::{StructValue, Value, encode, smallest, smallest_with_records};
use thiserror::Error;

use crate::Direction;
use crate::catalog::message_schema;

pub use record::{SmallestRecord, smallest_record};

/// A batch of magic 2 without records: what the smallest instance has in a records field.
///
/// Base offset 0, length 49, partition leader epoch -1, CRC-32C, attributes 0, last offset delta 0,
/// and -1 for both timestamps and all that is said of a producer.
pub const EMPTY_BATCH: [u8; 61] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 49, 0xff, 0xff, 0xff, 0xff, 2, 0x38, 0x30, 0xa8, 0xfa, 0, 0,
    0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    0, 0, 0, 0,
];

/// An API does not have the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("there is no {api}")]
pub struct NoSuchVersion {
    /// What was asked for.
    pub api: ApiVersion,
}

/// A type of record does not have the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{name} has no version {version}")]
pub struct NoSuchRecord {
    /// The name of the type.
    pub name: &'static str,
    /// The version.
    pub version: i16,
}

/// The smallest instance of a request or response, with size and header: numbers 0, strings and bytes
/// empty, one element in each array, nullable structs present, [`EMPTY_BATCH`] as records, tagged
/// fields at their default.
pub fn smallest_frame(api: ApiVersion, direction: Direction) -> Result<Bytes, NoSuchVersion> {
    let schema = message_schema(api.key, direction)
        .filter(|schema| schema.valid_versions.contains(api.version))
        .ok_or(NoSuchVersion { api })?;
    let header_schema = direction.header_schema();
    let header_version = direction.header_version(api.key, api.version);
    let mut header: StructValue = smallest(header_schema, header_version);
    if direction == Direction::Request {
        // The first two fields say which request it is.
        let said = [api.key.0, api.version].map(|number| Value::Int(number.into()));
        header.fields.splice(..said.len(), said);
    }
    let header = encode(header_schema, header_version, &header);
    let value = smallest_with_records(schema, api.version, &EMPTY_BATCH);
    let body = encode(schema, api.version, &value);
    let size = (header.len() + body.len()) as u32;
    Ok([&size.to_be_bytes()[..], &header, &body].concat().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_protocol::ApiKey;
    use klamm_protocol::records::RecordBatch;

    #[test]
    fn the_empty_batch_is_sound() {
        let batch = RecordBatch::parse(Bytes::from_static(&EMPTY_BATCH)).unwrap();
        batch.verify_crc().unwrap();
        let header = batch.header();
        assert_eq!((header.base_offset.0, header.record_count), (0, 0));
        assert_eq!((header.base_timestamp, header.max_timestamp), (-1, -1));
        assert_eq!(
            (
                header.producer_id,
                header.producer_epoch,
                header.base_sequence
            ),
            (-1, -1, -1)
        );
    }

    #[test]
    fn elect_leaders_has_the_sizes_of_the_protocol_guide() {
        let sizes = |version| {
            let api = ApiVersion {
                key: ApiKey::ELECT_LEADERS,
                version,
            };
            Direction::BOTH.map(|direction| smallest_frame(api, direction).unwrap().len())
        };
        assert_eq!(sizes(0), [32, 30]);
        assert_eq!(sizes(1), [33, 32]);
        assert_eq!(sizes(2), [29, 28]);
    }
}
