//! Which directories replicas are in, where the controller knows it otherwise.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;

use klamm_metadata::{MetadataVersion, Place};
use klamm_protocol::messages::assign_replicas_to_dirs::{
    AssignReplicasToDirsRequest, RequestDirectoryData, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::{ErrorCode, Uuid};
use tokio::sync::{mpsc, oneshot};

use super::{Question, Shared};

/// The wait before an assignment that was not taken goes out again.
const BACKOFF: Duration = Duration::from_millis(500);

/// Tells the controller, all that is there at a time in one request, until it takes them.
pub(super) async fn send(
    shared: Weak<Shared>,
    mut assignments: mpsc::UnboundedReceiver<(Place, Uuid)>,
) {
    let mut closing = match shared.upgrade() {
        Some(shared) => shared.closing.subscribe(),
        None => return,
    };
    let mut batch: BTreeMap<Place, Uuid> = BTreeMap::new();
    loop {
        tokio::select! {
            _ = closing.wait_for(|closing| *closing) => return,
            next = assignments.recv(), if batch.is_empty() => match next {
                Some((place, dir)) => batch.extend([(place, dir)]),
                None => return,
            },
            () = tokio::time::sleep(BACKOFF), if !batch.is_empty() => {}
        }
        while let Ok((place, dir)) = assignments.try_recv() {
            batch.insert(place, dir);
        }
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // Replicas that have gone meanwhile are nobody's concern.
        batch.retain(|place, _| shared.hosted(*place).is_some());
        let version = shared.image().features().metadata_version();
        if !version.is_some_and(MetadataVersion::allows_directory_assignment) {
            batch.clear();
        }
        if !batch.is_empty() && is_taken(&shared, &batch).await {
            batch.clear();
        }
    }
}

async fn is_taken(shared: &Shared, batch: &BTreeMap<Place, Uuid>) -> bool {
    let mut directories: BTreeMap<Uuid, BTreeMap<Uuid, Vec<RequestPartitionData>>> =
        BTreeMap::new();
    for (place, dir) in batch {
        let topics = directories.entry(*dir).or_default();
        topics
            .entry(place.topic)
            .or_default()
            .push(RequestPartitionData {
                partition_index: place.index.0,
                ..RequestPartitionData::default()
            });
    }
    let topics = |topics: BTreeMap<Uuid, Vec<RequestPartitionData>>| {
        let topics = topics
            .into_iter()
            .map(|(topic_id, partitions)| RequestTopicData {
                topic_id,
                partitions,
                ..RequestTopicData::default()
            });
        topics.collect()
    };
    let directories = directories
        .into_iter()
        .map(|(id, inside)| RequestDirectoryData {
            id,
            topics: topics(inside),
            ..RequestDirectoryData::default()
        });
    let request = AssignReplicasToDirsRequest {
        broker_id: shared.broker.0,
        broker_epoch: shared.broker_epoch().0,
        directories: directories.collect(),
        ..AssignReplicasToDirsRequest::default()
    };
    let (answer, answered) = oneshot::channel();
    let question = Question::AssignReplicasToDirs(request, answer);
    if shared.questions.send(question).await.is_err() {
        return false;
    }
    match answered.await {
        Ok(response) if ErrorCode(response.error_code) == ErrorCode::NONE => true,
        Ok(response) => {
            let error = ErrorCode(response.error_code);
            tracing::warn!(%error, "the controller does not take directories of replicas");
            false
        }
        Err(_) => false,
    }
}
