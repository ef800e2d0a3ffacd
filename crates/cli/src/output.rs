use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use terminal_size::{Height, Width};

use crate::errors::Problem;
use crate::table::{Look, Style, printable, reflowed};

/// How many bytes are collected before they are written.
const BUFFER_BYTES: usize = 64 << 10;
/// The smallest terminal, in columns and rows, on which lines in place say more than lines that follow.
const NARROWEST: u16 = 40;
const LOWEST: u16 = 10;

/// Where a command's text goes: results to standard output, talk to standard error. The only module
/// that prints.
#[derive(Debug)]
pub(crate) struct Output {
    /// Whether standard output is a terminal.
    pub(crate) stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub(crate) stderr_is_terminal: bool,
    colours: bool,
    is_dumb: bool,
}

/// Why a result could not be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// The reader went away, as `head` does: nothing to talk about.
    Closed,
    /// Anything else, such as a full disk.
    Problem(Problem),
}

impl Output {
    /// Looks at the environment and at what standard output and error are.
    pub(crate) fn detect() -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
            colours: !set("NO_COLOR") && !dumb,
            is_dumb: dumb,
        }
    }

    /// What standard output can show now; a terminal may have been resized.
    pub(crate) fn look(&self) -> Look {
        Look {
            colour: self.colours && self.stdout_is_terminal,
            width: self.size().map(|(width, _)| width),
        }
    }

    /// What standard error can show.
    pub(crate) fn talk_look(&self) -> Look {
        let size =
            terminal_size::terminal_size_of(io::stderr()).filter(|_| self.stderr_is_terminal);
        Look {
            colour: self.colours && self.stderr_is_terminal,
            width: size.map(|(Width(width), _)| width.into()),
        }
    }

    /// Whether standard error can show lines that are drawn anew in place.
    pub(crate) fn can_redraw(&self) -> bool {
        let size = terminal_size::terminal_size_of(io::stderr());
        let is_large = |(Width(width), Height(height))| width >= NARROWEST && height >= LOWEST;
        self.stderr_is_terminal && !self.is_dumb && size.is_some_and(is_large)
    }

    /// Columns and rows of the terminal that standard output is.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        if !self.stdout_is_terminal {
            return None;
        }
        let (Width(width), Height(height)) = terminal_size::terminal_size_of(io::stdout())?;
        Some((width.into(), height.into()))
    }

    /// Writes results. What says itself in pieces is not in memory as a whole.
    pub(crate) fn results(&self, text: &(impl Display + ?Sized)) -> Result<(), WriteError> {
        let mut stdout = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
        match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(WriteError::Closed),
            Err(error) => Err(WriteError::Problem(
                Problem::failure("results could not be written to standard output")
                    .because(error.to_string())
                    .next("see whether its disk is full"),
            )),
        }
    }

    /// Says something besides the results. Where nobody listens, there is nothing to do about it.
    pub(crate) fn talk(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = stderr
            .write_all(text.as_bytes())
            .and_then(|()| stderr.write_all(b"\n"));
    }

    /// Writes to standard error as it is, for what is drawn in place.
    pub(crate) fn draw(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = stderr
            .write_all(text.as_bytes())
            .and_then(|()| stderr.flush());
    }

    /// As [`Output::talk`], for what a person should not overlook.
    pub(crate) fn warn(&self, text: &str) {
        self.prose(&format!("warning: {}", printable(text)), Style::Warn);
    }

    /// Says why a command cannot go on.
    pub(crate) fn problem(&self, problem: &Problem) {
        self.prose(&problem.to_string(), Style::Bad);
    }

    /// Sentences after a word with a colon, which gets the style. Terminals do not break lines
    /// between words.
    fn prose(&self, text: &str, style: Style) {
        let look = self.talk_look();
        let text = look
            .width
            .map_or(text.to_owned(), |width| reflowed(text, width));
        match text.split_once(':') {
            Some((word, rest)) => {
                self.talk(&format!("{}{rest}", style.paint(&format!("{word}:"), look)));
            }
            None => self.talk(&text),
        }
    }

    /// Asks on standard error; only `y` and `yes` mean yes. Signals are heard while it waits for the
    /// answer, which a thread of its own reads.
    pub(crate) async fn confirm(&self, question: &str) -> bool {
        let mut stderr = io::stderr().lock();
        let asked = write!(stderr, "{question} [y/N] ").and_then(|()| stderr.flush());
        drop(stderr);
        if asked.is_err() {
            return false;
        }
        let answer = tokio::task::spawn_blocking(|| {
            let mut answer = String::new();
            io::stdin().read_line(&mut answer).map(|_| answer)
        });
        answer.await.is_ok_and(|answer| {
            answer.is_ok_and(|answer| {
                matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
            })
        })
    }

    /// Whether there is a person to ask: one who sees the question and can type an answer.
    pub(crate) fn can_ask(&self) -> bool {
        self.stderr_is_terminal && io::stdin().is_terminal()
    }
}
