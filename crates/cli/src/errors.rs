use std::fmt;

use crate::exit::Exit;
use crate::interrupt::Interrupted;
use crate::table::printable;

/// Why a command cannot go on, as a person sees it: what happened and where, why, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    exit: Exit,
    what: String,
    cause: Option<String>,
    next: Option<String>,
}

impl Problem {
    /// A command line, or a file that it names, that makes no sense. Nothing was sent anywhere.
    pub(crate) fn misuse(what: impl Into<String>) -> Self {
        Self {
            exit: Exit::Misuse,
            what: what.into(),
            cause: None,
            next: None,
        }
    }

    /// Something went wrong on the way, or in the cluster.
    pub(crate) fn failure(what: impl Into<String>) -> Self {
        Self {
            exit: Exit::Failed,
            ..Self::misuse(what)
        }
    }

    /// A person pressed Ctrl-C, or the command was told to end.
    pub(crate) fn interrupted(by: Interrupted, what: impl Into<String>) -> Self {
        Self {
            exit: Exit::Interrupted(by.0),
            ..Self::misuse(what)
        }
    }

    pub(crate) fn because(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    pub(crate) fn next(mut self, step: impl Into<String>) -> Self {
        self.next = Some(step.into());
        self
    }

    /// How the command ends.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if matches!(self.exit, Exit::Interrupted(_)) {
            "interrupted"
        } else {
            "error"
        };
        write!(f, "{word}: {}", printable(&self.what))?;
        if let Some(cause) = &self.cause {
            let mut lines = cause.lines();
            write!(
                f,
                "\n  cause: {}",
                printable(lines.next().unwrap_or_default())
            )?;
            for line in lines {
                write!(f, "\n    {}", printable(line.trim_start()))?;
            }
        }
        if let Some(next) = &self.next {
            write!(f, "\n  next step: {}", printable(next))?;
        }
        Ok(())
    }
}
