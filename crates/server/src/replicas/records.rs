//! What requests about records have in common.

use klamm_metadata::{Image, Place};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch};

/// Who leads a partition, where a request came to another or knows another epoch (KIP-951).
pub(super) fn leader_hint(
    image: &Image,
    place: Place,
    error: ErrorCode,
) -> Option<(BrokerId, LeaderEpoch)> {
    let is_about_leader = matches!(
        error,
        ErrorCode::NOT_LEADER_OR_FOLLOWER | ErrorCode::FENCED_LEADER_EPOCH
    );
    let partition = image
        .topics()
        .partition(place)
        .filter(|_| is_about_leader)?;
    Some((partition.leader(), partition.leader_epoch()))
}
