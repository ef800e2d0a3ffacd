//! The explainer, held to the codec and to the schemas.
//!
//! - `about`: every field, message and error has a meaning
//! - `captures`: pcap and pcapng files, made packet by packet and recorded from real clients
//! - `model`: random instances of every message: the tree covers the bytes and has their values
//! - `hostile`: cut and changed frames, limits
//! - `pages`: the pages for a browser; `markup` reads them
//! - `logs`: segments batch by batch, coordinators' records, bytes of consumers
//! - `records`: batches, compressed or not, control records, messages of the older formats
//! - `secrets`: what is left out unless it is asked for
//! - `streams`: frames one after the other
//! - `texts`: what people and programs see

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod about;
mod captures;
mod hostile;
mod logs;
mod markup;
mod model;
mod pages;
mod records;
mod secrets;
mod streams;
mod support;
mod texts;
