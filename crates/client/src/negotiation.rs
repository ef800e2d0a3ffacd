use std::collections::BTreeMap;
use std::time::Duration;

use klamm_net::{Cause, Connection, NetError, ServerAddress};
use klamm_protocol::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use klamm_protocol::{
    ApiKey, Bytes, DecodeError, ErrorCode, Request, SmallString, VersionRange, frame,
};
use tokio::time::Instant;

use crate::ClientError;
use crate::api::ClientRequest;

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

impl ServerVersions {
    /// The versions of an API that the server offers; none, where it does not offer it.
    pub fn offered(&self, api: ApiKey) -> VersionRange {
        self.apis.get(&api).copied().unwrap_or(VersionRange::NONE)
    }

    /// The latest version that both sides have and that is in `needed`. Unstable versions are never
    /// used.
    pub(crate) fn choose<R: Request>(
        &self,
        needed: VersionRange,
        reason: Option<&'static str>,
    ) -> Result<i16, ClientError> {
        let offered = self.offered(R::KEY);
        let needed = R::STABLE.intersect(needed);
        let common = needed.intersect(offered);
        if common.is_empty() {
            let (api, server) = (R::KEY, self.server.clone());
            return Err(ClientError::Unsupported {
                api,
                server,
                offered,
                needed,
                reason,
            });
        }
        Ok(common.max)
    }

    fn new(server: &ServerAddress, response: ApiVersionsResponse) -> Self {
        let apis = response.api_keys.iter();
        let supported = response.supported_features.into_iter();
        let finalized = response.finalized_features.into_iter();
        Self {
            server: server.clone(),
            apis: apis
                .map(|api| {
                    (
                        ApiKey(api.api_key),
                        VersionRange::new(api.min_version, api.max_version),
                    )
                })
                .collect(),
            supported_features: supported
                .map(|feature| {
                    (
                        feature.name,
                        VersionRange::new(feature.min_version, feature.max_version),
                    )
                })
                .collect(),
            finalized_features: finalized
                .map(|feature| {
                    let levels =
                        VersionRange::new(feature.min_version_level, feature.max_version_level);
                    (feature.name, levels)
                })
                .collect(),
        }
    }
}

/// Whether a server that failed this way may be one that closes the connection on a version of
/// ApiVersions that it does not know (before KIP-511), so that version 0 is worth a try.
pub(crate) fn may_need_version_0(error: &ClientError) -> bool {
    let ClientError::Net(NetError {
        cause, sent: true, ..
    }) = error
    else {
        return false;
    };
    matches!(cause, Cause::Closed { .. })
}

/// Asks a server for its versions, from `version` down to one that it knows.
pub(crate) async fn negotiate(
    connection: &Connection,
    mut version: i16,
    deadline: Instant,
) -> Result<ServerVersions, ClientError> {
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
                return Err(ClientError::from_answer(
                    ApiVersionsRequest::KEY,
                    server,
                    code,
                    None,
                ));
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
    let pause = ApiVersionsRequest::pause(version, &decoded.value);
    Ok((decoded.value, pause))
}
