use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use klamm_explain::input::{self, Form, START_BYTES};

use crate::errors::Problem;
use crate::input::{limited, too_long};

use super::args::ExplainArgs;

/// The most bytes that are read at once: more than ten of the largest requests that a broker takes
/// by default.
const MOST_BYTES: u64 = 1 << 30;

/// What the flags name.
pub(super) enum Input {
    Directory(PathBuf),
    Source(Source),
}

/// Bytes of which the start is read.
pub(super) struct Source {
    name: String,
    path: Option<PathBuf>,
    start: Cursor<Vec<u8>>,
    rest: Box<dyn Read + Send>,
    length: Option<u64>,
}

/// Opens what the flags name.
pub(super) fn open(args: &ExplainArgs) -> Result<Input, Problem> {
    if let Some(text) = &args.hex {
        let text = text_of("--hex", text)?;
        let bytes = input::hex(&text).map_err(|error| {
            Problem::misuse("--hex is not hexadecimal")
                .because(error.to_string())
                .next("give two digits a byte; for the bytes themselves there is --file")
        })?;
        return Source::new("--hex", None, Cursor::new(bytes)).map(Input::Source);
    }
    if let Some(text) = &args.base64 {
        let text = text_of("--base64", text)?;
        let bytes = input::base64(&text).map_err(|error| {
            Problem::misuse("--base64 is not base64")
                .because(error.to_string())
                .next("give base64 alone, without what is around it")
        })?;
        return Source::new("--base64", None, Cursor::new(bytes)).map(Input::Source);
    }
    let path = args.file.as_deref().unwrap_or(Path::new("-"));
    if path == Path::new("-") {
        return Source::new("standard input", None, io::stdin()).map(Input::Source);
    }
    if path.is_dir() {
        return Ok(Input::Directory(path.to_owned()));
    }
    Source::file(path).map(Input::Source)
}

impl Source {
    /// Opens a file.
    pub(super) fn file(path: &Path) -> Result<Self, Problem> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| {
            Problem::misuse(format!("{name} cannot be read"))
                .because(error.to_string())
                .next("check the path given with --file")
        })?;
        let metadata = file.metadata().ok().filter(|metadata| metadata.is_file());
        Ok(Self {
            length: metadata.map(|metadata| metadata.len()),
            ..Self::new(&name, Some(path), file)?
        })
    }

    /// How many bytes there are, if that is known.
    pub(super) fn length(&self) -> Option<u64> {
        self.length
    }

    fn new(
        name: &str,
        path: Option<&Path>,
        mut from: impl Read + Send + 'static,
    ) -> Result<Self, Problem> {
        let mut start = Vec::new();
        from.by_ref()
            .take(START_BYTES as u64)
            .read_to_end(&mut start)
            .map_err(|error| unreadable(name, &error))?;
        Ok(Self {
            name: name.to_owned(),
            path: path.map(Path::to_owned),
            start: Cursor::new(start),
            rest: Box::new(from),
            length: None,
        })
    }

    /// What to call it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// What its bytes are.
    pub(super) fn form(&self) -> Form {
        Form::tell(self.start.get_ref(), self.file_name().as_deref())
    }

    /// The name of its file.
    pub(super) fn file_name(&self) -> Option<String> {
        let name = self.path.as_deref()?.file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    /// The name of the directory that it is in.
    pub(super) fn directory(&self) -> Option<String> {
        let path = self.path.as_deref()?.canonicalize().ok()?;
        Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
    }

    /// All of its bytes.
    pub(super) fn read_all(self) -> Result<Vec<u8>, Problem> {
        let name = self.name.clone();
        self.read_at_most(MOST_BYTES)
            .map_err(|error| unreadable(&name, &error))
    }

    /// All of its bytes, unless there are more.
    pub(super) fn read_at_most(self, most: u64) -> io::Result<Vec<u8>> {
        // What says its length is not read first, and refused then.
        if self.length.is_some_and(|length| length > most) {
            return Err(too_long(most));
        }
        limited(self, most)
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.start.read(into)? {
            0 => self.rest.read(into),
            read => Ok(read),
        }
    }
}

fn text_of(flag: &str, text: &str) -> Result<String, Problem> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let bytes =
        limited(io::stdin(), MOST_BYTES).map_err(|error| unreadable("standard input", &error))?;
    String::from_utf8(bytes).map_err(|_| {
        Problem::misuse(format!("{flag} -: standard input is no text"))
            .next("for bytes as they are there is --file -")
    })
}

pub(super) fn unreadable(name: &str, error: &io::Error) -> Problem {
    Problem::failure(format!("{name} cannot be read"))
        .because(error.to_string())
        .next("see whether it can be read to its end, or cut out the bytes in question")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that nobody is to read.
    struct Unread;

    impl Read for Unread {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("it was read")
        }
    }

    #[test]
    fn what_says_that_it_is_too_long_is_not_read() {
        let source = Source {
            name: "long.bin".to_owned(),
            path: None,
            start: Cursor::default(),
            rest: Box::new(Unread),
            length: Some(MOST_BYTES + 1),
        };
        assert!(source.read_all().is_err());
    }
}
