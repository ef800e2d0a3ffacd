use std::fmt;

use klamm_protocol::data::metadata::ProducerIdsRecord;

use crate::{
    Acls, ApplyError, ClientQuotas, Cluster, Configs, DelegationTokens, Features, MetadataVersion,
    Record, ScramCredentials, Topics,
};

#[cfg(test)]
mod tests;

/// A broker's epoch: the offset of the record that registered it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BrokerEpoch(pub i64);

impl fmt::Display for BrokerEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The cluster's metadata: what the records of its log add up to.
///
/// [`Image::apply`] is the only way to change it, so that the same records always give the same image,
/// and its indexes are never behind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    features: Features,
    cluster: Cluster,
    topics: Topics,
    configs: Configs,
    quotas: ClientQuotas,
    next_producer_id: Option<i64>,
    acls: Acls,
    scram: ScramCredentials,
    tokens: DelegationTokens,
}

/// What an image has at a moment, for records of it and for nothing else.
///
/// It is there at once and takes little memory, for most is shared with the image until it changes:
/// a thread can make records of it while the image goes on.
#[derive(Clone, Debug)]
pub struct Frozen(Image);

impl Frozen {
    /// As [`Image::snapshot`].
    pub fn records(&self) -> impl Iterator<Item = Record> {
        self.0.snapshot()
    }

    /// The finalized features.
    pub fn features(&self) -> &Features {
        self.0.features()
    }
}

impl Image {
    /// The image of an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// The finalized features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The registered brokers and controllers.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// The topics and their partitions.
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// The dynamic configs.
    pub fn configs(&self) -> &Configs {
        &self.configs
    }

    /// The client quotas.
    pub fn client_quotas(&self) -> &ClientQuotas {
        &self.quotas
    }

    /// The first producer id that no broker was given.
    pub fn next_producer_id(&self) -> i64 {
        self.next_producer_id.unwrap_or(0)
    }

    /// The access control lists.
    pub fn acls(&self) -> &Acls {
        &self.acls
    }

    /// The SCRAM credentials.
    pub fn scram_credentials(&self) -> &ScramCredentials {
        &self.scram
    }

    /// The delegation tokens.
    pub fn delegation_tokens(&self) -> &DelegationTokens {
        &self.tokens
    }

    /// Changes the image by a record. After an error it is what it was before.
    ///
    /// Records that begin, end or abort a transaction are errors here; [`crate::Loader`] handles them.
    pub fn apply(&mut self, record: &Record) -> Result<(), ApplyError> {
        match record {
            Record::RegisterBroker(r) => self.cluster.register(r),
            Record::UnregisterBroker(r) => self.cluster.unregister(r.broker_id, r.broker_epoch)?,
            Record::FenceBroker(r) => self.cluster.set_fenced(r.id, r.epoch, true)?,
            Record::UnfenceBroker(r) => self.cluster.set_fenced(r.id, r.epoch, false)?,
            Record::BrokerRegistrationChange(r) => self.cluster.change(r)?,
            Record::RegisterController(r) => self.cluster.register_controller(r),
            Record::UnregisterController(r) => self.cluster.unregister_controller(r.controller_id),
            Record::Topic(r) => self.topics.add(r)?,
            Record::Partition(r) => self.topics.add_partition(r)?,
            Record::PartitionChange(r) => self.topics.change_partition(r)?,
            Record::ClearElr(r) => self.topics.clear_elr(&r.topic_name)?,
            Record::RemoveTopic(r) => {
                let name = self.topics.remove(r.topic_id)?;
                self.configs.forget_topic(&name);
            }
            Record::Config(r) => self.configs.set(r),
            Record::FeatureLevel(r) => self.features.set(r)?,
            Record::ClientQuota(r) => self.quotas.set(r),
            Record::ProducerIds(r) => self.next_producer_id = Some(r.next_producer_id),
            Record::AccessControlEntry(r) => self.acls.add(r)?,
            Record::RemoveAccessControlEntry(r) => self.acls.remove(r)?,
            Record::UserScramCredential(r) => self.scram.set(r)?,
            Record::RemoveUserScramCredential(r) => self.scram.remove(r)?,
            Record::DelegationToken(r) => self.tokens.set(r),
            Record::RemoveDelegationToken(r) => self.tokens.remove(&r.token_id),
            // Clusters that came from ZooKeeper have left a record of it, which means nothing since 4.0.
            Record::NoOp(_) | Record::ZkMigrationState(_) => {}
            Record::BeginTransaction(_)
            | Record::EndTransaction(_)
            | Record::AbortTransaction(_) => {
                let (_, name) = record.kind();
                return Err(ApplyError::Transaction(name));
            }
        }
        Ok(())
    }

    /// What the image has now.
    pub fn freeze(&self) -> Frozen {
        Frozen(Self {
            features: self.features.clone(),
            cluster: self.cluster.clone(),
            topics: self.topics.frozen(),
            configs: self.configs.clone(),
            quotas: self.quotas.clone(),
            next_producer_id: self.next_producer_id,
            acls: self.acls.clone(),
            scram: self.scram.clone(),
            tokens: self.tokens.clone(),
        })
    }

    /// Records that recreate the image, in the order of Apache Kafka's snapshots. What the finalized
    /// `metadata.version` has no record or field for is left out, as in Apache Kafka.
    pub fn snapshot(&self) -> impl Iterator<Item = Record> {
        let version = self
            .features
            .metadata_version()
            .unwrap_or(MetadataVersion::MINIMUM);
        let producer_ids = self.next_producer_id.map(|next_producer_id| {
            Record::ProducerIds(ProducerIdsRecord {
                broker_id: -1,
                broker_epoch: -1,
                next_producer_id,
                ..Default::default()
            })
        });
        self.features
            .records()
            .chain(self.cluster.records(version))
            .chain(self.topics.records(version))
            .chain(self.configs.records())
            .chain(self.quotas.records())
            .chain(producer_ids)
            .chain(self.acls.records())
            .chain(self.scram.records(version))
            .chain(self.tokens.records(version))
    }
}
