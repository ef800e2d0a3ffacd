use std::path::Path;

use klamm_explain::decode::{self, Contents};
use klamm_explain::input::Form;
use klamm_protocol::Bytes;

use crate::errors::Problem;
use crate::exit::Exit;

use super::input::Source;
use super::run::{End, Explain};

impl Explain<'_> {
    /// Explains a log directory.
    pub(super) fn directory(&self, path: &Path) -> Result<Exit, End> {
        let problem = Problem::misuse(format!("{} is a directory", path.display()))
            .next("give one of its files, such as a .log");
        Err(problem.into())
    }

    /// Explains a file of a log directory.
    pub(super) fn log_file(&self, source: Source, form: Form) -> Result<Exit, End> {
        let contents = match form {
            Form::Snapshot => Contents::Metadata,
            Form::Log if source.is_of_metadata() => Contents::Metadata,
            Form::Log => Contents::Opaque,
            _ => {
                let problem = Problem::misuse(format!("{} is no log", source.name()))
                    .because(format!("klamm reads no {} files yet", form.name()))
                    .next("give a .log or a .checkpoint");
                return Err(problem.into());
            }
        };
        let bytes = Bytes::from(source.read_all()?);
        self.show(&decode::records(bytes, contents, &self.options()), None)
    }
}
