//! Whether the flags fit what the bytes are. A flag that would change nothing is refused: who gives
//! it expects something of it.

use std::path::Path;

use klamm_explain::input::Form;

use crate::errors::Problem;

use super::args::Format;
use super::run::Explain;

impl Explain<'_> {
    /// Refuses flags that are for bytes where none are given.
    pub(super) fn fits_subject(&self) -> Result<(), Problem> {
        let args = self.args;
        if args.has_bytes() {
            return Ok(());
        }
        // --serve takes bytes, too, and a port to listen on.
        let of_served = ["--port", "--show-secrets"];
        let flags = [
            ("--as", args.form.is_some()),
            ("--tree", args.tree),
            ("--api", args.api.is_some()),
            ("--body-only", args.body_only),
            ("--show-secrets", args.show_secrets),
        ];
        let flags = given(&flags)
            .chain(self.given_for_logs())
            .chain(args.capture.given());
        let mut wrong = flags.filter(|flag| !(args.serve && of_served.contains(flag)));
        match wrong.next() {
            None => Ok(()),
            Some(flag) => Err(Problem::misuse(format!("{flag} is for bytes"))
                .because("none are given")
                .next("give them with --hex, --base64 or --file, or leave it out")),
        }
    }

    /// Refuses flags that say nothing of bytes of this form.
    pub(super) fn fits(&self, name: &str, form: Form) -> Result<(), Problem> {
        let for_captures = self.args.capture.first_given();
        let for_logs = self.for_logs();
        let wrong = match form {
            Form::Frames => for_captures
                .map(|flag| (flag, CAPTURES))
                .or(for_logs.map(|flag| (flag, LOGS))),
            Form::Pcap | Form::Pcapng => for_logs.map(|flag| (flag, LOGS)),
            _ => for_captures.map(|flag| (flag, CAPTURES)),
        };
        match wrong {
            None => self.fits_page(form),
            Some((flag, (what, forms))) => Err(Problem::misuse(format!("{flag} is for {what}"))
                .because(format!("{name} is taken for {}", form.name()))
                .next(format!("leave it out, or say with --as that it is {forms}"))),
        }
    }

    /// Refuses flags that say nothing of a directory.
    pub(super) fn fits_directory(&self, path: &Path) -> Result<(), Problem> {
        let name = path.display();
        let next = "leave it out, or give one of its files";
        if self.args.output == Format::Html {
            return Err(Problem::misuse("--output html is for a single file")
                .because(format!("{name} is a directory"))
                .next(next));
        }
        let form = self.args.form.map(|_| "--as");
        match self.args.capture.first_given().or(form) {
            None => Ok(()),
            Some(flag) => Err(
                Problem::misuse(format!("{flag} does not go with a directory"))
                    .because(format!("{name} is one, and is taken for that of a log"))
                    .next(next),
            ),
        }
    }

    /// Refuses flags that choose, if the result is a page for a browser.
    fn fits_page(&self, form: Form) -> Result<(), Problem> {
        let args = self.args;
        if args.output != Format::Html {
            return Ok(());
        }
        let of_frames = [
            ("--api", args.api.is_some()),
            ("--request", args.request),
            ("--response", args.response),
            ("--version", args.version.is_some()),
            ("--body-only", args.body_only),
        ];
        let of_frames = given(&of_frames).next().filter(|_| form != Form::Frames);
        let flag = args.capture.first_given().or(of_frames);
        match flag.or(self.for_logs().filter(|flag| *flag != "--topic")) {
            None => Ok(()),
            Some(flag) => Err(
                Problem::misuse(format!("{flag} does not go with --output html"))
                    .because("a page shows all of the bytes, from the start to its limit")
                    .next("leave it out, or have text or JSON"),
            ),
        }
    }

    /// The first of the flags for logs alone that is given.
    fn for_logs(&self) -> Option<&'static str> {
        self.given_for_logs().next()
    }

    fn given_for_logs(&self) -> impl Iterator<Item = &'static str> + use<> {
        let args = self.args;
        given(&[
            ("--from-offset", args.from_offset.is_some()),
            ("--to-offset", args.to_offset.is_some()),
            ("--type", !args.types.is_empty()),
            ("--topic", args.topic.is_some()),
        ])
    }
}

/// What flags are for, and the forms of it.
const CAPTURES: (&str, &str) = ("captures", "pcap or pcapng");
const LOGS: (&str, &str) = ("logs", "log or snapshot");

fn given<const N: usize>(
    flags: &[(&'static str, bool); N],
) -> impl Iterator<Item = &'static str> + use<N> {
    let given = flags.map(|(flag, is_given)| is_given.then_some(flag));
    given.into_iter().flatten()
}
