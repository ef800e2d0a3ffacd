use std::path::Path;

use klamm_explain::input::Form;
use klamm_explain::{Direction, Options, RecordType, apis, find_api, html, json, text};
use klamm_protocol::{ApiKey, ApiVersion};

use crate::errors::Problem;
use crate::exit::Exit;
use crate::output::{Output, WriteError};

use super::args::{ExplainArgs, Format};
use super::input::{self, Input};
use super::site;

/// Runs `klamm explain`.
pub(crate) fn run(args: &ExplainArgs, out: &Output) -> Result<Exit, Problem> {
    let result = Explain { args, out }.run();
    match result {
        Ok(exit) => Ok(exit),
        Err(End::Closed) => Ok(Exit::Done),
        Err(End::Problem(problem)) => Err(problem),
    }
}

/// Why it ends early.
pub(super) enum End {
    /// The reader of the results went away.
    Closed,
    Problem(Problem),
}

impl From<Problem> for End {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<WriteError> for End {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Closed => Self::Closed,
            WriteError::Problem(problem) => Self::Problem(problem),
        }
    }
}

pub(super) struct Explain<'a> {
    pub(super) args: &'a ExplainArgs,
    pub(super) out: &'a Output,
}

impl Explain<'_> {
    fn run(&self) -> Result<Exit, End> {
        let args = self.args;
        self.fits_subject()?;
        if args.output == Format::Html {
            return self.html();
        }
        if let Some(name) = &args.name {
            if let (Err(_), Some(kind)) = (find_api(name), RecordType::find(name)) {
                self.record(kind)?;
                return Ok(Exit::Done);
            }
            let key = api(name)?;
            match args.diff.as_deref() {
                Some(&[from, to]) => self.diff(key, (from, to))?,
                _ => self.page(ApiVersion {
                    key,
                    version: version(key, args.version)?,
                })?,
            }
        } else if args.all {
            self.all()?;
        } else if args.list {
            let text = match (args.output, args.records) {
                (Format::Text | Format::Html, false) => text::list(self.look()),
                (Format::Text | Format::Html, true) => text::record_list(self.look()),
                (Format::Json, false) => json::list(),
                (Format::Json, true) => json::record_list(),
            };
            self.out.results(&text)?;
        } else if args.errors {
            let text = match args.output {
                Format::Text | Format::Html => text::errors(self.look()),
                Format::Json => json::errors(),
            };
            self.out.results(&text)?;
        } else if let Some(name) = &args.error {
            self.error(name)?;
        } else if let Some(folder) = &args.site {
            let pages = site::write(folder)?;
            let first = folder.join("index.html");
            let text = format!("{pages} pages; the first is {}\n", first.display());
            self.out.results(&text)?;
        } else if args.serve {
            return self.serve();
        } else {
            return self.decode();
        }
        Ok(Exit::Done)
    }

    pub(super) fn look(&self) -> text::Look {
        let look = self.out.look();
        text::Look {
            colour: look.colour,
            width: look.width,
        }
    }

    pub(super) fn directions(&self) -> &'static [Direction] {
        if self.args.request {
            &[Direction::Request]
        } else if self.args.response {
            &[Direction::Response]
        } else {
            &Direction::BOTH
        }
    }

    fn page(&self, api: ApiVersion) -> Result<(), End> {
        let text = match self.args.output {
            Format::Text | Format::Html => text::page(api, self.directions(), self.look()),
            Format::Json => self
                .directions()
                .iter()
                .map(|direction| json::smallest(api, *direction).map(|line| line + "\n"))
                .collect(),
        };
        let text = text.map_err(|_| no_version(api.key, api.version))?;
        Ok(self.out.results(&text)?)
    }

    /// The page of a type of record.
    fn record(&self, kind: &'static RecordType) -> Result<(), End> {
        let args = self.args;
        if args.diff.is_some() || args.request || args.response {
            return Err(
                Problem::misuse(format!("{} is a type of record", kind.name))
                    .because("records are in logs; they are neither requests nor responses")
                    .next("give --version alone")
                    .into(),
            );
        }
        let valid = kind.value.valid_versions;
        let version = args.version.unwrap_or(valid.max);
        let text = match args.output {
            Format::Text | Format::Html => text::record_page(kind, version, self.look()),
            Format::Json => json::smallest_record_lines(kind, version),
        };
        let text = text.map_err(|error| {
            Problem::misuse(error.to_string()).next(format!("its versions are {valid}"))
        })?;
        Ok(self.out.results(&text)?)
    }

    fn all(&self) -> Result<(), End> {
        let mut is_first = true;
        for key in apis() {
            for version in key.coded_versions().iter() {
                if self.args.output == Format::Text && !is_first {
                    self.out.results("\n\n")?;
                }
                is_first = false;
                self.page(ApiVersion { key, version })?;
            }
        }
        Ok(())
    }

    fn diff(&self, key: ApiKey, versions: (i16, i16)) -> Result<(), End> {
        let text = match self.args.output {
            Format::Text | Format::Html => {
                text::changes(key, versions, self.directions(), self.look())
            }
            Format::Json => self
                .directions()
                .iter()
                .map(|direction| json::changes(key, versions, *direction).map(|line| line + "\n"))
                .collect(),
        };
        let text = text.map_err(|error| no_version(key, error.api.version))?;
        Ok(self.out.results(&text)?)
    }

    /// A page for a browser with all that it needs in it.
    fn html(&self) -> Result<Exit, End> {
        let args = self.args;
        if args.has_bytes() {
            return self.decoded_page();
        }
        let (Some(name), None) = (&args.name, &args.diff) else {
            return Err(Problem::misuse("--output html is for an API, or for bytes")
                .next("for all there is, klamm explain --site DIR")
                .into());
        };
        let key = api(name).map_err(|problem| match RecordType::find(name) {
            None => problem,
            Some(kind) => Problem::misuse("--output html is for an API, or for bytes")
                .because(format!("{} is a type of record", kind.name))
                .next("have text or JSON; for all there is, klamm explain --site DIR"),
        })?;
        let version = version(key, args.version)?;
        let page = html::api_page(ApiVersion { key, version });
        let page = page.map_err(|_| no_version(key, version))?;
        self.out.results(&page)?;
        Ok(Exit::Done)
    }

    fn decoded_page(&self) -> Result<Exit, End> {
        let args = self.args;
        let source = match input::open(args)? {
            Input::Directory(path) => return self.directory(&path),
            Input::Source(source) => source,
        };
        let form = args.form.unwrap_or(source.form());
        self.fits(source.name(), form)?;
        let api = match form {
            Form::Frames => self.announced()?,
            _ => None,
        };
        let ask = html::Ask {
            form: Some(form),
            contents: Some(self.contents(&source, form)),
            name: source.file_name(),
            api,
            body: args.body_only.then_some(self.body_direction()),
            options: self.options(),
        };
        let bytes = source.read_all()?;
        if bytes.is_empty() && form == Form::Frames {
            return Err(no_bytes().into());
        }
        let decoded = html::decoded_page(bytes.into(), &ask);
        self.out.results(&decoded.html)?;
        Ok(if decoded.is_sound {
            Exit::Done
        } else {
            Exit::Failed
        })
    }

    fn error(&self, name: &str) -> Result<(), End> {
        let text = match self.args.output {
            Format::Text | Format::Html => text::error(name, self.look()),
            Format::Json => json::error(name),
        };
        let text = text.map_err(|error| {
            Problem::misuse(error.to_string()).next("klamm explain --errors lists them")
        })?;
        Ok(self.out.results(&text)?)
    }

    /// Explains the bytes that the flags name, by what they are.
    fn decode(&self) -> Result<Exit, End> {
        let source = match input::open(self.args)? {
            Input::Directory(path) => return self.directory(&path),
            Input::Source(source) => source,
        };
        let form = self.args.form.unwrap_or(source.form());
        self.fits(source.name(), form)?;
        match form {
            Form::Frames => self.frames(source),
            Form::Pcap | Form::Pcapng => self.capture(source),
            form => self.log_file(source, form),
        }
    }

    pub(super) fn options(&self) -> Options {
        Options {
            show_secrets: self.args.show_secrets,
            ..Options::default()
        }
    }
}

pub(super) fn no_bytes() -> Problem {
    Problem::misuse("there are no bytes").next("give a frame: its size, its header and its body")
}

pub(super) fn api(name: &str) -> Result<ApiKey, Problem> {
    find_api(name).map_err(|error| {
        let problem = Problem::misuse(error.to_string());
        if Path::new(name).exists() {
            return problem.next(format!("to read what is there, --file {name}"));
        }
        match error.similar.as_slice() {
            [] => problem.next("klamm explain --list lists them"),
            similar => problem.next(format!("perhaps it is {}", similar.join(", or "))),
        }
    })
}

/// The version asked for, or the latest that is stable.
pub(super) fn version(key: ApiKey, version: Option<i16>) -> Result<i16, Problem> {
    let latest = key.stable_versions().max;
    match version {
        Some(version) => Ok(version),
        None if key.coded_versions().is_empty() => Err(no_version(key, latest)),
        None => Ok(latest),
    }
}

pub(super) fn no_version(key: ApiKey, version: i16) -> Problem {
    let coded = key.coded_versions();
    if coded.is_empty() {
        return Problem::misuse(format!("{key} has no version any more"))
            .because("Apache Kafka removed it from the protocol in 4.0")
            .next("klamm explain --list lists the APIs");
    }
    Problem::misuse(format!("{key} has no version {version}"))
        .next(format!("its versions are {coded}"))
}
