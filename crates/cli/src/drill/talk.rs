use std::cell::RefCell;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::Instant;

use crate::output::Output;
use crate::table::printable;

/// How often the line on a terminal is drawn anew.
const DRAW: Duration = Duration::from_millis(100);
/// The most events that a report tells.
const MOST_EVENTS: usize = 1_000;

/// Says what happens: a line each, with when; on a terminal the load goes on below.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    out: &'a Output,
    began: Instant,
    bar: Option<ProgressBar>,
    events: RefCell<Vec<Event>>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// When it happened, from the drill's beginning.
    pub(super) at: Duration,
    pub(super) what: String,
}

impl<'a> Talk<'a> {
    pub(super) fn new(out: &'a Output, began: Instant) -> Self {
        let bar = out.stderr_is_terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let bar = match ProgressStyle::with_template("{spinner} {wide_msg}") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            };
            bar.enable_steady_tick(DRAW);
            bar
        });
        Self {
            out,
            began,
            bar,
            events: RefCell::default(),
        }
    }

    /// Something has happened.
    pub(super) fn say(&self, what: &str) {
        self.say_of(self.began.elapsed(), what);
    }

    /// Something has happened before.
    pub(super) fn say_of(&self, at: Duration, what: &str) {
        let what = printable(what);
        let line = format!("{:6.2} s  {what}", at.as_secs_f64());
        match &self.bar {
            Some(bar) => bar.suspend(|| self.out.talk(&line)),
            None => self.out.talk(&line),
        }
        let mut events = self.events.borrow_mut();
        if events.len() < MOST_EVENTS {
            let what = what.into_owned();
            events.push(Event { at, what });
        }
    }

    /// How the load goes.
    pub(super) fn load(&self, (sent, acked): (u64, u64)) {
        if let Some(bar) = &self.bar {
            let waiting = sent.saturating_sub(acked);
            bar.set_message(format!(
                "{sent} records sent, {acked} acknowledged, {waiting} wait"
            ));
        }
    }

    /// All that was said, the first ones of many.
    pub(super) fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
