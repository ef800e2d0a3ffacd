use bytes::Bytes;
use klamm_metadata::{Feature, MetadataVersion};
use klamm_protocol::messages::api_versions::{
    ApiVersion, ApiVersionsRequest, ApiVersionsResponse, FinalizedFeatureKey, SupportedFeatureKey,
};
use klamm_protocol::messages::request_header::RequestHeader;
use klamm_protocol::{ApiKey, DecodeError, ErrorCode, Request, frame};

use super::serve::{Answering, Api, Ask, Call, Unserved, encode};
use super::table::TABLE;
use crate::controller::Controller;
use crate::features::supported_features;

/// From this version on, features whose least level is 0 can be told.
const KNOWS_LEVEL_ZERO: i16 = 4;

impl Api for ApiVersionsRequest {
    fn refused(&self, _: i16, error: ErrorCode, _: Option<&str>) -> ApiVersionsResponse {
        ApiVersionsResponse {
            error_code: error.0,
            ..ApiVersionsResponse::default()
        }
    }
}

impl Ask for ApiVersionsRequest {
    fn answer(&self, call: &Call, controller: &mut Controller) -> ApiVersionsResponse {
        let supported = supported_features().filter(|(_, range)| {
            // Older clients take a least level of 0 for an error.
            range.min > 0 || call.version >= KNOWS_LEVEL_ZERO
        });
        let supported = supported.map(|(name, range)| SupportedFeatureKey {
            name: name.into(),
            min_version: range.min,
            max_version: range.max,
            ..SupportedFeatureKey::default()
        });
        let features = controller.image().features();
        let version = features.metadata_version();
        let version = version.map(|version| (MetadataVersion::FEATURE, version.level()));
        let kraft_version = controller.quorum().raft().kraft_version().0;
        let kraft_version = (Feature::KRAFT_VERSION.name, kraft_version);
        let finalized = version
            .into_iter()
            .chain((kraft_version.1 > 0).then_some(kraft_version))
            .chain(features.levels())
            .map(|(name, level)| FinalizedFeatureKey {
                name: name.into(),
                min_version_level: level,
                max_version_level: level,
                ..FinalizedFeatureKey::default()
            });
        ApiVersionsResponse {
            api_keys: served(),
            supported_features: supported.collect(),
            finalized_features: finalized.collect(),
            finalized_features_epoch: controller.end().0 - 1,
            ..ApiVersionsResponse::default()
        }
    }
}

fn served() -> Vec<ApiVersion> {
    let version = |row: &super::table::Row| ApiVersion {
        api_key: row.key.0,
        min_version: row.versions.min,
        max_version: row.versions.max,
        ..ApiVersion::default()
    };
    TABLE.iter().map(version).collect()
}

/// The answer to a version that is not known here: in version 0, which every client can read, with
/// the versions that are (KIP-511).
pub(super) fn unsupported(frame: &Bytes) -> Result<Answering, Unserved> {
    // The header of a later version begins as all do.
    let correlation_id = correlation_id(frame).map_err(Unserved::NoHeader)?;
    Ok(Answering::new(async move {
        let header = RequestHeader {
            request_api_key: ApiVersionsRequest::KEY.0,
            request_api_version: 0,
            correlation_id,
            ..RequestHeader::default()
        };
        let response = ApiVersionsResponse {
            error_code: ErrorCode::UNSUPPORTED_VERSION.0,
            api_keys: served()
                .into_iter()
                .filter(|version| version.api_key == ApiKey::API_VERSIONS.0)
                .collect(),
            ..ApiVersionsResponse::default()
        };
        encode::<ApiVersionsRequest>(&header, &response, false)
    }))
}

fn correlation_id(frame: &Bytes) -> Result<i32, DecodeError> {
    // After the API's key and its version.
    frame::peek_correlation_id(&frame.slice(4.min(frame.len())..))
}
