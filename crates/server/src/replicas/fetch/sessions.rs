//! Fetch sessions: what a reader asks for is remembered, so that requests say what is new and answers
//! what has changed (KIP-227).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use klamm_protocol::messages::fetch::FetchRequest;
use klamm_protocol::{BrokerId, ErrorCode};

use super::session::Session;

/// A session that was used so recently makes no room for another, unless that is a follower's.
const MIN_IDLE: Duration = Duration::from_secs(120);

/// What a request is about.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    /// The session's id; 0 where there is none.
    pub(super) id: i32,
    pub(super) session: Arc<Mutex<Session>>,
    /// Whether the answer leaves out what has not changed.
    pub(super) is_incremental: bool,
}

/// The sessions of a broker.
#[derive(Debug)]
pub(crate) struct Sessions {
    max: usize,
    by_id: HashMap<i32, Entry>,
}

#[derive(Debug)]
struct Entry {
    session: Arc<Mutex<Session>>,
    is_follower: bool,
    uses_ids: bool,
    last_used: Duration,
}

impl Sessions {
    /// Room for so many sessions.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            by_id: HashMap::new(),
        }
    }

    /// Finds what a request is about. `new_id` is a number by chance, for a session that begins.
    pub(super) fn begin(
        &mut self,
        request: &FetchRequest,
        uses_ids: bool,
        follower: Option<BrokerId>,
        now: Duration,
        new_id: impl FnMut() -> i32,
    ) -> Result<Begun, ErrorCode> {
        const FINAL: i32 = -1;
        const INITIAL: i32 = 0;
        let id = request.session_id;
        match request.session_epoch {
            FINAL | INITIAL => {
                if id != 0 {
                    self.by_id.remove(&id);
                }
                let mut session = Session::new(follower);
                session.take(request, uses_ids);
                let is_worth_it = request.session_epoch == INITIAL && !session.is_empty();
                let session = Arc::new(Mutex::new(session));
                let mut id = 0;
                if is_worth_it && self.make_room(follower.is_some(), now) {
                    id = self.free_id(new_id);
                    let entry = Entry {
                        session: Arc::clone(&session),
                        is_follower: follower.is_some(),
                        uses_ids,
                        last_used: now,
                    };
                    self.by_id.insert(id, entry);
                }
                Ok(Begun {
                    id,
                    session,
                    is_incremental: false,
                })
            }
            epoch => self.go_on(request, epoch, uses_ids, now),
        }
    }

    fn go_on(
        &mut self,
        request: &FetchRequest,
        epoch: i32,
        uses_ids: bool,
        now: Duration,
    ) -> Result<Begun, ErrorCode> {
        let id = request.session_id;
        let entry = self.by_id.get_mut(&id);
        let entry = entry.ok_or(ErrorCode::FETCH_SESSION_ID_NOT_FOUND)?;
        if entry.uses_ids != uses_ids {
            return Err(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
        }
        entry.last_used = now;
        let session = Arc::clone(&entry.session);
        let mut held = super::lock(&session);
        if held.epoch != epoch {
            return Err(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
        }
        // After the largest comes 1: 0 begins a session.
        held.epoch = epoch.checked_add(1).unwrap_or(1);
        held.take(request, uses_ids);
        let is_empty = held.is_empty();
        drop(held);
        if is_empty {
            self.by_id.remove(&id);
        }
        Ok(Begun {
            id: if is_empty { 0 } else { id },
            session,
            is_incremental: true,
        })
    }

    /// Whether there is room for another, by the end of one that is idle or less important perhaps.
    fn make_room(&mut self, is_follower: bool, now: Duration) -> bool {
        if self.by_id.len() < self.max {
            return true;
        }
        let idle = |entry: &Entry| now.saturating_sub(entry.last_used);
        let may_go = |entry: &Entry| idle(entry) >= MIN_IDLE || is_follower && !entry.is_follower;
        let candidates = self.by_id.iter().filter(|(_, entry)| may_go(entry));
        let oldest = candidates.max_by_key(|(_, entry)| (!entry.is_follower, idle(entry)));
        let oldest = oldest.map(|(id, _)| *id);
        oldest.is_some_and(|id| self.by_id.remove(&id).is_some())
    }

    fn free_id(&self, mut new_id: impl FnMut() -> i32) -> i32 {
        loop {
            let id = new_id() & i32::MAX;
            if id != 0 && !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use klamm_protocol::Uuid;
    use klamm_protocol::messages::fetch::{FetchPartition, FetchTopic, ForgottenTopic};

    use super::*;

    const TOPIC: Uuid = Uuid::from_bytes([7; 16]);
    const NOW: Duration = Duration::from_secs(1000);

    fn request(id: i32, epoch: i32, offsets: &[(i32, i64)], forgotten: &[i32]) -> FetchRequest {
        let partitions = offsets.iter().map(|(partition, offset)| FetchPartition {
            partition: *partition,
            fetch_offset: *offset,
            ..FetchPartition::default()
        });
        FetchRequest {
            session_id: id,
            session_epoch: epoch,
            topics: vec![FetchTopic {
                topic_id: TOPIC,
                partitions: partitions.collect(),
                ..FetchTopic::default()
            }],
            forgotten_topics_data: vec![ForgottenTopic {
                topic_id: TOPIC,
                partitions: forgotten.iter().copied().collect(),
                ..ForgottenTopic::default()
            }],
            ..FetchRequest::default()
        }
    }

    fn begin(sessions: &mut Sessions, request: &FetchRequest) -> Result<Begun, ErrorCode> {
        let mut last = 4;
        sessions.begin(request, true, None, NOW, || {
            last += 1;
            last
        })
    }

    fn wanted(begun: &Begun) -> Vec<(i32, i64)> {
        let mut session = begun.session.lock().unwrap();
        let due = session.due().into_iter();
        let offset = |slot| {
            let asked = &session.at(slot).unwrap().asked;
            (asked.partition, asked.fetch_offset)
        };
        due.map(offset).collect()
    }

    #[test]
    fn a_session_goes_on_from_what_it_knows() {
        let mut sessions = Sessions::new(10);
        let begun = begin(
            &mut sessions,
            &request(0, 0, &[(0, 1), (1, 2), (2, 3)], &[]),
        )
        .unwrap();
        assert_eq!((begun.id, begun.is_incremental), (5, false));
        let begun = begin(&mut sessions, &request(5, 1, &[(1, 9)], &[0])).unwrap();
        assert_eq!((begun.id, begun.is_incremental), (5, true));
        assert_eq!(wanted(&begun), [(1, 9), (2, 3)]);
        {
            let mut session = begun.session.lock().unwrap();
            let first = session.due()[0];
            session.put_last(first);
        }
        let begun = begin(&mut sessions, &request(5, 2, &[(1, 10)], &[])).unwrap();
        assert_eq!(wanted(&begun), [(2, 3), (1, 10)]);
        let refused = |sessions: &mut Sessions, id, epoch| {
            begin(sessions, &request(id, epoch, &[], &[])).unwrap_err()
        };
        let wrong = ErrorCode::INVALID_FETCH_SESSION_EPOCH;
        assert_eq!(refused(&mut sessions, 5, 2), wrong);
        let gone = ErrorCode::FETCH_SESSION_ID_NOT_FOUND;
        assert_eq!(refused(&mut sessions, 6, 1), gone);
        let names = sessions.begin(&request(5, 3, &[], &[]), false, None, NOW, || 1);
        assert_eq!(names.unwrap_err(), ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
        // One without partitions ends.
        let begun = begin(&mut sessions, &request(5, 3, &[], &[1, 2])).unwrap();
        assert_eq!(begun.id, 0);
        assert_eq!(refused(&mut sessions, 5, 4), gone);
    }

    #[test]
    fn requests_without_a_session() {
        let mut sessions = Sessions::new(10);
        let begun = begin(&mut sessions, &request(0, -1, &[(0, 1)], &[])).unwrap();
        assert_eq!((begun.id, wanted(&begun)), (0, vec![(0, 1)]));
        let begun = begin(&mut sessions, &request(0, 0, &[(0, 1)], &[])).unwrap();
        // It ends the one that there is.
        let last = begin(&mut sessions, &request(begun.id, -1, &[(0, 1)], &[])).unwrap();
        assert_eq!(last.id, 0);
        assert!(begin(&mut sessions, &request(begun.id, 1, &[], &[])).is_err());
    }

    #[test]
    fn followers_come_before_consumers() {
        let mut sessions = Sessions::new(1);
        let mut open = |follower: Option<i32>, now| {
            let new = request(0, 0, &[(0, 1)], &[]);
            let mut id = 0;
            let begun = sessions.begin(&new, true, follower.map(BrokerId), now, || {
                id = fastrand::i32(1..);
                id
            });
            begun.unwrap().id
        };
        assert_ne!(open(None, NOW), 0);
        assert_eq!(open(None, NOW), 0);
        assert_ne!(open(Some(2), NOW), 0);
        assert_eq!(open(Some(2), NOW), 0);
        assert_ne!(open(None, NOW + MIN_IDLE), 0);
    }
}
