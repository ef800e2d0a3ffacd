use klamm_explain::decode::{self, Frames};
use klamm_explain::{Direction, Options, Tree, apis, find_api, json, text};
use klamm_protocol::{ApiKey, ApiVersion, Bytes};

use crate::errors::Problem;
use crate::exit::Exit;
use crate::output::{Output, WriteError};

use super::args::{ExplainArgs, TextOrJson};
use super::input;

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
enum End {
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

struct Explain<'a> {
    args: &'a ExplainArgs,
    out: &'a Output,
}

impl Explain<'_> {
    fn run(&self) -> Result<Exit, End> {
        let args = self.args;
        if let Some(name) = &args.name {
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
            let text = match args.output {
                TextOrJson::Text => text::list(self.look()),
                TextOrJson::Json => json::list(),
            };
            self.out.results(&text)?;
        } else if args.errors {
            let text = match args.output {
                TextOrJson::Text => text::errors(self.look()),
                TextOrJson::Json => json::errors(),
            };
            self.out.results(&text)?;
        } else if let Some(name) = &args.error {
            self.error(name)?;
        } else {
            return self.decode();
        }
        Ok(Exit::Done)
    }

    fn look(&self) -> text::Look {
        let look = self.out.look();
        text::Look {
            colour: look.colour,
            width: look.width,
        }
    }

    fn directions(&self) -> &'static [Direction] {
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
            TextOrJson::Text => text::page(api, self.directions(), self.look()),
            TextOrJson::Json => self
                .directions()
                .iter()
                .map(|direction| json::smallest(api, *direction).map(|line| line + "\n"))
                .collect(),
        };
        let text = text.map_err(|_| no_version(api.key, api.version))?;
        Ok(self.out.results(&text)?)
    }

    fn all(&self) -> Result<(), End> {
        let mut is_first = true;
        for key in apis() {
            for version in key.coded_versions().iter() {
                if self.args.output == TextOrJson::Text && !is_first {
                    self.out.results("\n\n")?;
                }
                is_first = false;
                self.page(ApiVersion { key, version })?;
            }
        }
        Ok(())
    }

    fn diff(&self, key: ApiKey, versions: (i16, i16)) -> Result<(), End> {
        if self.args.output == TextOrJson::Json {
            let problem = Problem::misuse("--diff has no JSON")
                .next("compare the trees of the two versions, each with --output json");
            return Err(problem.into());
        }
        let text = text::changes(key, versions, self.directions(), self.look())
            .map_err(|error| no_version(key, error.0.api.version))?;
        Ok(self.out.results(&text)?)
    }

    fn error(&self, name: &str) -> Result<(), End> {
        let text = match self.args.output {
            TextOrJson::Text => text::error(name, self.look()),
            TextOrJson::Json => json::error(name),
        };
        let text = text.map_err(|error| {
            Problem::misuse(error.to_string()).next("klamm explain --errors lists them")
        })?;
        Ok(self.out.results(&text)?)
    }

    fn decode(&self) -> Result<Exit, End> {
        let args = self.args;
        let options = Options {
            show_secrets: args.show_secrets,
            ..Options::default()
        };
        let api = self.announced()?;
        let bytes = Bytes::from(input::bytes(args)?);
        if bytes.is_empty() {
            return Err(Problem::misuse("there are no bytes")
                .next("give a frame: its size, its header and its body")
                .into());
        }
        if args.body_only {
            let direction = if args.response {
                Direction::Response
            } else {
                Direction::Request
            };
            let Some(api) = api else {
                return Ok(Exit::Done);
            };
            let tree = decode::body(bytes, api, direction, &options);
            return self.show(&tree, None);
        }
        let is_one = Frames::new(bytes.clone()).nth(1).is_none();
        let mut exit = Exit::Done;
        for frame in Frames::new(bytes) {
            let tree = match api {
                Some(api) => decode::response(frame.bytes, api, &options),
                None => decode::request(frame.bytes, &options),
            };
            let place = (!is_one).then_some(frame.offset);
            if self.show(&tree, place)? != Exit::Done {
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    }

    /// The API and version that the flags name, for bytes that do not say it themselves.
    fn announced(&self) -> Result<Option<ApiVersion>, Problem> {
        let args = self.args;
        let Some(name) = &args.api else {
            if args.response {
                return Err(Problem::misuse("--response needs --api")
                    .because("a response does not say which request it answers")
                    .next("give the API, and with --version its version"));
            }
            if args.version.is_some() {
                return Err(Problem::misuse("--version needs --api")
                    .because("a request says its version itself")
                    .next("leave it out, or give --api and --response or --body-only"));
            }
            return Ok(None);
        };
        if !args.response && !args.body_only {
            return Err(Problem::misuse("--api needs --response or --body-only")
                .because("a request with its header says its API itself")
                .next("leave it out, or say what the bytes are"));
        }
        let key = api(name)?;
        let version = version(key, args.version)?;
        if !key.coded_versions().contains(version) {
            return Err(no_version(key, version));
        }
        Ok(Some(ApiVersion { key, version }))
    }

    /// Shows what was decoded. Broken bytes are a failure, though they are shown.
    fn show(&self, tree: &Tree, place: Option<usize>) -> Result<Exit, End> {
        let text = match self.args.output {
            TextOrJson::Json => json::decoded(tree, place) + "\n",
            TextOrJson::Text => {
                let decoded = text::decoded(tree, self.look());
                match place {
                    Some(0) => format!("At byte 0: {decoded}"),
                    Some(place) => format!("\nAt byte {place}: {decoded}"),
                    None => decoded,
                }
            }
        };
        self.out.results(&text)?;
        Ok(if tree.is_sound() {
            Exit::Done
        } else {
            Exit::Failed
        })
    }
}

fn api(name: &str) -> Result<ApiKey, Problem> {
    find_api(name).map_err(|error| {
        let problem = Problem::misuse(error.to_string());
        match error.similar.as_slice() {
            [] => problem.next("klamm explain --list lists them"),
            similar => problem.next(format!("perhaps it is {}", similar.join(", or "))),
        }
    })
}

/// The version asked for, or the latest that is stable.
fn version(key: ApiKey, version: Option<i16>) -> Result<i16, Problem> {
    let latest = key.stable_versions().max;
    match version {
        Some(version) => Ok(version),
        None if key.coded_versions().is_empty() => Err(no_version(key, latest)),
        None => Ok(latest),
    }
}

fn no_version(key: ApiKey, version: i16) -> Problem {
    let coded = key.coded_versions();
    if coded.is_empty() {
        return Problem::misuse(format!("{key} has no version any more"))
            .because("Apache Kafka removed it from the protocol in 4.0")
            .next("klamm explain --list lists the APIs");
    }
    Problem::misuse(format!("{key} has no version {version}"))
        .next(format!("its versions are {coded}"))
}
