use std::collections::BTreeMap;

use klamm_metadata::QuotaEntity;
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::describe_client_quotas::{
    ComponentData, DescribeClientQuotasRequest, DescribeClientQuotasResponse, EntityData,
    EntryData, ValueData,
};

use crate::View;
use crate::alter_client_quotas::{CLIENT_ID, IP, USER, invalid};
use crate::refusal::Refusal;

#[cfg(test)]
mod tests;

/// How a name of an entity is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match<'a> {
    /// It is this one.
    Exact(&'a str),
    /// It is the default of its type.
    Default,
    /// It is any, or the default.
    Any,
}

/// Tells quotas (KIP-546).
pub fn describe_client_quotas(
    view: &View<'_>,
    request: &DescribeClientQuotasRequest,
) -> DescribeClientQuotasResponse {
    let filter = match filter(&request.components) {
        Ok(filter) => filter,
        Err(refusal) => {
            return DescribeClientQuotasResponse {
                error_code: refusal.code.0,
                error_message: Some((&*refusal.text).into()),
                entries: None,
                ..Default::default()
            };
        }
    };
    let quotas = view.image().client_quotas();
    let meant = quotas.entities().filter(|entity| {
        let is_meant = filter
            .iter()
            .all(|(kind, wanted)| is_match(entity, kind, *wanted));
        is_meant && (!request.strict || entity.0.len() == filter.len())
    });
    let entries = meant.map(|entity| EntryData {
        entity: parts(entity),
        values: quotas
            .of(entity)
            .map(|(key, value)| ValueData {
                key: key.into(),
                value,
                ..Default::default()
            })
            .collect(),
        ..Default::default()
    });
    DescribeClientQuotasResponse {
        entries: Some(entries.collect()),
        ..Default::default()
    }
}

fn is_match(entity: &QuotaEntity, kind: &str, wanted: Match<'_>) -> bool {
    match (entity.0.get(kind), wanted) {
        (None, _) => false,
        (Some(_), Match::Any) => true,
        (Some(name), Match::Default) => name.is_none(),
        (Some(name), Match::Exact(wanted)) => name.as_deref() == Some(wanted),
    }
}

fn filter(components: &[ComponentData]) -> Result<BTreeMap<&str, Match<'_>>, Refusal> {
    let mut filter = BTreeMap::new();
    for component in components {
        let kind = &*component.entity_type;
        if kind.is_empty() {
            return Err(invalid("Invalid empty entity type."));
        }
        if filter.contains_key(kind) {
            return Err(invalid(format!(
                "Entity type {kind} cannot appear more than once in the filter."
            )));
        }
        if ![USER, CLIENT_ID, IP].contains(&kind) {
            let text = format!("Unsupported entity type {kind}");
            return Err(Refusal::new(ErrorCode::UNSUPPORTED_VERSION, text));
        }
        let name = component.r#match.as_deref();
        let none_for = |what: &str| match name {
            None => Ok(()),
            Some(_) => Err(invalid(format!(
                "Request specified {what}, but also specified a match string."
            ))),
        };
        let wanted = match component.match_type {
            0 => Match::Exact(name.ok_or_else(|| {
                invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
            })?),
            1 => {
                none_for("MATCH_TYPE_DEFAULT")?;
                Match::Default
            }
            2 => {
                none_for("MATCH_TYPE_SPECIFIED")?;
                Match::Any
            }
            unknown => return Err(invalid(format!("Unknown match type {unknown}"))),
        };
        filter.insert(kind, wanted);
    }
    match filter.contains_key(IP) && filter.len() > 1 {
        true => Err(invalid(
            "Invalid entity filter component combination. IP filter component should not be used \
             with user or clientId filter component.",
        )),
        false => Ok(filter),
    }
}

fn parts(entity: &QuotaEntity) -> Vec<EntityData> {
    let parts = entity.0.iter().map(|(kind, name)| EntityData {
        entity_type: (&**kind).into(),
        entity_name: name.as_deref().map(Into::into),
        ..Default::default()
    });
    parts.collect()
}
