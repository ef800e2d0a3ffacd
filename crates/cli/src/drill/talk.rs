use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::live::Live;
use super::load::Load;
use super::watch::Watch;
use crate::output::Output;
use crate::table::printable;

/// How often the lines on a terminal are drawn anew.
const DRAW: Duration = Duration::from_millis(100);
const CLEAR_LINE_REST: &str = "\x1b[K";
const CLEAR_BELOW: &str = "\x1b[J";
/// The most events that a report tells.
const MOST_EVENTS: usize = 1_000;

/// Says what happens: a line each, with when; on a terminal how it goes is drawn below, in place.
#[derive(Debug)]
pub(super) struct Talk<'a> {
    out: &'a Output,
    began: Instant,
    area: Option<Area>,
    step: RefCell<String>,
    live: RefCell<Live>,
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
        Self {
            out,
            began,
            area: out.can_redraw().then(Area::default),
            step: RefCell::default(),
            live: RefCell::default(),
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
        match &self.area {
            Some(area) => self.out.draw(&area.above(&line, &self.lines())),
            None => self.out.talk(&line),
        }
        let mut events = self.events.borrow_mut();
        if events.len() < MOST_EVENTS {
            let what = what.into_owned();
            events.push(Event { at, what });
        }
    }

    /// What is under way from now on.
    pub(super) fn step(&self, step: impl Into<String>) {
        self.step.replace(step.into());
        self.draw();
    }

    /// Shows how a load goes from now on.
    pub(super) fn follow_load(&self, load: &Load) {
        self.live.borrow_mut().follow_load(load.counts());
    }

    /// Shows who leads from now on.
    pub(super) fn follow_cluster(&self, watch: &Watch) {
        self.live.borrow_mut().follow_cluster(watch.now());
    }

    fn draw(&self) {
        if let Some(area) = &self.area {
            self.out.draw(&area.anew(&self.lines()));
        }
    }

    fn lines(&self) -> Vec<String> {
        let look = self.out.talk_look();
        let step = self.step.borrow();
        let mut live = self.live.borrow_mut();
        live.lines(self.began.elapsed(), &step, look)
    }

    /// Does something, and draws meanwhile.
    pub(super) async fn beside<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = self.keep_drawing() => match never {},
        }
    }

    async fn keep_drawing(&self) -> Infallible {
        if self.area.is_none() {
            return pending().await;
        }
        loop {
            self.draw();
            sleep(DRAW).await;
        }
    }

    /// All that was said, the first ones of many.
    pub(super) fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }
}

impl Drop for Talk<'_> {
    fn drop(&mut self) {
        if let Some(area) = &self.area {
            self.out.draw(&area.anew(&[]));
        }
    }
}

/// Lines at the bottom of a terminal. The cursor stays below them, at the left, so that what the
/// terminal shows of Ctrl-C is gone with the next drawing.
#[derive(Debug, Default)]
struct Area {
    /// How many lines there are.
    drawn: Cell<usize>,
}

impl Area {
    /// What draws other lines in place of those that are there.
    fn anew(&self, lines: &[String]) -> String {
        let mut text = self.top();
        for line in lines {
            text.extend([line, CLEAR_LINE_REST, "\r\n"]);
        }
        text.push_str(CLEAR_BELOW);
        self.drawn.set(lines.len());
        text
    }

    /// What draws lines below one that stays.
    fn above(&self, stays: &str, lines: &[String]) -> String {
        let mut text = self.top();
        text.extend([stays, CLEAR_LINE_REST, "\r\n"]);
        self.drawn.set(0);
        text + &self.anew(lines)
    }

    /// What moves to the beginning.
    fn top(&self) -> String {
        match self.drawn.get() {
            0 => "\r".to_owned(),
            lines => format!("\r\x1b[{lines}A"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_replace_each_other() {
        let area = Area::default();
        let lines = ["a".to_owned(), "b".to_owned()];
        assert_eq!(area.anew(&lines), "\ra\x1b[K\r\nb\x1b[K\r\n\x1b[J");
        let above = area.above("said", &lines[..1]);
        assert_eq!(above, "\r\x1b[2Asaid\x1b[K\r\n\ra\x1b[K\r\n\x1b[J");
        assert_eq!(area.anew(&[]), "\r\x1b[1A\x1b[J");
        assert_eq!(area.anew(&[]), "\r\x1b[J");
    }
}
