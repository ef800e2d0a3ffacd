//! Record batches and the older message sets.
//!
//! [`Batches`] walks over the batches of a records field, [`Batch::records`] decompresses one, and
//! [`Records`] reads its records as views. [`BatchBuilder`] writes a batch.
//!
//! ```
//! use klamm_protocol::records::{
//!     BatchBuilder, BatchOptions, Batches, DecompressLimit, NewRecord,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = BatchBuilder::new(BatchOptions::default());
//! builder.append(&NewRecord { value: Some(b"hello"), timestamp: 1_700_000_000_000,
//! ..NewRecord::default() })?; let field = builder.finish()?.into_bytes();
//!
//! for batch in Batches::new(field) {
//!     let batch = batch?;
//!     batch.verify_crc()?;
//!     for record in &batch.records(DecompressLimit::DEFAULT)? {
//!         assert_eq!(record?.value(), Some(&b"hello"[..]));
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Sources of the formats: the protocol guide of Apache Kafka, KIP-31 and KIP-32 (formats 0 and 1),
//! KIP-98 (format 2, control records), KIP-82 (headers), KIP-110 (zstd), KIP-534 (delete horizon).

mod attributes;
mod batch;
mod batches;
mod builder;
mod codec;
mod control;
mod error;
mod header;
mod legacy;
mod record;
#[cfg(test)]
mod tests;

pub use attributes::{Attributes, Compression, TimestampType};
pub use batch::{RecordBatch, Stamp};
pub use batches::{Batch, Batches, IncompleteTail};
pub use builder::{BatchBuilder, BatchOptions, NewRecord};
pub use codec::{Codec, DecompressLimit};
pub use control::{ControlKey, ControlType};
pub use error::{BuildError, RecordsError};
pub use header::{BatchHeader, NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, NO_TIMESTAMP};
pub use legacy::LegacyBatch;
pub use record::{Header, Headers, HeadersIter, Record, Records, RecordsIter};
