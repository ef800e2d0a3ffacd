use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use klamm_explain::input;

use crate::errors::Problem;
use crate::input::limited;

use super::args::ExplainArgs;

/// The most bytes that are read: more than ten of the largest requests that a broker takes by
/// default.
const MOST_BYTES: u64 = 1 << 30;

/// The bytes that the flags name.
pub(super) fn bytes(args: &ExplainArgs) -> Result<Vec<u8>, Problem> {
    if let Some(text) = &args.hex {
        let text = text_of("--hex", text)?;
        return input::hex(&text).map_err(|error| {
            Problem::misuse("--hex is not hexadecimal")
                .because(error.to_string())
                .next("give two digits a byte; for the bytes themselves there is --file")
        });
    }
    if let Some(text) = &args.base64 {
        let text = text_of("--base64", text)?;
        return input::base64(&text).map_err(|error| {
            Problem::misuse("--base64 is not base64")
                .because(error.to_string())
                .next("give base64 alone, without what is around it")
        });
    }
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    if path == Path::new("-") {
        return read(io::stdin().lock(), "standard input");
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        Problem::misuse(format!("{name} cannot be read"))
            .because(error.to_string())
            .next("check the path given with --file")
    })?;
    read(file, &name)
}

fn text_of(flag: &str, text: &str) -> Result<String, Problem> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let bytes = read(io::stdin().lock(), "standard input")?;
    String::from_utf8(bytes).map_err(|_| {
        Problem::misuse(format!("{flag} -: standard input is no text"))
            .next("for bytes as they are there is --file -")
    })
}

fn read(source: impl Read, name: &str) -> Result<Vec<u8>, Problem> {
    limited(source, MOST_BYTES).map_err(|error| {
        Problem::failure(format!("{name} cannot be read"))
            .because(error.to_string())
            .next("see whether it can be read to its end, or cut out the frames in question")
    })
}
