mod capture;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, ValueEnum};
use klamm_explain::input::Form;

pub(crate) use capture::CaptureArgs;

/// Explain messages of the Kafka protocol, byte by byte.
///
/// Shows the smallest instance of any request or response: its bytes, what each of them is for, how
/// it is encoded and what it means. Decodes requests and responses from hex, base64, a file or
/// standard input in the same form; of broken ones, all that can be read. Reads captures of network
/// traffic (pcap, pcapng).
#[derive(Clone, Debug, Args)]
#[command(
    arg_required_else_help = true,
    group = ArgGroup::new("subject").required(true).args([
        "name", "all", "list", "errors", "error", "hex", "base64", "file", "site", "serve",
    ]),
    group = ArgGroup::new("bytes").args(["hex", "base64", "file"]),
    after_long_help = "\
Examples:
  Everything about a request and its response:
    klamm explain ElectLeaders

  What changed between two versions:
    klamm explain ElectLeaders --diff 1 2

  A response, from hex:
    klamm explain --hex '00 00 00 18 00 00 00 00 ...' \\
        --response --api ElectLeaders --version 2

  Requests one after the other, from standard input, as JSON:
    klamm explain --file - --output json < requests.bin

  What the connections of a capture carry; the requests of one of them:
    klamm explain --file kafka.pcap
    klamm explain --file kafka.pcap --connection 3 --request

  What an error means:
    klamm explain --error 84

  All of it in a browser, with a page that decodes:
    klamm explain --serve

Exit status:
  0    shown
  1    bytes are broken, or cannot be read
  2    misuse
  130  --serve was ended with Ctrl-C; 143 with SIGTERM

Formats of --output json: docs/explain.md"
)]
pub(crate) struct ExplainArgs {
    /// An API: its name, such as ElectLeaders, or its key, such as 43; or a type of record, such as
    /// TopicRecord.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Every API in every version.
    #[arg(long)]
    pub(crate) all: bool,

    /// List the APIs.
    #[arg(long)]
    pub(crate) list: bool,

    /// With --list: the types of records in Apache Kafka's own topics instead.
    #[arg(long, requires = "list")]
    pub(crate) records: bool,

    /// List the error codes.
    #[arg(long)]
    pub(crate) errors: bool,

    /// Explain an error: its code, such as 84, or its name.
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true)]
    pub(crate) error: Option<String>,

    /// Write pages for a browser to a folder: all of this, with search.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["request", "response", "output"])]
    pub(crate) site: Option<PathBuf>,

    /// Serve the pages on this machine, with one that decodes bytes, captures and logs.
    #[arg(long, conflicts_with_all = ["request", "response", "output"])]
    pub(crate) serve: bool,

    /// The version; the latest stable one without it.
    #[arg(
        long,
        value_name = "N",
        conflicts_with_all = ["all", "list", "errors", "error", "diff", "site", "serve"]
    )]
    pub(crate) version: Option<i16>,

    /// Only the request; the bytes are a request, which is what they are taken for.
    #[arg(long, conflicts_with_all = ["response", "list", "errors", "error"])]
    pub(crate) request: bool,

    /// Only the response; the bytes are a response, to what --api and --version say.
    #[arg(long, conflicts_with_all = ["list", "errors", "error"])]
    pub(crate) response: bool,

    /// What changed between two versions.
    #[arg(
        long,
        num_args = 2,
        value_names = ["FROM", "TO"],
        conflicts_with_all = ["all", "list", "errors", "error", "bytes", "site", "serve"]
    )]
    pub(crate) diff: Option<Vec<i16>>,

    /// Decode hexadecimal digits; - reads them from standard input.
    #[arg(long, value_name = "HEX", help_heading = "Bytes")]
    pub(crate) hex: Option<String>,

    /// Decode base64; - reads it from standard input.
    #[arg(
        long,
        value_name = "BASE64",
        help_heading = "Bytes",
        allow_hyphen_values = true
    )]
    pub(crate) base64: Option<String>,

    /// Decode the bytes of a file; - is standard input.
    #[arg(long, value_name = "FILE", help_heading = "Bytes")]
    pub(crate) file: Option<PathBuf>,

    /// What the bytes are, where it cannot be told from how they begin and from the file's name.
    #[arg(
        long = "as",
        value_name = "FORM",
        help_heading = "Bytes",
        value_parser = form_parser()
    )]
    pub(crate) form: Option<Form>,

    /// Show what a log or a capture holds byte by byte, instead of a line each.
    #[arg(long, help_heading = "Bytes")]
    pub(crate) tree: bool,

    /// Records from this offset on.
    #[arg(long, value_name = "OFFSET", help_heading = "Logs")]
    pub(crate) from_offset: Option<i64>,

    /// Records up to this offset.
    #[arg(long, value_name = "OFFSET", help_heading = "Logs")]
    pub(crate) to_offset: Option<i64>,

    /// Records of this type, such as TopicRecord, OffsetCommit, COMMIT, control or data; may be
    /// repeated.
    #[arg(
        long = "type",
        value_name = "TYPE",
        help_heading = "Logs",
        value_delimiter = ','
    )]
    pub(crate) types: Vec<String>,

    /// The topic that the log is of, where its directory's name does not say it.
    #[arg(long, value_name = "TOPIC", help_heading = "Logs")]
    pub(crate) topic: Option<String>,

    /// The API of a response, or of a body; of a capture, the API whose messages are shown.
    #[arg(long, value_name = "API", help_heading = "Bytes")]
    pub(crate) api: Option<String>,

    /// The bytes are a body alone, without size and header.
    #[arg(long, help_heading = "Bytes", requires = "api")]
    pub(crate) body_only: bool,

    /// Show passwords, tokens and keys, which are left out otherwise.
    #[arg(long, help_heading = "Bytes")]
    pub(crate) show_secrets: bool,

    /// The form of the results.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
}

impl ExplainArgs {
    /// Whether bytes are given.
    pub(crate) fn has_bytes(&self) -> bool {
        self.hex.is_some() || self.base64.is_some() || self.file.is_some()
    }
}

/// The form of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
    /// A page for a browser.
    Html,
}

/// Takes a form by its name.
fn form_parser() -> impl TypedValueParser<Value = Form> {
    let name_of = |name: String| {
        let mut forms = Form::ALL.into_iter();
        forms.find(|form| form.name() == name).ok_or("no such form")
    };
    PossibleValuesParser::new(Form::ALL.map(Form::name)).try_map(name_of)
}
