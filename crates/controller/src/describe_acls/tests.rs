use klamm_metadata::{Operation, PatternType, Permission, ResourceType};
use klamm_protocol::Uuid;

use super::*;
use crate::testing::Fixture;

fn ask(fixture: &Fixture, resource_type_filter: i8, is_enabled: bool) -> DescribeAclsResponse {
    let request = DescribeAclsRequest {
        resource_type_filter,
        resource_name_filter: None,
        pattern_type_filter: 1,
        principal_filter: None,
        host_filter: None,
        operation: 1,
        permission_type: 1,
        ..Default::default()
    };
    let asked = DescribeAcls {
        request: &request,
        is_enabled,
    };
    asked.answer(&fixture.view())
}

#[test]
fn acls_come_resource_by_resource() {
    let mut fixture = Fixture::new(0);
    let resources = [("u", "User:a"), ("t", "User:b"), ("u", "User:c")];
    for (number, (name, principal)) in (1u8..).zip(resources) {
        let acl = Acl {
            resource_type: ResourceType::Topic,
            resource_name: name.into(),
            pattern: PatternType::Literal,
            principal: principal.into(),
            host: "*".into(),
            operation: Operation::Read,
            permission: Permission::Deny,
        };
        fixture.apply(acl.to_record(Uuid::from_bytes([number; 16])));
    }
    let told = ask(&fixture, 1, true);
    let resources = told.resources.iter();
    let resources = resources.map(|resource| (&*resource.resource_name, resource.acls.len()));
    assert!(resources.eq([("t", 1), ("u", 2)]));
    assert_eq!(ask(&fixture, 3, true).resources, []);
    let code = |response: DescribeAclsResponse| ErrorCode(response.error_code);
    assert_eq!(code(ask(&fixture, 0, true)), ErrorCode::INVALID_REQUEST);
    assert_eq!(code(ask(&fixture, 1, false)), ErrorCode::SECURITY_DISABLED);
}
