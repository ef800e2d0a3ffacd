use klamm_protocol::messages::alter_client_quotas::{OpData, RequestEntityData};

use super::*;
use crate::testing::Fixture;

fn entry(entity: &[(&str, Option<&str>)], ops: &[(&str, Option<f64>)]) -> RequestEntryData {
    let entity = entity.iter().map(|(kind, name)| RequestEntityData {
        entity_type: (*kind).into(),
        entity_name: name.map(Into::into),
        ..Default::default()
    });
    let ops = ops.iter().map(|(key, value)| OpData {
        key: (*key).into(),
        value: value.unwrap_or_default(),
        remove: value.is_none(),
        ..Default::default()
    });
    RequestEntryData {
        entity: entity.collect(),
        ops: ops.collect(),
        ..Default::default()
    }
}

fn decide(
    fixture: &Fixture,
    entries: Vec<RequestEntryData>,
) -> Decision<AlterClientQuotasResponse> {
    let request = AlterClientQuotasRequest {
        entries,
        ..Default::default()
    };
    alter_client_quotas(&fixture.view(), &request)
}

/// What the only entry is refused with; empty where it is not.
fn text(entity: &[(&str, Option<&str>)], ops: &[(&str, Option<f64>)]) -> String {
    let decision = decide(&Fixture::new(0), vec![entry(entity, ops)]);
    let result = &decision.response.entries[0];
    assert_eq!(result.entity.len(), entity.len());
    match &result.error_message {
        None => String::new(),
        Some(text) => {
            assert_eq!(ErrorCode(result.error_code), ErrorCode::INVALID_REQUEST);
            assert_eq!(decision.records, []);
            text.to_string()
        }
    }
}

const ALICE: (&str, Option<&str>) = ("user", Some("alice"));
const RATE: &str = "producer_byte_rate";

#[test]
fn quotas_change_where_they_differ() {
    let mut fixture = Fixture::new(0);
    let both = [ALICE, ("client-id", None)];
    let entity = entity(&entry(&both, &[]));
    let of = |fixture: &Fixture| {
        let quotas = fixture.image.client_quotas().of(&entity);
        quotas
            .map(|(key, value)| (key.to_owned(), value))
            .collect::<Vec<_>>()
    };
    let set = entry(
        &both,
        &[(RATE, Some(5.0)), ("request_percentage", Some(0.5))],
    );
    for expected in [2, 0] {
        let decision = decide(&fixture, vec![set.clone()]);
        assert_eq!(decision.records.len(), expected);
        fixture.carry_out(&decision);
    }
    let request = AlterClientQuotasRequest {
        entries: vec![entry(&both, &[(RATE, None)])],
        validate_only: true,
        ..Default::default()
    };
    assert_eq!(alter_client_quotas(&fixture.view(), &request).records, []);
    let remove = entry(&both, &[(RATE, None), ("consumer_byte_rate", None)]);
    let decision = decide(&fixture, vec![remove]);
    assert_eq!(decision.records.len(), 1);
    fixture.carry_out(&decision);
    assert_eq!(of(&fixture), [("request_percentage".to_owned(), 0.5)]);
}

#[test]
fn entities_are_users_and_clients_or_addresses() {
    let rate = [(RATE, Some(5.0))];
    let connections = [("connection_creation_rate", Some(5.0))];
    for right in [
        &[ALICE][..],
        &[("user", None)],
        &[("client-id", Some("c"))],
        &[ALICE, ("client-id", Some("c"))],
    ] {
        assert_eq!(text(right, &rate), "");
        assert!(text(right, &connections).starts_with("Invalid configuration key"));
    }
    for right in [Some("1.2.3.4"), Some("::1"), None] {
        assert_eq!(text(&[("ip", right)], &connections), "");
        assert!(text(&[("ip", right)], &rate).starts_with("Invalid configuration key"));
    }
    for (wrong, told) in [
        (&[][..], "Invalid empty client quota entity"),
        (&[("user", Some(""))], "Empty user not supported"),
        (
            &[("group", Some("g"))],
            "Unhandled client quota entity type: group",
        ),
        (
            &[("ip", Some("1.2.3.4")), ALICE],
            "Invalid quota entity combination",
        ),
        (
            &[("ip", Some("no address"))],
            "no address is not a valid IP",
        ),
    ] {
        assert!(text(wrong, &connections).starts_with(told), "{wrong:?}");
    }
}

#[test]
fn values_are_positive_and_whole_where_they_have_to_be() {
    for (key, value, told) in [
        (RATE, 5.0, ""),
        (
            RATE,
            9.3e18,
            "Proposed value for producer_byte_rate is too large for a LONG.",
        ),
        (
            RATE,
            0.5,
            "producer_byte_rate cannot be a fractional value.",
        ),
        (RATE, 5.000_000_1, ""),
        (RATE, 0.0, "Quota producer_byte_rate must be greater than 0"),
        (
            RATE,
            f64::NAN,
            "Quota producer_byte_rate must be greater than 0",
        ),
        ("request_percentage", 0.5, ""),
        (
            "request_percentage",
            -0.5,
            "Quota request_percentage must be greater than 0",
        ),
        ("controller_mutation_rate", 1e300, ""),
        ("no.such", 1.0, "Invalid configuration key no.such"),
    ] {
        assert_eq!(text(&[ALICE], &[(key, Some(value))]), told, "{key} {value}");
    }
    let connections = "connection_creation_rate";
    let large = text(&[("ip", None)], &[(connections, Some(2_147_483_648.0))]);
    assert!(large.ends_with("too large for an INT."), "{large}");
    assert_eq!(
        text(&[("ip", None)], &[(connections, Some(2_147_483_647.0))]),
        ""
    );
}

#[test]
fn what_is_there_twice_changes_nothing() {
    let fixture = Fixture::new(0);
    let rate = [(RATE, Some(5.0))];
    let bob = ("user", Some("bob"));
    let entries = vec![
        entry(&[ALICE], &rate),
        entry(&[bob], &rate),
        entry(&[ALICE], &rate),
    ];
    let decision = decide(&fixture, entries);
    let codes = decision
        .response
        .entries
        .iter()
        .map(|entry| ErrorCode(entry.error_code));
    assert!(codes.eq([ErrorCode::INVALID_REQUEST, ErrorCode::NONE]));
    assert_eq!(decision.records.len(), 1);
    let told = text(&[ALICE], &[(RATE, Some(5.0)), (RATE, None)]);
    let expected = "Ignoring duplicate entity ClientQuotaEntity(entries={user=alice})";
    assert_eq!(told, expected);
}
