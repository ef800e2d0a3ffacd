//! What a controller writes.

use klamm_metadata::{Image, MetadataVersion, Record};
use klamm_protocol::data::metadata::{ConfigRecord, FeatureLevelRecord, PartitionChangeRecord};
use klamm_protocol::{BrokerId, Offset};

use super::shown;
use crate::checker;
use crate::cluster::Cluster;
use crate::controller::{Target, batches};
use crate::plan::{BrokerPlan, Flaw};

impl Cluster {
    /// Appends records on the active controller and applies them at once. The end of the log then;
    /// nothing where the node leads no more.
    pub(super) fn append(
        &mut self,
        id: BrokerId,
        records: &[Record],
        atomic: bool,
    ) -> Result<Option<Offset>, String> {
        let records = self.with_flaw(id, records.to_vec());
        let Some(raft) = &self.nodes[&id].raft else {
            return Ok(None);
        };
        let end = raft.log().end();
        let max_records = match self.plan.seed % 3 {
            0 => 3,
            _ => 10_000,
        };
        let Some(lead) = self.controllers.get_mut(&id).and_then(|c| c.lead.as_mut()) else {
            return Ok(None);
        };
        if records.is_empty() {
            return Ok(Some(end));
        }
        for record in &records {
            if matches!(record, Record::AbortTransaction(_)) {
                continue;
            }
            let applied = lead.image.apply(record);
            applied.map_err(|error| format!("{id} decides what does not fit: {error}"))?;
        }
        let version = lead.image.features().metadata_version();
        let target = Target {
            base: end,
            epoch: lead.epoch,
            version: version.unwrap_or(MetadataVersion::MINIMUM),
            max_records,
        };
        let epoch = lead.epoch;
        let bytes = batches(&records, atomic, target)?;
        let life = self.nodes[&id].life;
        if self.trace.is_some() {
            self.log(Some(id), &shown(&format!("appends at {end}: {records:?}")));
        }
        let mut appended = None;
        self.with_raft(id, life, |raft, now| {
            appended = raft.append(epoch, bytes, now).ok();
        });
        Ok(appended.filter(|_| self.lead(id).is_some()))
    }

    /// Does records wrong on purpose.
    fn with_flaw(&mut self, id: BrokerId, mut records: Vec<Record>) -> Vec<Record> {
        let is_fencing = |record: &Record, to: i8| match record {
            Record::BrokerRegistrationChange(change) => change.fenced == to,
            _ => false,
        };
        match self.broker_plan().flaw {
            Some(Flaw::ForgetsFence) if records.iter().any(|r| is_fencing(r, 1)) => {
                records.retain(|record| is_fencing(record, 1));
            }
            Some(Flaw::LeavesLeaderless) if records.iter().any(|r| is_fencing(r, -1)) => {
                records.retain(|record| is_fencing(record, -1));
            }
            Some(Flaw::ElectsOutOfSync) => {
                let Some(lead) = self.lead(id) else {
                    return records;
                };
                for record in &mut records {
                    if let Record::PartitionChange(change) = record
                        && change.leader == -1
                    {
                        elect_anybody(&lead.image, change);
                    }
                }
            }
            _ => {}
        }
        records
    }
}

fn elect_anybody(image: &Image, change: &mut PartitionChangeRecord) {
    let place = checker::place(change.topic_id, change.partition_id);
    let Some(partition) = image.topics().partition(place) else {
        return;
    };
    let mut others = partition.replicas().iter().copied();
    let other = others.find(|id| image.cluster().is_active(*id) && !partition.isr().contains(id));
    if let Some(other) = other {
        change.leader = other.0;
        change.isr = Some([other.0][..].into());
        change.last_known_elr = None;
    }
}

/// What a cluster's log begins with.
pub(super) fn first_records(plan: &BrokerPlan) -> Vec<Record> {
    let level = |name: &str, feature_level| {
        Record::from(FeatureLevelRecord {
            name: name.into(),
            feature_level,
            ..Default::default()
        })
    };
    let config = |name: &str, value: String| {
        Record::from(ConfigRecord {
            resource_type: 4,
            name: name.into(),
            value: Some(value.as_str().into()),
            ..Default::default()
        })
    };
    let mut records = vec![level(MetadataVersion::FEATURE, plan.metadata_level)];
    if plan.elr {
        records.push(level("eligible.leader.replicas.version", 1));
    }
    records.push(config("min.insync.replicas", plan.min_isr.to_string()));
    let unclean = plan.unclean.to_string();
    records.push(config("unclean.leader.election.enable", unclean));
    records
}
