use clap::Args;

/// Flags for captures alone.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Captures")]
pub(crate) struct CaptureArgs {
    /// List the messages, a line each. So do the flags below that choose messages, and --api,
    /// --request and --response.
    #[arg(long)]
    pub(crate) messages: bool,

    /// Show only what each connection has, which is what text shows without other flags.
    #[arg(
        long,
        conflicts_with_all = [
            "messages", "tree", "api", "request", "response", "connection", "client_id",
            "correlation_id", "errors_only", "numbers", "seconds",
        ]
    )]
    pub(crate) summary: bool,

    /// Only connections with this port, which is taken for the server's; the port that --serve
    /// listens on, else a free one.
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,

    /// Messages of this connection; the summary numbers them.
    #[arg(long, value_name = "N")]
    pub(crate) connection: Option<usize>,

    /// Messages with this client id, and the responses to them.
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,

    /// Messages with this correlation id.
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    pub(crate) correlation_id: Option<i32>,

    /// Responses that carry an error, and messages that are broken or incomplete.
    #[arg(long)]
    pub(crate) errors_only: bool,

    /// Messages with these numbers, such as 5, 5..20 or 5.. .
    #[arg(long, value_name = "RANGE", value_parser = numbers)]
    pub(crate) numbers: Option<Range>,

    /// Messages so many seconds after the first packet, such as 1.5..3 or ..10 .
    #[arg(long, value_name = "RANGE", value_parser = nanos)]
    pub(crate) seconds: Option<Range>,
}

/// From the first to the second, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range(pub(crate) u64, pub(crate) u64);

impl CaptureArgs {
    /// The first of the flags that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        self.given().next()
    }

    /// The flags that are given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        [
            (self.messages, "--messages"),
            (self.summary, "--summary"),
            (self.port.is_some(), "--port"),
            (self.connection.is_some(), "--connection"),
            (self.client_id.is_some(), "--client-id"),
            (self.correlation_id.is_some(), "--correlation-id"),
            (self.errors_only, "--errors-only"),
            (self.numbers.is_some(), "--numbers"),
            (self.seconds.is_some(), "--seconds"),
        ]
        .into_iter()
        .filter_map(|(is_given, flag)| is_given.then_some(flag))
    }
}

fn numbers(text: &str) -> Result<Range, String> {
    range(text, |text| text.parse().ok())
}

fn nanos(text: &str) -> Result<Range, String> {
    range(text, |text| {
        let seconds: f64 = text.parse().ok()?;
        // Beyond that, captures have no times.
        const MOST_SECONDS: f64 = 1e10;
        (0.0..=MOST_SECONDS)
            .contains(&seconds)
            .then_some((seconds * 1e9) as u64)
    })
}

fn range(text: &str, parse: impl Fn(&str) -> Option<u64>) -> Result<Range, String> {
    let end = |text: &str, open: u64| match text.trim() {
        "" => Some(open),
        text => parse(text),
    };
    let ends = match text.split_once("..") {
        Some((from, to)) => end(from, 0).zip(end(to, u64::MAX)),
        None => parse(text.trim()).map(|one| (one, one)),
    };
    match ends {
        Some((from, to)) if from <= to => Ok(Range(from, to)),
        Some(_) => Err("it ends before it begins".into()),
        None => Err("it is no range: give FROM..TO, FROM.. or ..TO".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_in_their_forms() {
        for (text, from, to) in [
            ("5", 5, 5),
            ("5..20", 5, 20),
            ("..7", 0, 7),
            ("3..", 3, u64::MAX),
        ] {
            assert_eq!(numbers(text), Ok(Range(from, to)), "{text}");
        }
        assert_eq!(nanos("1.5..3"), Ok(Range(1_500_000_000, 3_000_000_000)));
        for text in ["", "x", "5..3", "1..2..3", "-1..2"] {
            assert!(numbers(text).is_err(), "{text}");
            assert!(nanos(text).is_err(), "{text}");
        }
        assert!(nanos("1e300").is_err());
    }
}
