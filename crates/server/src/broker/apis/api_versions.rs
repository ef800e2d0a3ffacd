use klamm_protocol::Offset;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;

use crate::apis::Told;
use crate::broker::call::{Call, Reply, Serve};
use crate::broker::table::TABLE;
use crate::features::broker_features;

impl Serve for ApiVersionsRequest {
    async fn serve(self, call: Call) -> Reply<Self::Response> {
        let published = call.broker.published();
        let told = Told {
            apis: TABLE.iter().map(|row| (row.key, row.versions)).collect(),
            supported: broker_features(),
            kraft_version: published.kraft_version,
            last: Offset(published.end.0 - 1),
        };
        Reply::Answer(told.response(call.version, &published.image))
    }
}
