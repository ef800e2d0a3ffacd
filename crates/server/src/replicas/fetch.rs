//! Fetch, of consumers and of followers.

mod answer;
mod look;
mod session;
mod sessions;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use klamm_metadata::BrokerEpoch;
use klamm_protocol::messages::fetch::{FetchRequest, FetchResponse};
use klamm_protocol::{BrokerId, ErrorCode};
use klamm_replica::{Isolation, Reader};
use tokio::time::{Instant, timeout_at};

use super::Replicas;
use look::Limits;
pub(super) use sessions::Sessions;

/// The first version in which topics have ids in place of names.
const WITH_TOPIC_IDS: i16 = 13;
/// The first version in which a consumer may read from a follower.
const FROM_FOLLOWERS: i16 = 11;

impl Replicas {
    /// Answers when there is enough, or time is up. Who asks comes by `listener`, where it is told
    /// of other brokers.
    pub(crate) async fn fetch(
        &self,
        request: FetchRequest,
        version: i16,
        listener: &str,
    ) -> FetchResponse {
        let reader = reader(&request, version);
        let now = self.0.clock.elapsed();
        let begun = {
            let mut sessions = lock(&self.0.sessions);
            let uses_ids = version >= WITH_TOPIC_IDS;
            let follower = match reader {
                Reader::Replica { id, .. } => Some(id),
                Reader::Consumer { .. } => None,
            };
            sessions.begin(&request, uses_ids, follower, now, || fastrand::i32(..))
        };
        let begun = match begun {
            Ok(begun) => begun,
            Err(error) => {
                return FetchResponse {
                    error_code: error.0,
                    ..FetchResponse::default()
                };
            }
        };
        let wait = u64::try_from(request.max_wait_ms).unwrap_or(0);
        let deadline = Instant::now() + Duration::from_millis(wait);
        let max_bytes = usize::try_from(request.max_bytes).unwrap_or(0);
        let limits = Limits {
            max_bytes: max_bytes.min(self.0.settings.fetch_max_bytes),
            min_bytes: usize::try_from(request.min_bytes).unwrap_or(0),
        };
        let watch = Arc::clone(lock(&begun.session).watch());
        watch.asked(now);
        let mut is_first = true;
        loop {
            let is_last = Instant::now() >= deadline;
            let answered = {
                let shared = &self.0;
                let mut session = lock(&begun.session);
                let mut looked = shared.look(&mut session, reader, limits, is_first);
                let is_enough = is_last || session.is_empty() || looked.is_enough(limits);
                is_enough.then(|| {
                    shared.read_records(&mut looked);
                    let is_incremental = begun.is_incremental;
                    let answer = looked.answer(&mut session, version, is_incremental);
                    shared.fetch_response(answer, begun.id, version, listener)
                })
            };
            if let Some(response) = answered {
                return response;
            }
            is_first = false;
            // When time is up there is one more look.
            let _ = timeout_at(deadline, watch.wait()).await;
        }
    }
}

fn reader(request: &FetchRequest, version: i16) -> Reader {
    let (id, epoch) = match request.replica_state.replica_id {
        id if id >= 0 => (id, request.replica_state.replica_epoch),
        _ => (request.replica_id, -1),
    };
    if let Some(id) = BrokerId(id).known() {
        let epoch = (epoch >= 0).then_some(BrokerEpoch(epoch));
        return Reader::Replica { id, epoch };
    }
    Reader::Consumer {
        isolation: isolation(request.isolation_level),
        any_replica: version >= FROM_FOLLOWERS,
    }
}

/// How far a consumer reads; other numbers than these two are none, and mean the first.
pub(super) fn isolation(level: i8) -> Isolation {
    match level {
        1 => Isolation::ReadCommitted,
        _ => Isolation::ReadUncommitted,
    }
}

/// The code that says that a partition is fine.
const fn is_error(code: ErrorCode) -> bool {
    code.0 != ErrorCode::NONE.0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
