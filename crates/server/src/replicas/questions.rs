use klamm_protocol::messages::allocate_producer_ids::{
    AllocateProducerIdsRequest, AllocateProducerIdsResponse,
};
use klamm_protocol::messages::alter_partition::{AlterPartitionRequest, AlterPartitionResponse};
use klamm_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, AssignReplicasToDirsResponse,
};
use tokio::sync::oneshot;

/// What replicas ask of the active controller, with a place for its answer. Where none comes the
/// place is dropped.
#[derive(Debug)]
pub(crate) enum Question {
    /// To change ISRs.
    AlterPartition(
        AlterPartitionRequest,
        oneshot::Sender<AlterPartitionResponse>,
    ),
    /// For ids of producers.
    AllocateProducerIds(
        AllocateProducerIdsRequest,
        oneshot::Sender<AllocateProducerIdsResponse>,
    ),
    /// To take note of the directories that replicas are in.
    AssignReplicasToDirs(
        AssignReplicasToDirsRequest,
        oneshot::Sender<AssignReplicasToDirsResponse>,
    ),
}
