use std::collections::{BTreeMap, BTreeSet};

use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_user_scram_credentials::{
    CredentialInfo, DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
};

use crate::View;
use crate::assignment::repeated;

#[cfg(test)]
mod tests;

/// Tells which SCRAM credentials users have (KIP-554), and nothing that is secret of them.
pub fn describe_user_scram_credentials(
    view: &View<'_>,
    request: &DescribeUserScramCredentialsRequest,
) -> DescribeUserScramCredentialsResponse {
    let mut known: BTreeMap<&str, Vec<CredentialInfo>> = BTreeMap::new();
    for (mechanism, user, credential) in view.image().scram_credentials().iter() {
        known.entry(user).or_default().push(CredentialInfo {
            mechanism: mechanism.to_wire(),
            iterations: credential.iterations,
            ..Default::default()
        });
    }
    let asked = request.users.as_deref().unwrap_or_default();
    let named = || asked.iter().map(|user| &*user.name);
    let repeated = repeated(named());
    let mut users: Vec<&str> = named().collect();
    if users.is_empty() {
        users = known.keys().copied().collect();
    }
    let mut answered = BTreeSet::new();
    users.retain(|user| answered.insert(*user));
    let results = users.into_iter().map(|user| {
        let result = DescribeUserScramCredentialsResult {
            user: user.into(),
            ..Default::default()
        };
        let refuse = |code: ErrorCode, text: &str| DescribeUserScramCredentialsResult {
            error_code: code.0,
            error_message: Some((&*format!("{text}: {user}")).into()),
            ..result.clone()
        };
        match known.get(user) {
            _ if repeated.contains(user) => refuse(
                ErrorCode::DUPLICATE_RESOURCE,
                "Cannot describe SCRAM credentials for the same user twice in a single request",
            ),
            None => refuse(
                ErrorCode::RESOURCE_NOT_FOUND,
                "Attempt to describe a user credential that does not exist",
            ),
            Some(infos) => DescribeUserScramCredentialsResult {
                credential_infos: infos.clone(),
                ..result
            },
        }
    });
    DescribeUserScramCredentialsResponse {
        results: results.collect(),
        ..Default::default()
    }
}
