use std::collections::BTreeMap;

use klamm_protocol::data::metadata::ClientQuotaRecord;
use klamm_protocol::data::metadata::client_quota_record::EntityData;

use crate::Record;

/// Whom a client quota is for: a name for each type of entity; `None` is the type's default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuotaEntity(pub BTreeMap<Box<str>, Option<Box<str>>>);

/// The client quotas of the cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientQuotas {
    entities: BTreeMap<QuotaEntity, BTreeMap<Box<str>, f64>>,
}

impl ClientQuotas {
    /// The quotas of an entity by key.
    pub fn of(&self, entity: &QuotaEntity) -> impl Iterator<Item = (&str, f64)> {
        let quotas = self.entities.get(entity);
        quotas
            .into_iter()
            .flatten()
            .map(|(key, value)| (&**key, *value))
    }

    /// Every entity with quotas.
    pub fn entities(&self) -> impl Iterator<Item = &QuotaEntity> {
        self.entities.keys()
    }

    pub(crate) fn set(&mut self, record: &ClientQuotaRecord) {
        let parts = record.entity.iter().map(|part| {
            let name = part.entity_name.as_ref().map(|name| Box::from(&**name));
            (Box::from(&*part.entity_type), name)
        });
        let entity = QuotaEntity(parts.collect());
        if !record.remove {
            let quotas = self.entities.entry(entity).or_default();
            quotas.insert(Box::from(&*record.key), record.value);
            return;
        }
        if let Some(quotas) = self.entities.get_mut(&entity) {
            quotas.remove(&*record.key);
            if quotas.is_empty() {
                self.entities.remove(&entity);
            }
        }
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = Record> {
        self.entities.iter().flat_map(|(entity, quotas)| {
            quotas.iter().map(|(key, value)| {
                let parts = entity.0.iter().map(|(kind, name)| EntityData {
                    entity_type: (&**kind).into(),
                    entity_name: name.as_deref().map(Into::into),
                    ..Default::default()
                });
                Record::ClientQuota(ClientQuotaRecord {
                    entity: parts.collect(),
                    key: (&**key).into(),
                    value: *value,
                    ..Default::default()
                })
            })
        })
    }
}
