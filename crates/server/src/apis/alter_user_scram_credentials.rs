use std::collections::BTreeSet;

use klamm_controller::alter_user_scram_credentials;
use klamm_metadata::Operation;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
};

use super::exchange::Api;
use super::serve::{Call, Decide};
use crate::controller::{Active, CommitError, Pending};

impl Api for AlterUserScramCredentialsRequest {
    const NEEDS: Option<Operation> = Some(Operation::Alter);
    const FORWARDABLE: bool = true;

    fn refused(
        &self,
        _: i16,
        error: ErrorCode,
        text: Option<&str>,
    ) -> AlterUserScramCredentialsResponse {
        let deleted = self.deletions.iter().map(|deletion| &deletion.name);
        let set = self.upsertions.iter().map(|upsertion| &upsertion.name);
        let mut answered = BTreeSet::new();
        let users = deleted.chain(set).filter(|user| answered.insert(&***user));
        let results = users.map(|user| AlterUserScramCredentialsResult {
            user: user.clone(),
            error_code: error.0,
            error_message: text.map(Into::into),
            ..AlterUserScramCredentialsResult::default()
        });
        AlterUserScramCredentialsResponse {
            results: results.collect(),
            ..AlterUserScramCredentialsResponse::default()
        }
    }
}

impl Decide for AlterUserScramCredentialsRequest {
    fn decide(
        &self,
        _: &Call,
        active: &mut Active<'_>,
    ) -> Result<Pending<AlterUserScramCredentialsResponse>, CommitError> {
        let decision = alter_user_scram_credentials(&active.view()?, self);
        active.commit(decision)
    }
}
