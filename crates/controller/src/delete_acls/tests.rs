use fastrand::Rng;
use klamm_metadata::{Operation, PatternType, Permission, Record, ResourceType};
use klamm_protocol::messages::describe_acls::DescribeAclsRequest;

use super::*;
use crate::DescribeAcls;
use crate::testing::Fixture;

const NAMES: [&str; 5] = ["t", "team", "team-a", "te", "*"];
const PRINCIPALS: [&str; 3] = ["User:alice", "User:bob", "User:*"];
const HOSTS: [&str; 2] = ["*", "1.2.3.4"];

fn any() -> DeleteAclsFilter {
    DeleteAclsFilter {
        resource_type_filter: 1,
        resource_name_filter: None,
        pattern_type_filter: 1,
        principal_filter: None,
        host_filter: None,
        operation: 1,
        permission_type: 1,
        ..Default::default()
    }
}

fn decide(fixture: &Fixture, filters: Vec<DeleteAclsFilter>) -> Decision<DeleteAclsResponse> {
    let request = DeleteAclsRequest {
        filters,
        ..Default::default()
    };
    let asked = DeleteAcls {
        request: &request,
        is_enabled: true,
    };
    asked.decide(&fixture.view())
}

fn choice<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.usize(..of.len())]
}

fn acl(rng: &mut Rng) -> Acl {
    Acl {
        resource_type: [ResourceType::Topic, ResourceType::Group][rng.usize(..2)],
        resource_name: choice(rng, &NAMES).into(),
        pattern: [PatternType::Literal, PatternType::Prefixed][rng.usize(..2)],
        principal: choice(rng, &PRINCIPALS).into(),
        host: choice(rng, &HOSTS).into(),
        operation: [Operation::Read, Operation::All][rng.usize(..2)],
        permission: [Permission::Allow, Permission::Deny][rng.usize(..2)],
    }
}

fn filter(rng: &mut Rng) -> DeleteAclsFilter {
    let text = |rng: &mut Rng, of: &[&str]| rng.bool().then(|| choice(rng, of).into());
    DeleteAclsFilter {
        resource_type_filter: [1, 2, 3, 6][rng.usize(..4)],
        resource_name_filter: text(rng, &["t", "team", "team-a-b", "*", "x"]),
        pattern_type_filter: rng.i8(1..5),
        principal_filter: text(rng, &PRINCIPALS),
        host_filter: text(rng, &HOSTS),
        operation: [1, 1, 2, 3][rng.usize(..4)],
        permission_type: [1, 1, 2, 3][rng.usize(..4)],
        ..Default::default()
    }
}

/// What a filter means, written down case by case.
fn is_meant(filter: &DeleteAclsFilter, acl: &Acl) -> bool {
    let name = filter.resource_name_filter.as_deref();
    let by_name = match (filter.pattern_type_filter, name) {
        (1 | 2, None) => true,
        (code, None) => code == acl.pattern.to_wire(),
        (1, Some(name)) => name == &*acl.resource_name,
        (2, Some(name)) => match acl.pattern {
            PatternType::Literal => [name, "*"].contains(&&*acl.resource_name),
            PatternType::Prefixed => name.starts_with(&*acl.resource_name),
        },
        (code, Some(name)) => code == acl.pattern.to_wire() && name == &*acl.resource_name,
    };
    let by_text = |filter: Option<&str>, text: &str| filter.is_none_or(|filter| filter == text);
    by_name
        && [1, acl.resource_type.to_wire()].contains(&filter.resource_type_filter)
        && by_text(filter.principal_filter.as_deref(), &acl.principal)
        && by_text(filter.host_filter.as_deref(), &acl.host)
        && [1, acl.operation.to_wire()].contains(&filter.operation)
        && [1, acl.permission.to_wire()].contains(&filter.permission_type)
}

/// Random filters against random ACLs: what is deleted is what is described, and what the model means.
#[test]
fn filters_mean_what_they_say() {
    let mut rng = Rng::with_seed(11);
    let mut meant_at_all = 0;
    for _ in 0..400 {
        let mut fixture = Fixture::new(0);
        let acls: Vec<Acl> = (0..30).map(|_| acl(&mut rng)).collect();
        for (number, acl) in (1u8..).zip(&acls) {
            fixture.apply(acl.to_record(Uuid::from_bytes([number; 16])));
        }
        let filters = vec![filter(&mut rng), filter(&mut rng)];
        let decision = decide(&fixture, filters.clone());
        let mut expected = BTreeSet::new();
        for (filter, result) in filters.iter().zip(&decision.response.filter_results) {
            let meant = (1u8..).zip(&acls).filter(|(_, acl)| is_meant(filter, acl));
            let meant: Vec<_> = meant.map(|(number, acl)| (number, matching(acl))).collect();
            let told: Vec<_> = meant.iter().map(|(_, acl)| acl.clone()).collect();
            assert_eq!(result.matching_acls, told, "{filter:?}");
            assert!(told.iter().all(|acl| acl.error_message.is_none()));
            assert_eq!(described(&fixture, filter), told.len(), "{filter:?}");
            expected.extend(
                meant
                    .iter()
                    .map(|(number, _)| Uuid::from_bytes([*number; 16])),
            );
        }
        let removed = decision.records.iter().map(|record| match record {
            Record::RemoveAccessControlEntry(record) => record.id,
            other => panic!("{other:?}"),
        });
        assert!(removed.eq(expected.iter().copied()));
        fixture.carry_out(&decision);
        assert_eq!(fixture.image.acls().iter().count(), 30 - expected.len());
        meant_at_all += expected.len();
    }
    assert!(meant_at_all > 500);
}

fn described(fixture: &Fixture, filter: &DeleteAclsFilter) -> usize {
    let request = DescribeAclsRequest {
        resource_type_filter: filter.resource_type_filter,
        resource_name_filter: filter.resource_name_filter.clone(),
        pattern_type_filter: filter.pattern_type_filter,
        principal_filter: filter.principal_filter.clone(),
        host_filter: filter.host_filter.clone(),
        operation: filter.operation,
        permission_type: filter.permission_type,
        ..Default::default()
    };
    let asked = DescribeAcls {
        request: &request,
        is_enabled: true,
    };
    let resources = asked.answer(&fixture.view()).resources;
    resources.iter().map(|resource| resource.acls.len()).sum()
}

#[test]
fn a_filter_that_nobody_knows_deletes_nothing() {
    let mut fixture = Fixture::new(0);
    fixture.apply(acl(&mut Rng::with_seed(1)).to_record(Uuid::from_bytes([1; 16])));
    let unknown = [
        (
            DeleteAclsFilter {
                resource_type_filter: 0,
                ..any()
            },
            "Unknown patternFilter.",
        ),
        (
            DeleteAclsFilter {
                pattern_type_filter: 5,
                ..any()
            },
            "Unknown patternFilter.",
        ),
        (
            DeleteAclsFilter {
                operation: 0,
                ..any()
            },
            "Unknown entryFilter.",
        ),
        (
            DeleteAclsFilter {
                permission_type: -1,
                ..any()
            },
            "Unknown entryFilter.",
        ),
    ];
    for (filter, text) in unknown {
        let decision = decide(&fixture, vec![filter]);
        let result = &decision.response.filter_results[0];
        assert_eq!(ErrorCode(result.error_code), ErrorCode::INVALID_REQUEST);
        assert_eq!(result.error_message.as_deref(), Some(text));
        assert_eq!(decision.records, []);
    }
    let request = DeleteAclsRequest {
        filters: vec![any()],
        ..Default::default()
    };
    let asked = DeleteAcls {
        request: &request,
        is_enabled: false,
    };
    let decision = asked.decide(&fixture.view());
    let code = ErrorCode(decision.response.filter_results[0].error_code);
    assert_eq!(
        (code, decision.records.len()),
        (ErrorCode::SECURITY_DISABLED, 0)
    );
    assert_eq!(decide(&fixture, vec![any()]).records.len(), 1);
}
