use std::collections::BTreeMap;

use klamm_metadata::{Acl, AclFilter, WireFilter};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_acls::{
    AclDescription, DescribeAclsRequest, DescribeAclsResource, DescribeAclsResponse,
};

use crate::View;
use crate::delete_acls::unknown;
use crate::refusal::Refusal;

#[cfg(test)]
mod tests;

/// A request to see ACLs.
#[derive(Clone, Copy, Debug)]
pub struct DescribeAcls<'a> {
    /// The request.
    pub request: &'a DescribeAclsRequest,
    /// Whether there is an authorizer, without which ACLs are of no use.
    pub is_enabled: bool,
}

impl DescribeAcls<'_> {
    /// The ACLs that the client means, resource by resource.
    pub fn answer(&self, view: &View<'_>) -> DescribeAclsResponse {
        match self.resources(view) {
            Ok(resources) => DescribeAclsResponse {
                resources,
                ..Default::default()
            },
            Err(refusal) => DescribeAclsResponse {
                error_code: refusal.code.0,
                error_message: Some((&*refusal.text).into()),
                ..Default::default()
            },
        }
    }

    fn resources(&self, view: &View<'_>) -> Result<Vec<DescribeAclsResource>, Refusal> {
        if !self.is_enabled {
            let text = "No Authorizer is configured on the broker";
            return Err(Refusal::new(ErrorCode::SECURITY_DISABLED, text));
        }
        let request = self.request;
        let filter = AclFilter::from_wire(WireFilter {
            resource_type: request.resource_type_filter,
            resource_name: request.resource_name_filter.as_deref(),
            pattern_type: request.pattern_type_filter,
            principal: request.principal_filter.as_deref(),
            host: request.host_filter.as_deref(),
            operation: request.operation,
            permission: request.permission_type,
        });
        let filter = filter.map_err(unknown)?;
        let mut by_resource: BTreeMap<_, Vec<&Acl>> = BTreeMap::new();
        for (_, acl) in view.image().acls().iter() {
            if filter.matches(acl) {
                let resource = (acl.resource_type, &*acl.resource_name, acl.pattern);
                by_resource.entry(resource).or_default().push(acl);
            }
        }
        let resources = by_resource
            .into_iter()
            .map(|((kind, name, pattern), acls)| {
                let acls = acls.into_iter().map(|acl| AclDescription {
                    principal: (&*acl.principal).into(),
                    host: (&*acl.host).into(),
                    operation: acl.operation.to_wire(),
                    permission_type: acl.permission.to_wire(),
                    ..Default::default()
                });
                DescribeAclsResource {
                    resource_type: kind.to_wire(),
                    resource_name: name.into(),
                    pattern_type: pattern.to_wire(),
                    acls: acls.collect(),
                    ..Default::default()
                }
            });
        Ok(resources.collect())
    }
}
