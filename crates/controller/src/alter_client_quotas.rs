use core::net::IpAddr;
use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::{QuotaEntity, Record};
use klamm_protocol::data::metadata::ClientQuotaRecord;
use klamm_protocol::data::metadata::client_quota_record::EntityData;
use klamm_protocol::messages::alter_client_quotas::{
    AlterClientQuotasRequest, AlterClientQuotasResponse, RequestEntryData, ResponseEntityData,
    ResponseEntryData,
};
use klamm_protocol::{ErrorCode, SmallString};

use crate::assignment::check_size;
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// The types of entities that quotas are for.
pub(crate) const USER: &str = "user";
pub(crate) const CLIENT_ID: &str = "client-id";
pub(crate) const IP: &str = "ip";

/// Quotas of users and clients, and whether they are whole numbers, and then up to what.
const OF_USERS: &[(&str, Option<f64>)] = &[
    ("consumer_byte_rate", Some(i64::MAX as f64)),
    ("controller_mutation_rate", None),
    ("producer_byte_rate", Some(i64::MAX as f64)),
    ("request_percentage", None),
];
/// Quotas of addresses.
const OF_IPS: &[(&str, Option<f64>)] = &[("connection_creation_rate", Some(i32::MAX as f64))];

/// The limit of quotas that have no more bits than an INT; others are a LONG.
const INT_LIMIT: f64 = i32::MAX as f64;

/// How far from a whole number a value may be that is to be one.
const FRACTION: f64 = 1e-6;

/// Changes quotas (KIP-546), each entity's all or none.
pub fn alter_client_quotas(
    view: &View<'_>,
    request: &AlterClientQuotasRequest,
) -> Decision<AlterClientQuotasResponse> {
    let entities: Vec<QuotaEntity> = request.entries.iter().map(entity).collect();
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&QuotaEntity> = entities
        .iter()
        .filter(|entity| !seen.insert(*entity))
        .collect();
    let mut answered = BTreeSet::new();
    let mut records = Vec::new();
    let mut entries = Vec::with_capacity(entities.len());
    for (entry, entity) in request.entries.iter().zip(&entities) {
        // A repeated entity is answered once.
        if !answered.insert(entity) {
            continue;
        }
        let altered = match repeated.contains(entity) {
            true => Err(duplicate(entity)),
            false => alter(view, entity, entry),
        };
        let altered = altered.and_then(|new| {
            check_size(view, records.len(), new.len())?;
            records.extend(new);
            Ok(())
        });
        entries.push(answer(entity, altered.err()));
    }
    let mut decision = Decision::answer(AlterClientQuotasResponse {
        entries,
        ..Default::default()
    });
    if !request.validate_only {
        decision.records = records;
    }
    decision.atomic = true;
    decision
}

/// Whom an entry is about; where a type is there twice, its last name counts.
fn entity(entry: &RequestEntryData) -> QuotaEntity {
    let parts = entry.entity.iter().map(|part| {
        let name = part.entity_name.as_ref().map(|name| Box::from(&**name));
        (Box::from(&*part.entity_type), name)
    });
    QuotaEntity(parts.collect())
}

fn alter(
    view: &View<'_>,
    entity: &QuotaEntity,
    entry: &RequestEntryData,
) -> Result<Vec<Record>, Refusal> {
    let mut keys = BTreeSet::new();
    if entry.ops.iter().any(|op| !keys.insert(&*op.key)) {
        return Err(duplicate(entity));
    }
    let known = known_quotas(entity)?;
    let current: BTreeMap<&str, f64> = view.image().client_quotas().of(entity).collect();
    let mut records = Vec::with_capacity(entry.ops.len());
    for op in &entry.ops {
        let key = &*op.key;
        if op.remove {
            if current.contains_key(key) {
                records.push(record(entity, key, None));
            }
            continue;
        }
        check_value(known, key, op.value)?;
        if current.get(key) != Some(&op.value) {
            records.push(record(entity, key, Some(op.value)));
        }
    }
    Ok(records)
}

/// The quotas that an entity may have.
fn known_quotas(entity: &QuotaEntity) -> Result<&'static [(&'static str, Option<f64>)], Refusal> {
    let parts = &entity.0;
    if parts.is_empty() {
        return Err(invalid("Invalid empty client quota entity"));
    }
    for (kind, name) in parts {
        if ![USER, CLIENT_ID, IP].contains(&&**kind) {
            return Err(invalid(format!(
                "Unhandled client quota entity type: {kind}"
            )));
        }
        if name.as_deref() == Some("") {
            return Err(invalid(format!("Empty {kind} not supported")));
        }
    }
    match parts.get(IP) {
        None => Ok(OF_USERS),
        Some(_) if parts.len() > 1 => Err(invalid(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or \
             ClientId",
        )),
        Some(Some(address)) if address.parse::<IpAddr>().is_err() => Err(invalid(format!(
            "{address} is not a valid IP or resolvable host."
        ))),
        Some(_) => Ok(OF_IPS),
    }
}

fn check_value(known: &[(&str, Option<f64>)], key: &str, value: f64) -> Result<(), Refusal> {
    let Some((_, limit)) = known.iter().find(|(known, _)| *known == key) else {
        return Err(invalid(format!("Invalid configuration key {key}")));
    };
    if value.is_nan() || value <= 0.0 {
        return Err(invalid(format!("Quota {key} must be greater than 0")));
    }
    match limit {
        Some(limit) if value > *limit => {
            let kind = if *limit == INT_LIMIT {
                "an INT"
            } else {
                "a LONG"
            };
            let text = format!("Proposed value for {key} is too large for {kind}.");
            Err(invalid(text))
        }
        Some(_) if value % 1.0 > FRACTION => {
            Err(invalid(format!("{key} cannot be a fractional value.")))
        }
        _ => Ok(()),
    }
}

/// A record; without a value the quota is removed.
fn record(entity: &QuotaEntity, key: &str, value: Option<f64>) -> Record {
    let parts = entity.0.iter().map(|(kind, name)| EntityData {
        entity_type: (&**kind).into(),
        entity_name: name.as_deref().map(Into::into),
        ..Default::default()
    });
    ClientQuotaRecord {
        entity: parts.collect(),
        key: key.into(),
        value: value.unwrap_or_default(),
        remove: value.is_none(),
        ..Default::default()
    }
    .into()
}

fn answer(entity: &QuotaEntity, refusal: Option<Refusal>) -> ResponseEntryData {
    let parts = entity.0.iter().map(|(kind, name)| ResponseEntityData {
        entity_type: (&**kind).into(),
        entity_name: name.as_deref().map(SmallString::from),
        ..Default::default()
    });
    ResponseEntryData {
        error_code: refusal.as_ref().map_or(0, |refusal| refusal.code.0),
        error_message: refusal.map(|refusal| (&*refusal.text).into()),
        entity: parts.collect(),
        ..Default::default()
    }
}

fn duplicate(entity: &QuotaEntity) -> Refusal {
    let parts = entity.0.iter();
    let parts = parts.map(|(kind, name)| format!("{kind}={}", name.as_deref().unwrap_or("null")));
    let parts: Vec<_> = parts.collect();
    invalid(format!(
        "Ignoring duplicate entity ClientQuotaEntity(entries={{{}}})",
        parts.join(", ")
    ))
}

pub(crate) fn invalid(text: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}
