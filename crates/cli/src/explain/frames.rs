use klamm_explain::decode::{self, Stream};
use klamm_explain::{Direction, Tree, is_readable, json, text};
use klamm_protocol::{ApiVersion, Bytes};

use crate::errors::Problem;
use crate::exit::Exit;

use super::args::Format;
use super::input::Source;
use super::run::{End, Explain, api, no_bytes, no_version, version};

impl Explain<'_> {
    /// Explains frames, one after the other, or a body.
    pub(super) fn frames(&self, source: Source) -> Result<Exit, End> {
        let args = self.args;
        let options = self.options();
        let api = self.announced()?;
        let bytes = Bytes::from(source.read_all()?);
        if bytes.is_empty() {
            return Err(no_bytes().into());
        }
        if args.body_only {
            let Some(api) = api else {
                return Ok(Exit::Done);
            };
            let tree = decode::body(bytes, api, self.body_direction(), &options);
            return self.show(&tree, None);
        }
        let stream = Stream::new(bytes, api, &options);
        let is_single = stream.is_single();
        let mut exit = Exit::Done;
        for (offset, tree) in stream {
            let place = (!is_single).then_some(offset);
            if self.show(&tree, place)? != Exit::Done {
                exit = Exit::Failed;
            }
        }
        Ok(exit)
    }

    /// Which way a body goes.
    pub(super) fn body_direction(&self) -> Direction {
        if self.args.response {
            Direction::Response
        } else {
            Direction::Request
        }
    }

    /// The API and version that the flags name, for bytes that do not say it themselves.
    pub(super) fn announced(&self) -> Result<Option<ApiVersion>, Problem> {
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
        let api = ApiVersion { key, version };
        if !is_readable(api, self.body_direction()) {
            return Err(no_version(key, version));
        }
        Ok(Some(api))
    }

    /// Shows what was decoded. Broken bytes are a failure, though they are shown.
    pub(super) fn show(&self, tree: &Tree, place: Option<usize>) -> Result<Exit, End> {
        match self.args.output {
            Format::Json => self.out.results(&json::decoded(tree, place))?,
            Format::Text | Format::Html => {
                let decoded = text::decoded(tree, self.look());
                self.out.results(&match place {
                    Some(0) => format!("At byte 0: {decoded}"),
                    Some(place) => format!("\nAt byte {place}: {decoded}"),
                    None => decoded,
                })?;
            }
        }
        Ok(if tree.is_sound() {
            Exit::Done
        } else {
            Exit::Failed
        })
    }
}
