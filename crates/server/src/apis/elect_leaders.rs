use klamm_controller::ElectLeaders;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for ElectLeadersRequest {
    const FORWARDABLE: bool = true;

    fn refused(&self, version: i16, error: ErrorCode, text: Option<&str>) -> ElectLeadersResponse {
        ElectLeaders::refused(self, version, error, text)
    }
}

impl Decide for ElectLeadersRequest {
    fn decide(
        &self,
        call: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<ElectLeadersResponse>, CommitError> {
        let elect = ElectLeaders {
            request: self,
            version: call.version,
            authorized: active.allows_on_cluster(&call.client, Operation::Alter),
            arrived: call.arrived,
        };
        let decision = elect.decide(&active.view()?, active.moment());
        active.commit(decision)
    }
}
