use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use klamm_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use klamm_protocol::{ApiKey, DecodeError, ErrorCode, Request, SmallString, VersionRange, frame};
use thiserror::Error;
use tokio::time::Instant;

use crate::{Cause, Connection, ConnectionOptions, Connector, NetError, ServerAddress};

/// From this version on, the answer's pause is for the client to make (KIP-219).
const CLIENT_PAUSES_SINCE: i16 = 2;

/// The versions that a server offers, from its answer to ApiVersions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerVersions {
    /// The server.
    pub server: ServerAddress,
    /// The versions of each API it offers, also of those that klamm does not know.
    pub apis: BTreeMap<ApiKey, VersionRange>,
    /// The feature levels it supports.
    pub supported_features: BTreeMap<SmallString, VersionRange>,
    /// The feature levels that are in force in the cluster.
    pub finalized_features: BTreeMap<SmallString, VersionRange>,
}

/// A server cannot be asked for its versions.
#[derive(Clone, Debug, Error)]
pub enum VersionsError {
    /// The connection cannot be made or used.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The server refuses.
    #[error("{server}: ApiVersions was answered with {code}")]
    Refused {
        /// The server.
        server: ServerAddress,
        /// The code of its answer.
        code: ErrorCode,
    },
}

impl ServerVersions {
    /// The versions of an API that the server offers; none, where it does not offer it.
    pub fn offered(&self, api: ApiKey) -> VersionRange {
        self.apis.get(&api).copied().unwrap_or(VersionRange::NONE)
    }

    /// The latest version that both sides have and that is in `needed`, if there is one. Unstable
    /// versions are never used.
    pub fn latest<R: Request>(&self, needed: VersionRange) -> Option<i16> {
        let needed = R::STABLE.intersect(needed);
        let common = needed.intersect(self.offered(R::KEY));
        (!common.is_empty()).then_some(common.max)
    }

    fn new(server: &ServerAddress, response: ApiVersionsResponse) -> Self {
        let apis = response.api_keys.iter();
        let supported = response.supported_features.into_iter();
        let finalized = response.finalized_features.into_iter();
        Self {
            server: server.clone(),
            apis: apis
                .map(|api| {
                    let offered = VersionRange::new(api.min_version, api.max_version);
                    (ApiKey(api.api_key), offered)
                })
                .collect(),
            supported_features: supported
                .map(|feature| {
                    let levels = VersionRange::new(feature.min_version, feature.max_version);
                    (feature.name, levels)
                })
                .collect(),
            finalized_features: finalized
                .map(|feature| {
                    let (min, max) = (feature.min_version_level, feature.max_version_level);
                    (feature.name, VersionRange::new(min, max))
                })
                .collect(),
        }
    }
}

impl Connection {
    /// Connects to a server and asks for its versions, by a deadline. A server that knows no version
    /// of ApiVersions but the first is asked in that.
    pub async fn open_negotiated(
        connector: &dyn Connector,
        server: &ServerAddress,
        options: &ConnectionOptions,
        deadline: Instant,
    ) -> Result<(Self, ServerVersions), VersionsError> {
        let open = async |version| {
            let options = options.clone();
            let connection = Self::open(connector, server, options, deadline).await?;
            let versions = negotiate(&connection, version, deadline).await?;
            Ok((connection, versions))
        };
        match open(ApiVersionsRequest::STABLE.max).await {
            Err(error) if may_need_version_0(&error) => open(0).await,
            opened => opened,
        }
    }
}

/// Whether a server that failed this way may be one that closes the connection on a version of
/// ApiVersions that it does not know (before KIP-511), so that version 0 is worth a try.
fn may_need_version_0(error: &VersionsError) -> bool {
    let VersionsError::Net(NetError {
        cause, sent: true, ..
    }) = error
    else {
        return false;
    };
    matches!(cause, Cause::Closed { .. })
}

/// Asks a server for its versions, from `version` down to one that it knows.
async fn negotiate(
    connection: &Connection,
    mut version: i16,
    deadline: Instant,
) -> Result<ServerVersions, VersionsError> {
    let request = ApiVersionsRequest {
        client_software_name: SmallString::from_static("klamm"),
        client_software_version: SmallString::from_static(env!("CARGO_PKG_VERSION")),
        ..Default::default()
    };
    let server = connection.server();
    loop {
        let decode = move |bytes: &Bytes| decode_answer(bytes, version);
        let response = connection
            .call_decoding(version, &request, deadline, decode)
            .await?;
        match ErrorCode(response.error_code) {
            ErrorCode::NONE => return Ok(ServerVersions::new(server, response)),
            ErrorCode::UNSUPPORTED_VERSION if version > 0 => {
                version = next_version(&response, version);
            }
            code => {
                let server = server.clone();
                return Err(VersionsError::Refused { server, code });
            }
        }
    }
}

/// The latest version below `version` that the server says it knows, or 0.
fn next_version(response: &ApiVersionsResponse, version: i16) -> i16 {
    let own = response
        .api_keys
        .iter()
        .find(|api| api.api_key == ApiVersionsRequest::KEY.0);
    own.map(|api| VersionRange::new(api.min_version, api.max_version))
        .map(|offered| offered.intersect(VersionRange::new(0, version - 1)))
        .filter(|common| !common.is_empty())
        .map_or(0, |common| common.max)
}

fn decode_answer(
    bytes: &Bytes,
    version: i16,
) -> Result<(ApiVersionsResponse, Duration), DecodeError> {
    // A refusal is in version 0, whatever was asked (KIP-511). The code comes first in any version.
    let code = bytes
        .get(4..6)
        .and_then(|code| code.try_into().ok())
        .map(i16::from_be_bytes);
    let refused = code == Some(ErrorCode::UNSUPPORTED_VERSION.0);
    let version = if refused { 0 } else { version };
    let (_header, decoded) = frame::decode_response::<ApiVersionsRequest>(bytes, version)?;
    let millis = u64::try_from(decoded.value.throttle_time_ms).unwrap_or(0);
    let pauses = version >= CLIENT_PAUSES_SINCE;
    let pause = Duration::from_millis(if pauses { millis } else { 0 });
    Ok((decoded.value, pause))
}
