use std::time::Duration;

use tokio::time::Instant;

use crate::retry::Backoff;

/// Something that is asked for by one task at a time, with pauses.
#[derive(Debug)]
pub(crate) struct Errand {
    is_running: bool,
    asked: u32,
    not_before: Instant,
    due: Instant,
}

impl Errand {
    pub(crate) fn due_after(duration: Duration) -> Self {
        let now = Instant::now();
        Self {
            is_running: false,
            asked: 0,
            not_before: now,
            due: now + duration,
        }
    }

    /// True where the task is to be started now; `next` becomes sooner where it is to be later.
    pub(crate) fn starts(&mut self, wanted: bool, now: Instant, next: &mut Instant) -> bool {
        let at = if wanted { self.not_before } else { self.due };
        if self.is_running {
            return false;
        }
        self.is_running = at <= now;
        if !self.is_running {
            *next = at.min(*next);
        }
        self.is_running
    }

    /// The task has ended; `settled` where nothing more is wanted. It is due after a while.
    pub(crate) fn ended(&mut self, settled: bool, backoff: &Backoff, due: Duration) {
        let now = Instant::now();
        self.is_running = false;
        self.asked = if settled {
            0
        } else {
            self.asked.saturating_add(1)
        };
        self.not_before = match self.asked {
            0 => now,
            asked => now + backoff.after(asked),
        };
        self.due = now + due;
    }
}
