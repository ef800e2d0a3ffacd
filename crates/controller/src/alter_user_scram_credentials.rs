use std::collections::BTreeMap;

use klamm_metadata::{Record, ScramMechanism};
use klamm_protocol::ErrorCode;
use klamm_protocol::data::metadata::{RemoveUserScramCredentialRecord, UserScramCredentialRecord};
use klamm_protocol::messages::alter_user_scram_credentials::{
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult, ScramCredentialDeletion, ScramCredentialUpsertion,
};

use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// Sets and deletes SCRAM credentials (KIP-554), one of each user at a time. Each user is decided by
/// itself; what there is of it twice changes nothing.
pub fn alter_user_scram_credentials(
    view: &View<'_>,
    request: &AlterUserScramCredentialsRequest,
) -> Decision<AlterUserScramCredentialsResponse> {
    let mut decided: Vec<&str> = Vec::new();
    let mut by_user: BTreeMap<&str, Result<Record, Refusal>> = BTreeMap::new();
    let deletions = request.deletions.iter();
    let deletions = deletions.map(|asked| (&*asked.name, deletion(view, asked)));
    let upsertions = request.upsertions.iter();
    let upsertions = upsertions.map(|asked| (&*asked.name, upsertion(view, asked)));
    for (user, change) in deletions.chain(upsertions) {
        match by_user.get_mut(user) {
            // The first error of a user counts.
            Some(Err(_)) => {}
            Some(known) => {
                let text = "A user credential cannot be altered twice in the same request";
                *known = Err(Refusal::new(ErrorCode::DUPLICATE_RESOURCE, text));
            }
            None => {
                by_user.insert(user, change);
                decided.push(user);
            }
        }
    }
    let mut decision = Decision::answer(AlterUserScramCredentialsResponse::default());
    for user in decided {
        let Some(change) = by_user.remove(user) else {
            continue;
        };
        let refusal = change.as_ref().err();
        decision
            .response
            .results
            .push(AlterUserScramCredentialsResult {
                user: user.into(),
                error_code: refusal.map_or(0, |refusal| refusal.code.0),
                error_message: refusal.map(|refusal| (&*refusal.text).into()),
                ..Default::default()
            });
        decision.records.extend(change.ok());
    }
    decision.atomic = true;
    decision
}

fn deletion(view: &View<'_>, asked: &ScramCredentialDeletion) -> Result<Record, Refusal> {
    let mechanism = check(view, &asked.name, asked.mechanism)?;
    if view
        .image()
        .scram_credentials()
        .of(mechanism, &asked.name)
        .is_none()
    {
        let text = "Attempt to delete a user credential that does not exist";
        return Err(Refusal::new(ErrorCode::RESOURCE_NOT_FOUND, text));
    }
    let record = RemoveUserScramCredentialRecord {
        name: asked.name.clone(),
        mechanism: asked.mechanism,
        ..Default::default()
    };
    Ok(record.into())
}

fn upsertion(view: &View<'_>, asked: &ScramCredentialUpsertion) -> Result<Record, Refusal> {
    let mechanism = check(view, &asked.name, asked.mechanism)?;
    let refuse = |text: &str| Err(Refusal::new(ErrorCode::UNACCEPTABLE_CREDENTIAL, text));
    if asked.iterations < ScramMechanism::MIN_ITERATIONS {
        return refuse("Too few iterations");
    }
    if asked.iterations > ScramMechanism::MAX_ITERATIONS {
        return refuse("Too many iterations");
    }
    if asked.salted_password.is_empty() {
        return refuse("The salted password must not be empty");
    }
    let (stored_key, server_key) = mechanism.keys(&asked.salted_password);
    let record = UserScramCredentialRecord {
        name: asked.name.clone(),
        mechanism: asked.mechanism,
        salt: asked.salt.clone(),
        stored_key,
        server_key,
        iterations: asked.iterations,
        ..Default::default()
    };
    Ok(record.into())
}

fn check(view: &View<'_>, user: &str, mechanism: i8) -> Result<ScramMechanism, Refusal> {
    if !view.metadata_version().allows_scram() {
        let text = "The current metadata.version does not support SCRAM";
        return Err(Refusal::new(ErrorCode::UNSUPPORTED_VERSION, text));
    }
    if user.is_empty() {
        let text = "Username must not be empty";
        return Err(Refusal::new(ErrorCode::UNACCEPTABLE_CREDENTIAL, text));
    }
    ScramMechanism::from_wire(mechanism).ok_or_else(|| {
        let text = "Unknown SCRAM mechanism";
        Refusal::new(ErrorCode::UNSUPPORTED_SASL_MECHANISM, text)
    })
}
