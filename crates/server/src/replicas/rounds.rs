//! What is done from time to time: one task for all replicas.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use klamm_log::{LogError, OffsetCheckpoint, PartitionDir, PartitionOffset};
use klamm_protocol::Offset;
use klamm_replica::RoleKind;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::Shared;
use super::hosted::{Hosted, Moment, State};

/// How often producers are looked for that have said nothing for long.
const PRODUCERS_EVERY: Duration = Duration::from_secs(600);

/// Goes its rounds until the replicas are closed.
pub(super) async fn run(shared: Weak<Shared>) {
    let Some(first) = shared.upgrade() else {
        return;
    };
    let settings = first.settings.clone();
    let mut closing = first.closing.subscribe();
    drop(first);
    let every = |period: Duration| {
        let period = period.max(Duration::from_millis(1));
        let mut interval = interval_at(Instant::now() + period, period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        interval
    };
    let mut lag = every(settings.lag_time_max / 2);
    let mut high_watermarks = every(settings.high_watermark_interval);
    let mut recovery_points = every(settings.recovery_point_interval);
    let mut log_starts = every(settings.log_start_interval);
    let mut retention = every(settings.retention_check_interval);
    let mut producers = every(PRODUCERS_EVERY);
    loop {
        let round: fn(&Shared) = tokio::select! {
            _ = closing.wait_for(|closing| *closing) => return,
            _ = lag.tick() => look_for_laggards,
            _ = high_watermarks.tick() => |it| checkpoint(it, OffsetCheckpoint::HighWatermark),
            _ = recovery_points.tick() => |it| checkpoint(it, OffsetCheckpoint::RecoveryPoint),
            _ = log_starts.tick() => |it| checkpoint(it, OffsetCheckpoint::LogStart),
            _ = retention.tick() => retain,
            _ = producers.tick() => expire_producers,
        };
        let Some(shared) = shared.upgrade() else {
            return;
        };
        // A panic in there has been told already, and there is a next round.
        let _ = tokio::task::spawn_blocking(move || {
            let are_over = shared.rounds_are_over.lock();
            let are_over = are_over.unwrap_or_else(PoisonError::into_inner);
            // A look at logs that are being closed would miss some.
            if !*are_over {
                round(&shared);
            }
        })
        .await;
    }
}

/// Writes a checkpoint of every directory.
pub(super) fn checkpoint(shared: &Shared, checkpoint: OffsetCheckpoint) {
    let moment = shared.moment();
    for dir in shared.dirs.iter().filter(|dir| !dir.is_failed()) {
        let collect = || {
            let hosted = shared.all_hosted().into_iter();
            let inside = hosted.filter(|hosted| Arc::ptr_eq(&hosted.dir, dir));
            let mut entries: Vec<PartitionOffset> = inside
                .filter_map(|hosted| {
                    let offset =
                        shared.with(&hosted, &moment, |state| Ok(offset_of(state, checkpoint)));
                    Some(entry(&hosted.name, offset.ok()??))
                })
                .collect();
            // Those that the metadata has not asked for keep what they have.
            entries.extend(shared.found().values().filter_map(|found| {
                let inside = Arc::ptr_eq(&found.dir, dir);
                let offset = match checkpoint {
                    OffsetCheckpoint::RecoveryPoint => found.opened.log.flushed(),
                    OffsetCheckpoint::HighWatermark => found.opened.high_watermark,
                    OffsetCheckpoint::LogStart => found.opened.log.start(),
                };
                inside.then(|| entry(&found.name, offset))
            }));
            entries
        };
        if let Err(error) = dir.checkpoint(checkpoint, collect) {
            shared.fail_dir(dir, &error);
        }
    }
}

fn offset_of(state: &State, checkpoint: OffsetCheckpoint) -> Option<Offset> {
    match checkpoint {
        OffsetCheckpoint::RecoveryPoint => Some(state.log.flushed()),
        OffsetCheckpoint::HighWatermark => Some(state.replica.log().high_watermark()),
        OffsetCheckpoint::LogStart => {
            let start = state.log.start();
            // Where a segment begins there, the file names tell it.
            let is_told = state.log.segments().next() == Some(start);
            (!is_told).then_some(start)
        }
    }
}

/// An entry of a checkpoint.
pub(super) fn entry(name: &PartitionDir, offset: Offset) -> PartitionOffset {
    PartitionOffset {
        topic: name.topic.clone(),
        partition: name.partition,
        offset,
    }
}

fn each(shared: &Shared, act: impl Fn(&mut State, &Moment) -> Result<(), LogError>) {
    let moment = shared.moment();
    for hosted in shared.all_hosted() {
        let hosted: &Hosted = &hosted;
        // What cannot be used has been told already.
        let _ = shared.with(hosted, &moment, |state| act(state, &moment));
    }
}

fn look_for_laggards(shared: &Shared) {
    each(shared, |state, moment| {
        state.replica.tick(moment.now);
        Ok(())
    });
}

/// Removes what is too old or too much. Followers do so by themselves, as in Apache Kafka.
pub(super) fn retain(shared: &Shared) {
    let moment = shared.moment();
    for hosted in shared.all_hosted() {
        let has_moved = shared.with(&hosted, &moment, |state| {
            let before = state.log.start();
            let up_to = state.replica.log().high_watermark();
            if state.topic.deletes && state.replica.role() != RoleKind::Offline {
                let retention = state.topic.retention;
                state.log.retain(&retention, moment.now_ms, up_to)?;
                state.replica.log_start_moved(state.log.start());
            }
            let has_moved = state.log.start() != before;
            if has_moved {
                state.wake();
            }
            Ok(has_moved)
        });
        // The leader is told; what cannot be used has been told already.
        if has_moved == Ok(true) {
            shared.fetchers.touch(hosted.place);
        }
    }
}

fn expire_producers(shared: &Shared) {
    let expiration = shared.settings.producer_expiration;
    let expiration = i64::try_from(expiration.as_millis()).unwrap_or(i64::MAX);
    each(shared, |state, moment| {
        state.replica.expire_producers(moment.now_ms, expiration);
        Ok(())
    });
}
