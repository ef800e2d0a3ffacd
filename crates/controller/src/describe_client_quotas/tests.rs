use klamm_protocol::data::metadata::ClientQuotaRecord;
use klamm_protocol::data::metadata::client_quota_record::EntityData as RecordEntity;

use super::*;
use crate::testing::Fixture;

fn component(kind: &str, match_type: i8, name: Option<&str>) -> ComponentData {
    ComponentData {
        entity_type: kind.into(),
        match_type,
        r#match: name.map(Into::into),
        ..Default::default()
    }
}

fn ask(
    fixture: &Fixture,
    components: Vec<ComponentData>,
    strict: bool,
) -> DescribeClientQuotasResponse {
    let request = DescribeClientQuotasRequest {
        components,
        strict,
        ..Default::default()
    };
    describe_client_quotas(&fixture.view(), &request)
}

fn cluster() -> Fixture {
    let mut fixture = Fixture::new(0);
    for entity in [
        &[("user", Some("alice"))][..],
        &[("user", None)],
        &[("user", Some("alice")), ("client-id", Some("c"))],
        &[("client-id", None)],
        &[("ip", Some("::1"))],
    ] {
        let entity = entity.iter().map(|(kind, name)| RecordEntity {
            entity_type: (*kind).into(),
            entity_name: name.map(Into::into),
            ..Default::default()
        });
        fixture.apply(ClientQuotaRecord {
            entity: entity.collect(),
            key: "request_percentage".into(),
            value: 5.0,
            ..Default::default()
        });
    }
    fixture
}

#[test]
fn filters_mean_what_they_say() {
    let fixture = cluster();
    let count = |components: Vec<ComponentData>, strict| {
        ask(&fixture, components, strict).entries.unwrap().len()
    };
    let alice = || component("user", 0, Some("alice"));
    assert_eq!(count(vec![], false), 5);
    assert_eq!(count(vec![], true), 0);
    assert_eq!(count(vec![alice()], false), 2);
    assert_eq!(count(vec![alice()], true), 1);
    assert_eq!(count(vec![component("user", 1, None)], true), 1);
    assert_eq!(count(vec![component("user", 2, None)], false), 3);
    assert_eq!(count(vec![component("user", 2, None)], true), 2);
    assert_eq!(
        count(vec![alice(), component("client-id", 2, None)], true),
        1
    );
    assert_eq!(count(vec![component("ip", 2, None)], false), 1);
    let told = ask(&fixture, vec![component("client-id", 1, None)], false);
    let entry = &told.entries.unwrap()[0];
    assert_eq!(
        (entry.entity[0].entity_name.as_ref(), entry.values[0].value),
        (None, 5.0)
    );
}

#[test]
fn filters_that_cannot_be_are_refused() {
    let fixture = cluster();
    let code = |components| {
        let told = ask(&fixture, components, false);
        assert_eq!(told.entries, None);
        ErrorCode(told.error_code)
    };
    let any = |kind| component(kind, 2, None);
    let invalid = ErrorCode::INVALID_REQUEST;
    assert_eq!(code(vec![any("")]), invalid);
    assert_eq!(code(vec![any("user"), any("user")]), invalid);
    assert_eq!(code(vec![any("group")]), ErrorCode::UNSUPPORTED_VERSION);
    assert_eq!(code(vec![component("user", 0, None)]), invalid);
    assert_eq!(code(vec![component("user", 1, Some("alice"))]), invalid);
    assert_eq!(code(vec![component("user", 2, Some("alice"))]), invalid);
    assert_eq!(code(vec![component("user", 3, None)]), invalid);
    assert_eq!(code(vec![any("ip"), any("user")]), invalid);
}
