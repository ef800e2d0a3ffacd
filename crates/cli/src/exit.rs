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
    /// Ctrl-C: 128 and the number of SIGINT, as shells say it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Misuse => 2,
            Exit::Interrupted => 130,
        })
    }
}
