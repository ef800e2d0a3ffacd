use klamm_protocol::Offset;
use klamm_protocol::messages::api_versions::ApiVersionsRequest;

use crate::apis::Told;
use crate::broker::call::{Call, Reply, Serve};
use crate::broker::table::{Row, TABLE};
use crate::features::broker_features;

impl Serve for ApiVersionsRequest {
    async fn serve(self, call: Call) -> Reply<Self::Response> {
        let published = call.broker.published();
        let offered = |row: &Row| {
            let versions = row.announced(call.broker.forwarding.offered(row.key));
            (!versions.is_empty()).then_some((row.key, versions))
        };
        let told = Told {
            apis: TABLE.iter().filter_map(offered).collect(),
            supported: broker_features(),
            kraft_version: published.kraft_version,
            last: Offset(published.end.0 - 1),
        };
        Reply::Answer(told.response(call.version, &published.image))
    }
}
