use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::BTreeSet;

use klamm_metadata::{Acl, CLUSTER_NAME, Operation, PatternType, Permission, ResourceType};
use klamm_protocol::messages::create_acls::{
    AclCreation, AclCreationResult, CreateAclsRequest, CreateAclsResponse,
};
use klamm_protocol::{ErrorCode, Uuid};

use crate::assignment::check_size;
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// A request to create ACLs.
#[derive(Clone, Copy, Debug)]
pub struct CreateAcls<'a> {
    /// The request.
    pub request: &'a CreateAclsRequest,
    /// Whether there is an authorizer, without which ACLs are of no use.
    pub is_enabled: bool,
}

impl CreateAcls<'_> {
    /// Decides every ACL on its own. One that is there already is created once more without a trace.
    /// New ones get their ids from `ids`.
    pub fn decide(
        &self,
        view: &View<'_>,
        mut ids: impl FnMut() -> Uuid,
    ) -> Decision<CreateAclsResponse> {
        let acls = view.image().acls();
        let mut there: BTreeSet<&Acl> = acls.iter().map(|(_, acl)| acl).collect();
        let read: Vec<Result<Acl, Refusal>> = self
            .request
            .creations
            .iter()
            .map(|creation| match self.is_enabled {
                true => read(view, creation),
                false => Err(disabled()),
            })
            .collect();
        let mut records = Vec::new();
        let mut given = BTreeSet::new();
        let mut results = Vec::with_capacity(read.len());
        for acl in &read {
            let created = acl.as_ref().map_err(Refusal::clone).and_then(|acl| {
                if !there.contains(acl) {
                    check_size(view, records.len(), 1)?;
                    there.insert(acl);
                    let id = loop {
                        let id = ids();
                        if acls.by_id(id).is_none() && given.insert(id) {
                            break id;
                        }
                    };
                    records.push(acl.to_record(id).into());
                }
                Ok(())
            });
            let refusal = created.err();
            let text = refusal.as_ref().map_or("", |refusal| &*refusal.text);
            results.push(AclCreationResult {
                error_code: refusal.as_ref().map_or(0, |refusal| refusal.code.0),
                // Where all is well Apache Kafka leaves the schema's default, an empty text.
                error_message: Some(text.into()),
                ..Default::default()
            });
        }
        let mut decision = Decision::answer(CreateAclsResponse {
            results,
            ..Default::default()
        });
        decision.records = records;
        decision.atomic = true;
        decision
    }
}

/// Nothing is to be authorized.
pub(crate) fn disabled() -> Refusal {
    Refusal::new(ErrorCode::SECURITY_DISABLED, "No Authorizer is configured.")
}

fn read(view: &View<'_>, creation: &AclCreation) -> Result<Acl, Refusal> {
    let name = &*creation.resource_name;
    let resource_type = ResourceType::from_wire(creation.resource_type);
    if resource_type == Some(ResourceType::Cluster) && name != CLUSTER_NAME {
        let text = format!("The only valid name for the CLUSTER resource is {CLUSTER_NAME}");
        return Err(invalid(text));
    }
    if name.is_empty() {
        return Err(invalid("Invalid empty resource name"));
    }
    let unknown = |what: &str, code: i8| match code {
        1 => invalid(format!("Invalid {what} ANY")),
        2 if what == "patternType" => invalid(format!("Invalid {what} MATCH")),
        _ => invalid(format!("Invalid {what} UNKNOWN")),
    };
    let acl = Acl {
        resource_type: resource_type
            .ok_or_else(|| unknown("resourceType", creation.resource_type))?,
        resource_name: name.into(),
        pattern: PatternType::from_wire(creation.resource_pattern_type)
            .ok_or_else(|| unknown("patternType", creation.resource_pattern_type))?,
        operation: Operation::from_wire(creation.operation)
            .ok_or_else(|| unknown("operation", creation.operation))?,
        permission: Permission::from_wire(creation.permission_type)
            .ok_or_else(|| unknown("permissionType", creation.permission_type))?,
        principal: (&*creation.principal).into(),
        host: (&*creation.host).into(),
    };
    check_principal(&acl.principal)?;
    check_host(&acl.host, view.metadata_version().allows_cidr_acls())?;
    Ok(acl)
}

fn check_principal(principal: &str) -> Result<(), Refusal> {
    match principal.contains(':') {
        true => Ok(()),
        false => Err(invalid(format!(
            "Could not parse principal from `{principal}` (no colon is present separating the \
             principal type from the principal name)"
        ))),
    }
}

/// Whether ACLs may name a host so: `*`, a name, an address, or a range of addresses.
fn check_host(host: &str, allows_ranges: bool) -> Result<(), Refusal> {
    if host.is_empty() {
        return Err(invalid("Host pattern cannot be null or empty"));
    }
    let Some((address, len)) = host.split_once('/') else {
        return Ok(());
    };
    if !allows_ranges {
        let text = "CIDR-based ACL host patterns require metadata version 4.4-IV1 or higher.";
        return Err(Refusal::new(ErrorCode::UNSUPPORTED_VERSION, text));
    }
    let refuse = |why: String| {
        let text = format!("Invalid CIDR notation '{host}': {why}");
        Err(invalid(text))
    };
    let is_number = !len.is_empty() && len.len() <= 3 && len.bytes().all(|b| b.is_ascii_digit());
    let bits = len.parse::<u32>().ok().filter(|_| is_number);
    match (
        address.parse::<Ipv4Addr>(),
        address.parse::<Ipv6Addr>(),
        bits,
    ) {
        (Ok(_), _, Some(0..=32)) => Ok(()),
        (Ok(_), _, Some(bits)) => refuse(format!("Value [{bits}] not in range [0,32]")),
        (_, Ok(address), Some(0..=128)) if address.to_ipv4_mapped().is_none() => Ok(()),
        (_, Ok(mapped), Some(0..=128)) => {
            refuse(format!("Could not parse [{mapped}] - not an IPv6 address"))
        }
        (_, Ok(_), _) => refuse(format!(
            "Could not parse [{host}] - prefix length must be between 0 and 128"
        )),
        _ => refuse(format!("Could not parse [{host}]")),
    }
}

fn invalid(text: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}
