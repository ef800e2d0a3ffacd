//! Connections that speak Kafka's protocol: addresses, frames, requests and their answers, deadlines.
//!
//! - [`ServerAddress`]: `host:port` as people write it.
//! - [`Connector`]: how bytes reach a server; [`TcpConnector`] is the plain one.
//! - [`Connection`]: pipelined requests on one stream, each with a deadline, answered in order.
//! - [`ServerVersions`]: what a server offers, asked for when a connection is made.
//! - [`FrameReader`] and [`write_segments`]: frames for either side.
//! - [`NetError`]: what went wrong, with the server's address, and whether the request may have
//!   reached it.

mod address;
mod connection;
mod connector;
mod error;
mod frame;
#[cfg(feature = "testing")]
pub mod testing;
mod versions;

pub use address::{ParseAddressError, ServerAddress};
pub use connection::{Connection, ConnectionOptions, MAX_IN_FLIGHT_REQUESTS};
pub use connector::{Connector, TcpConnector, Transport};
pub use error::{Cause, NetError, seconds};
pub use frame::{DEFAULT_MAX_FRAME_BYTES, FrameError, FrameReader, OtherProtocol, write_segments};
pub use versions::{ServerVersions, VersionsError};
