use std::fmt;

use crate::exit::Exit;

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

    /// A person pressed Ctrl-C.
    pub(crate) fn interrupted(what: impl Into<String>) -> Self {
        Self {
            exit: Exit::Interrupted,
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
        let word = if self.exit == Exit::Interrupted {
            "interrupted"
        } else {
            "error"
        };
        write!(f, "{word}: {}", self.what)?;
        if let Some(cause) = &self.cause {
            let mut lines = cause.lines();
            write!(f, "\n  cause: {}", lines.next().unwrap_or_default())?;
            for line in lines {
                write!(f, "\n    {}", line.trim_start())?;
            }
        }
        if let Some(next) = &self.next {
            write!(f, "\n  next step: {next}")?;
        }
        Ok(())
    }
}
