use bytes::Bytes;
use klamm_metadata::{Feature, Image, MetadataVersion};
use klamm_protocol::messages::api_versions::{
    ApiVersion, ApiVersionsRequest, ApiVersionsResponse, FinalizedFeatureKey, SupportedFeatureKey,
};
use klamm_protocol::messages::request_header::RequestHeader;
use klamm_protocol::{
    ApiKey, DecodeError, ErrorCode, Offset, Request, Segments, VersionRange, frame,
};

use super::exchange::{Api, Unserved, encode};
use super::serve::{Ask, Call};
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
        let told = Told {
            apis: TABLE.iter().map(|row| (row.key, row.versions)).collect(),
            supported: supported_features().collect(),
            kraft_version: controller.quorum().raft().kraft_version().0,
            last: Offset(controller.end().0 - 1),
        };
        told.response(call.version, controller.image())
    }
}

/// What a node tells of itself.
pub(crate) struct Told {
    /// The APIs that it serves, in the order of the keys.
    pub(crate) apis: Vec<(ApiKey, VersionRange)>,
    /// The levels of features that it supports.
    pub(crate) supported: Vec<(&'static str, VersionRange)>,
    /// The level of `kraft.version`, which no image has.
    pub(crate) kraft_version: i16,
    /// The offset of the last record that it knows: the epoch of the finalized features.
    pub(crate) last: Offset,
}

impl Told {
    /// The answer, with the features that are finalized in an image.
    pub(crate) fn response(self, version: i16, image: &Image) -> ApiVersionsResponse {
        let supported = self.supported.into_iter().filter(|(_, range)| {
            // Older clients take a least level of 0 for an error.
            range.min > 0 || version >= KNOWS_LEVEL_ZERO
        });
        let supported = supported.map(|(name, range)| SupportedFeatureKey {
            name: name.into(),
            min_version: range.min,
            max_version: range.max,
            ..SupportedFeatureKey::default()
        });
        let features = image.features();
        let version = features.metadata_version();
        let version = version.map(|version| (MetadataVersion::FEATURE, version.level()));
        let kraft_version = (Feature::KRAFT_VERSION.name, self.kraft_version);
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
            api_keys: self.apis.into_iter().map(served).collect(),
            supported_features: supported.collect(),
            finalized_features: finalized.collect(),
            finalized_features_epoch: self.last.0,
            ..ApiVersionsResponse::default()
        }
    }
}

fn served((key, versions): (ApiKey, VersionRange)) -> ApiVersion {
    ApiVersion {
        api_key: key.0,
        min_version: versions.min,
        max_version: versions.max,
        ..ApiVersion::default()
    }
}

/// The answer to a version that is not known here: in version 0, which every client can read, with
/// the versions that are (KIP-511).
pub(crate) fn unsupported(frame: &Bytes, known: VersionRange) -> Result<Segments, Unserved> {
    // The header of a later version begins as all do.
    let header = RequestHeader {
        request_api_key: ApiVersionsRequest::KEY.0,
        request_api_version: 0,
        correlation_id: correlation_id(frame).map_err(Unserved::NoHeader)?,
        ..RequestHeader::default()
    };
    let response = ApiVersionsResponse {
        error_code: ErrorCode::UNSUPPORTED_VERSION.0,
        api_keys: vec![served((ApiKey::API_VERSIONS, known))],
        ..ApiVersionsResponse::default()
    };
    encode::<ApiVersionsRequest>(&header, &response)
}

fn correlation_id(frame: &Bytes) -> Result<i32, DecodeError> {
    // After the API's key and its version.
    frame::peek_correlation_id(&frame.slice(4.min(frame.len())..))
}
