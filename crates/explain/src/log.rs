//! Log segments, batch by batch.
//!
//! [`Cutter`] takes the bytes of a segment in pieces of any size and gives whole batches, so that no
//! more than one batch is in memory. [`Batch`] says what is in one, [`Entry`] what is in a record;
//! [`decode::records`](crate::decode::records) explains the same batch byte by byte.

mod batch;
mod cut;
mod filter;
mod guess;
mod index;
mod producers;
mod says;

pub use batch::{Batch, Content, Entry};
pub use cut::{Cutter, MAX_BATCH_BYTES, Piece, Tail};
pub use filter::{Filter, UnknownKind};
pub use index::{IndexEntries, IndexEntry, IndexKind};
pub use producers::producers;

pub(crate) use says::fields;
