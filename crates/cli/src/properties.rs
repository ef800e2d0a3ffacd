use std::path::Path;

use klamm_config::{Properties, decode};

use crate::errors::Problem;
use crate::input;

/// Reads the properties file that a person named with a flag.
pub(crate) fn read(path: &Path, flag: &str) -> Result<Properties, Problem> {
    let name = path.display().to_string();
    let bytes = input::file(path).map_err(|error| {
        Problem::misuse(format!("{name} cannot be read"))
            .because(error.to_string())
            .next(format!("check the path given with {flag}"))
    })?;
    Properties::parse(&name, &decode(&bytes)).map_err(|error| {
        Problem::misuse(format!("{name} is no properties file"))
            .because(error.to_string())
            .next("correct that line; the format is that of java.util.Properties")
    })
}
