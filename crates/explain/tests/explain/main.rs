//! The explainer, held to the codec and to the schemas.
//!
//! - `model`: random instances of every message: the tree covers the bytes and has their values
//! - `hostile`: cut and changed frames, limits
//! - `records`: batches, compressed or not, control records, messages of the older formats
//! - `secrets`: what is left out unless it is asked for

mod hostile;
mod model;
mod records;
mod secrets;
mod support;
