//! Messages as they go over the network: encoded, in a version that both sides have.

use bytes::Bytes;
use klamm_protocol::{ApiKey, EncodeError, Message, VersionRange, decode, encode};
use klamm_raft::{Request, Response, SendError};

/// An encoded message.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) key: ApiKey,
    pub(crate) version: i16,
    pub(crate) body: Bytes,
}

/// The latest versions that a node offers, so that runs mix releases.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offers {
    pub(crate) vote: i16,
    pub(crate) epoch: i16,
    pub(crate) fetch: i16,
}

impl Offers {
    /// Everything that Apache Kafka 4.4.0 has.
    pub(crate) const LATEST: Self = Self {
        vote: 2,
        epoch: 1,
        fetch: 18,
    };

    fn latest(self, key: ApiKey) -> i16 {
        match key.0 {
            1 => self.fetch,
            52 => self.vote,
            53 | 54 => self.epoch,
            _ => i16::MAX,
        }
    }
}

/// Encodes a request in the latest version that both sides offer.
pub(crate) fn encode_request(
    request: &Request,
    from: Offers,
    to: Offers,
) -> Result<Frame, SendError> {
    let key = request.api_key();
    let latest = from.latest(key).min(to.latest(key));
    let VersionRange { max, .. } = key.coded_versions();
    let version = latest.min(max);
    let body = match request {
        Request::Vote(message) => encode(message, version),
        Request::BeginQuorumEpoch(message) => encode(message, version),
        Request::EndQuorumEpoch(message) => encode(message, version),
        Request::Fetch(message) => encode(message, version),
        Request::FetchSnapshot(message) => encode(message, version),
        Request::DescribeQuorum(message) => encode(message, version),
        Request::AddRaftVoter(message) => encode(message, version),
        Request::RemoveRaftVoter(message) => encode(message, version),
        Request::UpdateRaftVoter(message) => encode(message, version),
    };
    // What cannot be said in that version is not said at all.
    let body = body.map_err(|_: EncodeError| SendError::UnsupportedVersion)?;
    Ok(Frame { key, version, body })
}

/// Reads a request. The machine's own requests are always read.
pub(crate) fn decode_request(frame: &Frame) -> Request {
    match frame.key.0 {
        1 => Request::Fetch(read(frame)),
        52 => Request::Vote(read(frame)),
        53 => Request::BeginQuorumEpoch(read(frame)),
        54 => Request::EndQuorumEpoch(read(frame)),
        59 => Request::FetchSnapshot(read(frame)),
        80 => Request::AddRaftVoter(read(frame)),
        81 => Request::RemoveRaftVoter(read(frame)),
        82 => Request::UpdateRaftVoter(read(frame)),
        _ => Request::DescribeQuorum(read(frame)),
    }
}

/// Encodes a response in the version of its request: an answer that does not fit it is a fault of
/// the machine.
pub(crate) fn encode_response(response: &Response, request: &Frame) -> Result<Frame, EncodeError> {
    let version = request.version;
    let body = match response {
        Response::Vote(message) => encode(message, version),
        Response::BeginQuorumEpoch(message) => encode(message, version),
        Response::EndQuorumEpoch(message) => encode(message, version),
        Response::Fetch(message) => encode(message, version),
        Response::FetchSnapshot(message) => encode(message, version),
        Response::DescribeQuorum(message) => encode(message, version),
        Response::AddRaftVoter(message) => encode(message, version),
        Response::RemoveRaftVoter(message) => encode(message, version),
        Response::UpdateRaftVoter(message) => encode(message, version),
    };
    body.map(|body| Frame {
        body,
        ..request.clone()
    })
}

/// Reads a response.
pub(crate) fn decode_response(frame: &Frame) -> Response {
    match frame.key.0 {
        1 => Response::Fetch(read(frame)),
        52 => Response::Vote(read(frame)),
        53 => Response::BeginQuorumEpoch(read(frame)),
        54 => Response::EndQuorumEpoch(read(frame)),
        59 => Response::FetchSnapshot(read(frame)),
        80 => Response::AddRaftVoter(read(frame)),
        81 => Response::RemoveRaftVoter(read(frame)),
        82 => Response::UpdateRaftVoter(read(frame)),
        _ => Response::DescribeQuorum(read(frame)),
    }
}

fn read<M: Message>(frame: &Frame) -> M {
    let decoded = decode(&frame.body, frame.version).expect("it was encoded in that version");
    decoded.value
}
