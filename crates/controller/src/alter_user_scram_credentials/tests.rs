use bytes::Bytes;

use super::*;
use crate::testing::Fixture;

fn set(name: &str, mechanism: i8, iterations: i32) -> ScramCredentialUpsertion {
    ScramCredentialUpsertion {
        name: name.into(),
        mechanism,
        iterations,
        salt: Bytes::from_static(b"salt"),
        salted_password: Bytes::from_static(b"salted"),
        ..Default::default()
    }
}

fn delete(name: &str, mechanism: i8) -> ScramCredentialDeletion {
    ScramCredentialDeletion {
        name: name.into(),
        mechanism,
        ..Default::default()
    }
}

fn decide(
    fixture: &Fixture,
    deletions: Vec<ScramCredentialDeletion>,
    upsertions: Vec<ScramCredentialUpsertion>,
) -> Decision<AlterUserScramCredentialsResponse> {
    let request = AlterUserScramCredentialsRequest {
        deletions,
        upsertions,
        ..Default::default()
    };
    alter_user_scram_credentials(&fixture.view(), &request)
}

fn codes(decision: &Decision<AlterUserScramCredentialsResponse>) -> Vec<(&str, ErrorCode)> {
    let results = decision.response.results.iter();
    results
        .map(|result| (&*result.user, ErrorCode(result.error_code)))
        .collect()
}

#[test]
fn credentials_are_set_and_deleted() {
    let mut fixture = Fixture::new(0);
    let decision = decide(
        &fixture,
        vec![],
        vec![set("a", 1, 4096), set("b", 2, 16_384)],
    );
    fixture.carry_out(&decision);
    let of = |fixture: &Fixture, mechanism, user: &str| {
        let credential = fixture.image.scram_credentials().of(mechanism, user);
        credential.map(|credential| credential.stored_key.len())
    };
    assert_eq!(of(&fixture, ScramMechanism::Sha256, "a"), Some(32));
    assert_eq!(of(&fixture, ScramMechanism::Sha512, "b"), Some(64));
    let decision = decide(&fixture, vec![delete("a", 1)], vec![set("b", 1, 5000)]);
    assert_eq!(
        codes(&decision),
        [("a", ErrorCode::NONE), ("b", ErrorCode::NONE)]
    );
    fixture.carry_out(&decision);
    assert_eq!(of(&fixture, ScramMechanism::Sha256, "a"), None);
    assert_eq!(fixture.image.scram_credentials().iter().count(), 2);
}

#[test]
fn a_user_changes_once_in_a_request() {
    let mut fixture = Fixture::new(0);
    let decision = decide(&fixture, vec![], vec![set("a", 1, 4096), set("b", 1, 4096)]);
    fixture.carry_out(&decision);
    let decision = decide(
        &fixture,
        vec![
            delete("a", 1),
            delete("b", 2),
            delete("c", 1),
            delete("c", 1),
        ],
        vec![
            set("a", 2, 4096),
            set("b", 1, 4096),
            set("d", 1, 4096),
            set("d", 2, 4096),
        ],
    );
    let not_found = ErrorCode::RESOURCE_NOT_FOUND;
    let duplicate = ErrorCode::DUPLICATE_RESOURCE;
    assert_eq!(
        codes(&decision),
        [
            ("a", duplicate),
            ("b", not_found),
            ("c", not_found),
            ("d", duplicate)
        ]
    );
    assert_eq!(decision.records, []);
}

#[test]
fn credentials_that_cannot_be_are_refused() {
    let mut fixture = Fixture::new(0);
    let code = |fixture: &Fixture, asked| codes(&decide(fixture, vec![], vec![asked]))[0].1;
    let unacceptable = ErrorCode::UNACCEPTABLE_CREDENTIAL;
    assert_eq!(code(&fixture, set("a", 1, 4095)), unacceptable);
    assert_eq!(code(&fixture, set("a", 1, 16_385)), unacceptable);
    assert_eq!(code(&fixture, set("", 1, 4096)), unacceptable);
    let empty = ScramCredentialUpsertion {
        salted_password: Bytes::new(),
        ..set("a", 1, 4096)
    };
    assert_eq!(code(&fixture, empty), unacceptable);
    let unknown = ErrorCode::UNSUPPORTED_SASL_MECHANISM;
    assert_eq!(code(&fixture, set("a", 0, 4096)), unknown);
    assert_eq!(code(&fixture, set("a", 3, 4096)), unknown);
    let deletion = decide(&fixture, vec![delete("a", 3)], vec![]);
    assert_eq!(codes(&deletion), [("a", unknown)]);
    fixture.feature("metadata.version", 10);
    assert_eq!(
        code(&fixture, set("a", 1, 4096)),
        ErrorCode::UNSUPPORTED_VERSION
    );
}
