//! What a controller writes first.

use klamm_metadata::{
    Cluster, ConfigResource, ConfigResourceKind, Controller, Feature, Image, Record,
};
use klamm_protocol::data::metadata::{
    AbortTransactionRecord, BeginTransactionRecord, ConfigRecord, EndTransactionRecord,
};

/// The first records of a cluster's log: those that the directory was formatted with, and what they
/// imply. Apache Kafka puts them into a transaction, and so does klamm.
pub(crate) fn first_records(bootstrap: Vec<Record>, min_insync_replicas: usize) -> Vec<Record> {
    let mut image = Image::new();
    for record in &bootstrap {
        // What does not fit is refused when it is appended.
        let _ = image.apply(record);
    }
    let mut records = bootstrap;
    let resource = ConfigResource::all_nodes();
    let is_set = image
        .configs()
        .value(&resource, MIN_INSYNC_REPLICAS)
        .is_some();
    if image
        .features()
        .level(Feature::ELIGIBLE_LEADER_REPLICAS_VERSION)
        > 0
        && !is_set
    {
        // With eligible leader replicas it may not be a matter of each node's configuration.
        let ConfigResourceKind(resource_type) = resource.kind;
        records.push(
            ConfigRecord {
                resource_type,
                resource_name: (&*resource.name).into(),
                name: MIN_INSYNC_REPLICAS.into(),
                value: Some(min_insync_replicas.to_string().as_str().into()),
                ..ConfigRecord::default()
            }
            .into(),
        );
    }
    let version = image.features().metadata_version();
    if version.is_some_and(|version| version.allows_transactions()) {
        let begin = BeginTransactionRecord {
            name: Some("Bootstrap records".into()),
            ..BeginTransactionRecord::default()
        };
        records.insert(0, begin.into());
        records.push(EndTransactionRecord::default().into());
    }
    records
}

const MIN_INSYNC_REPLICAS: &str = "min.insync.replicas";

/// Ends what a controller before has begun and not ended.
pub(crate) fn abort_transaction() -> Record {
    AbortTransactionRecord {
        reason: Some("another controller is active".into()),
        ..AbortTransactionRecord::default()
    }
    .into()
}

/// The record that registers a controller, unless the cluster has it as it is.
pub(crate) fn registration(cluster: &Cluster, controller: &Controller) -> Option<Record> {
    let is_known = cluster.controller(controller.id) == Some(controller);
    (!is_known).then(|| controller.to_record().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use klamm_protocol::data::metadata::FeatureLevelRecord;

    fn level(name: &str, feature_level: i16) -> Record {
        FeatureLevelRecord {
            name: name.into(),
            feature_level,
            ..FeatureLevelRecord::default()
        }
        .into()
    }

    #[test]
    fn a_log_begins_as_with_apache_kafka() {
        let elr = "eligible.leader.replicas.version";
        let records = first_records(vec![level("metadata.version", 33), level(elr, 1)], 2);
        assert!(matches!(&records[0], Record::BeginTransaction(r)
            if r.name.as_deref() == Some("Bootstrap records")));
        assert_eq!(
            records[1..3],
            [level("metadata.version", 33), level(elr, 1)]
        );
        assert!(matches!(&records[3], Record::Config(r)
            if (r.resource_type, &*r.resource_name, &*r.name, r.value.as_deref())
                == (4, "", "min.insync.replicas", Some("2"))));
        assert!(matches!(records[4], Record::EndTransaction(_)));
        assert_eq!(records.len(), 5);
    }

    #[test]
    fn old_versions_have_neither_transactions_nor_elr() {
        let records = first_records(vec![level("metadata.version", 7)], 1);
        assert_eq!(records, [level("metadata.version", 7)]);
    }
}
