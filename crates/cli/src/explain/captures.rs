use klamm_explain::input::Form;

use crate::errors::Problem;
use crate::exit::Exit;

use super::input::Source;
use super::run::{End, Explain};

impl Explain<'_> {
    /// Explains a capture.
    pub(super) fn capture(&self, source: Source, form: Form) -> Result<Exit, End> {
        let problem = Problem::misuse(format!("{} is a capture", source.name()))
            .because(format!("klamm reads no {} files yet", form.name()))
            .next("cut out the bytes of a connection, and give them with --as frames");
        Err(problem.into())
    }
}
