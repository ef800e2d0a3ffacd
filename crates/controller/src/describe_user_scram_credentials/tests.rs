use klamm_protocol::data::metadata::UserScramCredentialRecord;
use klamm_protocol::messages::describe_user_scram_credentials::UserName;

use super::*;
use crate::testing::Fixture;

#[test]
fn users_are_told_once_and_by_what_they_have() {
    let mut fixture = Fixture::new(0);
    for (name, mechanism) in [("b", 1), ("a", 2), ("a", 1)] {
        fixture.apply(UserScramCredentialRecord {
            name: name.into(),
            mechanism,
            iterations: 4096,
            ..Default::default()
        });
    }
    let ask = |users: Option<&[&str]>| {
        let users = users.map(|users| {
            let users = users.iter().map(|name| UserName {
                name: (*name).into(),
                ..Default::default()
            });
            users.collect()
        });
        let request = DescribeUserScramCredentialsRequest {
            users,
            ..Default::default()
        };
        let results = describe_user_scram_credentials(&fixture.view(), &request).results;
        let told = results.iter().map(|result| {
            let mechanisms = result.credential_infos.iter().map(|info| info.mechanism);
            let mechanisms: Vec<_> = mechanisms.collect();
            (
                result.user.to_string(),
                ErrorCode(result.error_code),
                mechanisms,
            )
        });
        told.collect::<Vec<_>>()
    };
    let all = [("a", vec![1, 2]), ("b", vec![1])];
    let all = all.map(|(user, mechanisms)| (user.to_owned(), ErrorCode::NONE, mechanisms));
    assert_eq!(ask(None), all);
    assert_eq!(ask(Some(&[])), all);
    let named = ask(Some(&["c", "b", "a", "b"]));
    let codes: Vec<_> = named
        .iter()
        .map(|(user, code, _)| (&**user, *code))
        .collect();
    assert_eq!(
        codes,
        [
            ("c", ErrorCode::RESOURCE_NOT_FOUND),
            ("b", ErrorCode::DUPLICATE_RESOURCE),
            ("a", ErrorCode::NONE),
        ]
    );
}
