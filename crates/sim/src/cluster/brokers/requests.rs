//! What a broker asks a controller, and what it makes of the answers.

use klamm_metadata::MetadataVersion;
use klamm_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, RequestDirectoryData, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::messages::broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use klamm_protocol::messages::broker_registration::{BrokerRegistrationRequest, Feature};
use klamm_protocol::{BrokerId, ErrorCode};

use crate::asks::{Ask, Party, Reply};
use crate::broker::Errand;
use crate::cluster::Cluster;
use crate::controller::CLUSTER_ID;

/// How often a broker is told that it is not registered before somebody starts it anew.
const MAX_DISOWNED: u32 = 5;

impl Cluster {
    /// Sends something to whoever the broker takes for the controller.
    pub(super) fn go_on(&mut self, id: BrokerId, errand: Errand, ask: Ask) {
        let node = &self.nodes[&id];
        let leader = node.raft.as_ref().and_then(|raft| raft.leader());
        let to = leader.unwrap_or_else(|| BrokerId(self.rng.i32(1..=self.plan.voters as i32)));
        let from = Party::Broker {
            id,
            life: self.nodes[&id].life,
            connection: self.brokers[&id].connection,
        };
        let ticket = self.ask(from, to, ask);
        if let Some(broker) = self.brokers.get_mut(&id) {
            broker.run.open.insert(ticket, errand);
        }
    }

    pub(super) fn register(&mut self, id: BrokerId) {
        let broker = &self.brokers[&id];
        let feature = |name: &str, min, max| Feature {
            name: name.into(),
            min_supported_version: min,
            max_supported_version: max,
            ..Default::default()
        };
        let request = BrokerRegistrationRequest {
            broker_id: id.0,
            cluster_id: CLUSTER_ID.into(),
            incarnation_id: broker.run.incarnation,
            features: vec![
                feature(MetadataVersion::FEATURE, 7, 33),
                feature("eligible.leader.replicas.version", 0, 1),
            ],
            log_dirs: broker.online_dirs().collect(),
            previous_broker_epoch: broker.run.previous_epoch,
            ..Default::default()
        };
        self.go_on(id, Errand::Register, request.into());
    }

    pub(super) fn beat(&mut self, id: BrokerId) {
        let broker = &self.brokers[&id];
        let request = BrokerHeartbeatRequest {
            broker_id: id.0,
            broker_epoch: broker.run.epoch.unwrap_or(-1),
            current_metadata_offset: broker.run.applied.0 - 1,
            want_shut_down: broker.run.stopping,
            offline_log_dirs: broker.failed.iter().copied().collect(),
            ..Default::default()
        };
        self.go_on(id, Errand::Beat, request.into());
    }

    /// Tells the controller in which directories replicas are.
    pub(super) fn assign_dirs(&mut self, id: BrokerId) {
        let broker = &self.brokers[&id];
        if broker.is_out_on(Errand::AssignDirs) {
            return;
        }
        let topics = broker.image().topics();
        let moved = broker.replicas.iter().filter_map(|(place, replica)| {
            let assigned = topics.partition(*place)?.directory(id)?;
            (assigned != replica.dir).then_some((replica.dir, *place))
        });
        let directories: Vec<_> = moved
            .map(|(dir, place)| RequestDirectoryData {
                id: dir,
                topics: vec![RequestTopicData {
                    topic_id: place.topic,
                    partitions: vec![RequestPartitionData {
                        partition_index: place.index.0,
                        ..Default::default()
                    }],
                    ..Default::default()
                }],
                ..Default::default()
            })
            .collect();
        if directories.is_empty() {
            return;
        }
        let request = AssignReplicasToDirsRequest {
            broker_id: id.0,
            broker_epoch: broker.run.epoch.unwrap_or(-1),
            directories,
            ..Default::default()
        };
        self.go_on(id, Errand::AssignDirs, request.into());
    }

    /// The controller has answered, or its answer is not waited for any more.
    pub(in crate::cluster) fn broker_told(
        &mut self,
        id: BrokerId,
        ticket: u64,
        reply: Option<Reply>,
    ) {
        let now = self.now;
        let beat_every = self.broker_plan().heartbeat;
        let Some(broker) = self.brokers.get_mut(&id) else {
            return;
        };
        if broker.run.open.remove(&ticket).is_none() {
            return;
        }
        match reply {
            Some(Reply::Register(response)) if response.error_code == 0 => {
                broker.run.epoch = Some(response.broker_epoch);
                broker.run.next_beat = now;
                self.publish(id);
            }
            Some(Reply::Beat(response)) => {
                broker.run.next_beat = now + beat_every;
                self.beat_answered(id, &response);
            }
            Some(Reply::AlterPartition(response)) => self.isr_answered(id, &response),
            _ => {}
        }
    }

    fn beat_answered(&mut self, id: BrokerId, response: &BrokerHeartbeatResponse) {
        let Some(broker) = self.brokers.get_mut(&id) else {
            return;
        };
        if response.error_code == ErrorCode::STALE_BROKER_EPOCH.0 {
            broker.run.disowned += 1;
            if broker.run.disowned > MAX_DISOWNED {
                self.crash(id);
            }
            return;
        }
        broker.run.disowned = 0;
        if response.error_code == 0 {
            broker.run.unfenced = !response.is_fenced;
            if response.should_shut_down && broker.run.stopping {
                self.broker_stops(id);
            }
        }
    }
}
