mod batch;
mod codec;
mod hostile;
mod legacy;
mod model;
mod vectors;

use alloc::vec;
use alloc::vec::Vec;

use bytes::Bytes;

use super::*;
use crate::Offset;

/// A record with everything that is its own, for comparisons.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    offset: i64,
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(Vec<u8>, Option<Vec<u8>>)>,
}

impl Owned {
    fn new(offset: i64, timestamp: i64, key: Option<&[u8]>, value: Option<&[u8]>) -> Self {
        let (key, value) = (key.map(Vec::from), value.map(Vec::from));
        Self {
            offset,
            timestamp,
            key,
            value,
            headers: Vec::new(),
        }
    }

    fn append_to(&self, builder: &mut BatchBuilder) -> Result<(), BuildError> {
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|(key, value)| Header {
                key,
                value: value.as_deref(),
            })
            .collect();
        let (key, value) = (self.key.as_deref(), self.value.as_deref());
        let record = NewRecord {
            timestamp: self.timestamp,
            key,
            value,
            headers: &headers,
        };
        builder.append_at(Offset(self.offset), &record)
    }
}

impl From<Record<'_>> for Owned {
    fn from(record: Record<'_>) -> Self {
        Self {
            offset: record.offset().0,
            timestamp: record.timestamp(),
            key: record.key().map(Vec::from),
            value: record.value().map(Vec::from),
            headers: record
                .headers()
                .iter()
                .map(|header| (header.key.into(), header.value.map(Vec::from)))
                .collect(),
        }
    }
}

fn owned(records: &Records) -> Result<Vec<Owned>, RecordsError> {
    records
        .iter()
        .map(|record| record.map(Owned::from))
        .collect()
}

/// All records of a field of whole batches, every checksum compared.
fn read_all(field: Bytes) -> Result<Vec<Owned>, RecordsError> {
    let mut all = Vec::new();
    for batch in Batches::new(field) {
        let batch = batch?;
        batch.verify_crc()?;
        all.extend(owned(&batch.records(DecompressLimit::DEFAULT)?)?);
    }
    Ok(all)
}

/// Reads whatever can be read, as a careless reader would: without a look at checksums.
fn read_anything(field: Bytes, limit: DecompressLimit) {
    for batch in Batches::new(field).flatten() {
        let _ = batch.verify_crc();
        let Ok(records) = batch.records(limit) else {
            continue;
        };
        for record in records.iter().flatten() {
            let _ = ControlKey::parse(record.key());
            let _ = (record.key_bytes(), record.value_bytes());
            assert!(record.headers().iter().count() <= field_len(&records));
        }
    }
}

fn field_len(records: &Records) -> usize {
    records.body().len()
}

#[cfg(feature = "compression")]
const CODECS: [Compression; 5] = Compression::ALL;
#[cfg(not(feature = "compression"))]
const CODECS: [Compression; 1] = [Compression::None];
