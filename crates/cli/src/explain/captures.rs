mod chunks;
mod progress;
mod shown;

use klamm_explain::capture::{Capture, FileError, Filter, Options};

use crate::block_on;
use crate::errors::Problem;
use crate::exit::Exit;
use crate::interrupt::{Interrupt, Interrupted};

use super::input::{Source, unreadable};
use super::run::{End, Explain, api};

use chunks::Chunks;
use progress::Progress;
use shown::Shown;

/// Why no more of a capture is read.
enum Outcome {
    /// All of it was read.
    Read,
    /// What it shows has nowhere to go.
    Unwanted,
    Broken(FileError),
    Interrupted(Interrupted),
}

impl Explain<'_> {
    /// Explains a capture: what its connections carry, or its messages.
    pub(super) fn capture(&self, source: Source) -> Result<Exit, End> {
        let filter = self.filter()?;
        let mut shown = Shown::new(self, filter.clone());
        let mut capture = Capture::new(Options {
            port: self.args.capture.port,
            filter,
            keeps_bytes: shown.needs_bytes(),
        });
        let name = source.name().to_owned();
        let progress = Progress::new(self.out, source.length(), shown.lists());
        // Signals are listened to between two chunks: what was read so far is summed up.
        let outcome = block_on(async {
            let mut interrupt = Interrupt::new();
            let mut chunks = Chunks::of(source);
            loop {
                let chunk = match interrupt.race(chunks.next()).await {
                    Err(interrupted) => return Ok(Outcome::Interrupted(interrupted)),
                    Ok(None) => return Ok(Outcome::Read),
                    Ok(Some(Err(error))) => return Err(unreadable(&name, &error)),
                    Ok(Some(Ok(chunk))) => chunk,
                };
                if let Err(error) = capture.push(chunk.bytes(), |event| shown.event(event)) {
                    return Ok(Outcome::Broken(error));
                }
                if !shown.flush() {
                    return Ok(Outcome::Unwanted);
                }
                progress.advance(chunk.bytes().len());
                chunks.give_back(chunk);
            }
        });
        progress.clear();
        let outcome = outcome?;
        let is_read = matches!(outcome, Outcome::Read);
        let (summary, end) = capture.finish(is_read, |event| shown.event(event));
        // What is no capture has nothing to sum up.
        if let (Outcome::Broken(error), _) | (_, Err(error)) = (&outcome, &end)
            && *error == FileError::NoCapture
        {
            return Err(broken(&name, error).into());
        }
        let is_sound = shown.finish(&summary)? && summary.is_sound();
        let problem = match outcome {
            Outcome::Interrupted(by) => {
                Problem::interrupted(by, format!("{name} is not read to its end"))
                    .next("the above is what the part that was read has")
            }
            Outcome::Broken(error) => broken(&name, &error),
            _ => match end {
                Err(error) => broken(&name, &error),
                Ok(()) if is_sound => return Ok(Exit::Done),
                Ok(()) => return Ok(Exit::Failed),
            },
        };
        Err(problem.into())
    }

    /// The messages that the flags name.
    fn filter(&self) -> Result<Filter, Problem> {
        let args = self.args;
        for (is_given, flag) in [
            (args.version.is_some(), "--version"),
            (args.body_only, "--body-only"),
        ] {
            if is_given {
                return Err(Problem::misuse(format!("{flag} is not for captures"))
                    .because("their requests say what they and their responses are")
                    .next("leave it out; --api and the flags for captures choose messages"));
            }
        }
        let capture = &args.capture;
        let apis = args.api.as_deref().map(api).transpose()?;
        Ok(Filter {
            apis: apis.into_iter().collect(),
            direction: match self.directions() {
                [direction] => Some(*direction),
                _ => None,
            },
            connection: capture.connection,
            client_id: capture.client_id.clone(),
            correlation_id: capture.correlation_id,
            errors_only: capture.errors_only,
            numbers: capture.numbers.map(|range| range.0..=range.1),
            nanos: capture.seconds.map(|range| range.0..=range.1),
        })
    }
}

fn broken(name: &str, error: &FileError) -> Problem {
    let problem = match error {
        FileError::NoCapture => Problem::misuse(format!("{name} is no capture")),
        _ => Problem::failure(format!("{name} cannot be read to its end")),
    };
    let problem = problem.because(error.to_string());
    match error {
        FileError::NoCapture => problem.next("capture with tcpdump -w FILE, or leave out --as"),
        FileError::Cut { .. } => problem.next(
            "what comes before is shown; see whether the program that captured was ended early, or \
             the disk is full",
        ),
        FileError::Broken { .. } => {
            problem.next("what comes before is shown; copy or capture the file again")
        }
    }
}
