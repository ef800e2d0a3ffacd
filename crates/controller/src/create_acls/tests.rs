use klamm_metadata::Record;

use super::*;
use crate::testing::Fixture;

pub(crate) fn creation(name: &str) -> AclCreation {
    AclCreation {
        resource_type: ResourceType::Topic.to_wire(),
        resource_name: name.into(),
        resource_pattern_type: PatternType::Literal.to_wire(),
        principal: "User:alice".into(),
        host: "*".into(),
        operation: Operation::Read.to_wire(),
        permission_type: Permission::Allow.to_wire(),
        ..Default::default()
    }
}

fn decide(fixture: &Fixture, creations: Vec<AclCreation>) -> Decision<CreateAclsResponse> {
    let request = CreateAclsRequest {
        creations,
        ..Default::default()
    };
    let asked = CreateAcls {
        request: &request,
        is_enabled: true,
    };
    let mut next = 0;
    asked.decide(&fixture.view(), || {
        next += 1;
        // The same one comes twice now and then.
        Uuid::from_bytes([next / 2; 16])
    })
}

fn code(fixture: &Fixture, creation: AclCreation) -> ErrorCode {
    let decision = decide(fixture, vec![creation]);
    let code = ErrorCode(decision.response.results[0].error_code);
    assert_eq!(decision.records.is_empty(), code != ErrorCode::NONE);
    code
}

#[test]
fn what_is_there_is_made_once() {
    let mut fixture = Fixture::new(0);
    let decision = decide(&fixture, vec![creation("t"), creation("u"), creation("t")]);
    let codes: Vec<_> = decision
        .response
        .results
        .iter()
        .map(|r| r.error_code)
        .collect();
    assert_eq!(codes, [0, 0, 0]);
    let ids: BTreeSet<_> = decision
        .records
        .iter()
        .map(|record| match record {
            Record::AccessControlEntry(acl) => acl.id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids.len(), 2);
    fixture.carry_out(&decision);
    let again = decide(&fixture, vec![creation("u"), creation("v")]);
    fixture.carry_out(&again);
    assert_eq!(again.records.len(), 1);
    assert_eq!(fixture.image.acls().iter().count(), 3);
}

#[test]
fn what_cannot_be_is_refused_by_itself() {
    let fixture = Fixture::new(0);
    let wrong = [
        AclCreation {
            resource_type: 0,
            ..creation("t")
        },
        AclCreation {
            resource_type: 1,
            ..creation("t")
        },
        AclCreation {
            resource_type: 99,
            ..creation("t")
        },
        AclCreation {
            resource_type: 4,
            ..creation("t")
        },
        AclCreation {
            resource_pattern_type: 1,
            ..creation("t")
        },
        AclCreation {
            resource_pattern_type: 2,
            ..creation("t")
        },
        AclCreation {
            operation: 1,
            ..creation("t")
        },
        AclCreation {
            permission_type: 0,
            ..creation("t")
        },
        AclCreation {
            principal: "alice".into(),
            ..creation("t")
        },
        AclCreation {
            principal: "".into(),
            ..creation("t")
        },
        AclCreation {
            host: "".into(),
            ..creation("t")
        },
        creation(""),
    ];
    for wrong in &wrong {
        assert_eq!(
            code(&fixture, wrong.clone()),
            ErrorCode::INVALID_REQUEST,
            "{wrong:?}"
        );
    }
    let mut all = wrong.to_vec();
    all.push(creation("t"));
    assert_eq!(decide(&fixture, all).records.len(), 1);
    let cluster = AclCreation {
        resource_type: 4,
        ..creation("kafka-cluster")
    };
    assert_eq!(code(&fixture, cluster), ErrorCode::NONE);
}

#[test]
fn hosts_may_be_ranges_from_4_4_on() {
    let mut fixture = Fixture::new(0);
    let host = |host: &str| AclCreation {
        host: host.into(),
        ..creation("t")
    };
    let right = [
        "*",
        "1.2.3.4",
        "::1",
        "a.host",
        "10.0.0.1/8",
        "::/0",
        "fe80::/10",
        "1.2.3.4/032",
    ];
    for right in right {
        assert_eq!(code(&fixture, host(right)), ErrorCode::NONE, "{right}");
    }
    let wrong = [
        "10.0.0.0/33",
        "10.0.0.0/",
        "/8",
        "a/8",
        "10.0.0/8",
        "10.0.0.0/-1",
        "10.0.0.0/+8",
        "*/8",
        "::/129",
        "10.0.0.0/8/9",
        "::ffff:1.2.3.4/100",
        " 10.0.0.0/8",
        "10.0.0.0/00000000008",
    ];
    for wrong in wrong {
        assert_eq!(
            code(&fixture, host(wrong)),
            ErrorCode::INVALID_REQUEST,
            "{wrong}"
        );
    }
    fixture.feature("metadata.version", 31);
    assert_eq!(
        code(&fixture, host("10.0.0.0/8")),
        ErrorCode::UNSUPPORTED_VERSION
    );
    assert_eq!(code(&fixture, host("10.0.0.0")), ErrorCode::NONE);
}

#[test]
fn without_an_authorizer_there_are_no_acls() {
    let fixture = Fixture::new(0);
    let request = CreateAclsRequest {
        creations: vec![creation("t"), creation("u")],
        ..Default::default()
    };
    let asked = CreateAcls {
        request: &request,
        is_enabled: false,
    };
    let decision = asked.decide(&fixture.view(), || Uuid::ZERO);
    assert_eq!(decision.records, []);
    let codes = decision
        .response
        .results
        .iter()
        .map(|result| ErrorCode(result.error_code));
    assert!(codes.eq([ErrorCode::SECURITY_DISABLED; 2]));
}
