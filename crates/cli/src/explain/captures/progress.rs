use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// A file smaller than this is read in no time.
const WORTH_SHOWING_BYTES: u64 = 256 << 20;

/// How far a large file is read: a bar on a terminal, unless results are written to it meanwhile.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new(out: &Output, bytes: Option<u64>, lists: bool) -> Self {
        let shows = out.stderr_is_terminal && !(lists && out.stdout_is_terminal);
        let bytes = bytes.filter(|bytes| shows && *bytes >= WORTH_SHOWING_BYTES);
        let bar = bytes.map(|bytes| {
            let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
            match ProgressStyle::with_template("{bar:20} {bytes} of {total_bytes}, {eta} left") {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            }
        });
        Self { bar }
    }

    pub(super) fn advance(&self, bytes: usize) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes as u64);
        }
    }

    pub(super) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
