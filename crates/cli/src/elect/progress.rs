use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::duration::Shown;
use crate::output::Output;
use crate::table::plural;

/// The narrowest terminal with room for the bar and for what it says.
const WIDTH_WITH_BAR: usize = 70;

/// How far the waves are: a bar on a terminal, a line a wave elsewhere, nothing where there is one
/// wave.
pub(crate) struct Progress<'a> {
    out: &'a Output,
    waves: usize,
    bar: Option<ProgressBar>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(out: &'a Output, waves: usize, partitions: usize) -> Self {
        let bar = (waves > 1 && out.stderr_is_terminal).then(|| {
            let length = u64::try_from(partitions).unwrap_or(u64::MAX);
            let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
            let wide = out
                .talk_look()
                .width
                .is_none_or(|width| width >= WIDTH_WITH_BAR);
            let template = if wide {
                "{bar:20} {pos}/{len} partitions, {wide_msg}"
            } else {
                "{pos}/{len}, {wide_msg}"
            };
            match ProgressStyle::with_template(template) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        Self { out, waves, bar }
    }

    /// A wave begins; the first is 1.
    pub(crate) fn begins(&self, wave: usize) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("wave {wave} of {}", self.waves));
            bar.tick();
        }
    }

    /// A wave was answered.
    pub(crate) fn ended(&self, wave: usize, partitions: usize, failed: usize) {
        if let Some(bar) = &self.bar {
            bar.inc(u64::try_from(partitions).unwrap_or(u64::MAX));
        } else if self.waves > 1 {
            let partitions = plural(partitions, "partition");
            self.out.talk(&format!(
                "wave {wave} of {}: {partitions}, {failed} failed",
                self.waves
            ));
        }
    }

    /// The next wave waits.
    pub(crate) fn pauses(&self, wave: usize, pause: Duration) {
        if let Some(bar) = self.bar.as_ref().filter(|_| !pause.is_zero()) {
            bar.set_message(format!(
                "wave {wave} of {}, pausing {}",
                self.waves,
                Shown(pause)
            ));
        }
    }

    /// Nothing more is shown.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
