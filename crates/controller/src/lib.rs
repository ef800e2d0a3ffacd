//! The decisions of a Kafka controller: who leads, who is in sync, what is where.
//!
//! This crate is pure: it opens no socket or file, reads no clock and draws no random number. It reads
//! the cluster's [`Image`](klamm_metadata::Image) and answers with records; it never changes the image.
//!
//! - [`Candidates::elect`] is the one function that picks a leader.
//! - [`WantedChange`] turns a wanted change of a partition into a record, with the election, the
//!   eligible leader replicas, the epochs and the end of a reassignment that go with it.

mod change;
mod elections;

pub use change::{Change, ChangeRules, WantedChange};
pub use elections::{Candidates, Election, ElectionKind, How};
