use std::process::ExitCode;

/// How a command ends. Scripts rely on these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything asked for is so.
    Done,
    /// Something failed: a partition, a connection, a prompt that was declined.
    Failed,
    /// The command line, or a file it names, makes no sense.
    Misuse,
    /// A signal: 128 and its number, as shells say it.
    Interrupted(Signal),
}

/// What tells a command to end early, and lets it say what it has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C, SIGINT.
    Interrupt,
    /// SIGTERM, as service managers and container runtimes send it.
    Terminate,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Misuse => 2,
            Exit::Interrupted(Signal::Interrupt) => 130,
            Exit::Interrupted(Signal::Terminate) => 143,
        })
    }
}
