use klamm_controller::{DescribeConfigs, View};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_configs::DescribeConfigsRequest;

use crate::apis::Api;
use crate::broker::call::{Call, Reply, Serve};

impl Serve for DescribeConfigsRequest {
    async fn serve(self, call: Call) -> Reply<Self::Response> {
        let published = call.broker.published();
        let describe = DescribeConfigs {
            request: &self,
            may_describe: &|_, _| true,
        };
        Reply::Answer(
            match View::new(&published.image, &call.broker.settings.configs) {
                Some(view) => describe.answer(&view),
                // Brokers serve nobody before they know the cluster, which begins with its version.
                None => self.refused(call.version, ErrorCode::UNKNOWN_SERVER_ERROR, None),
            },
        )
    }
}
