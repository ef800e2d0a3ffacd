//! Captures: made here packet by packet, and recorded from real clients.

pub(crate) mod build;
mod conversations;
mod damage;
mod forms;
mod real;
mod recorded;
mod versions;

use klamm_explain::capture::{Capture, Event, FileError, Finding, Message, Options, Summary};

/// What a capture was read as.
#[derive(Debug, PartialEq)]
struct Read {
    messages: Vec<Message>,
    findings: Vec<Finding>,
    summary: Summary,
    end: Result<(), FileError>,
}

/// Reads a capture in pieces of `step` bytes.
fn read_in_steps(file: &[u8], step: usize, options: Options) -> Read {
    let mut capture = Capture::new(options);
    let (mut messages, mut findings) = (Vec::new(), Vec::new());
    let mut sink = |event| match event {
        Event::Start(_) => {}
        Event::Message(message) => messages.push(message),
        Event::Finding(finding) => findings.push(finding),
    };
    let mut broken = Ok(());
    for piece in file.chunks(step) {
        broken = capture.push(piece, &mut sink);
        if broken.is_err() {
            break;
        }
    }
    let (summary, end) = capture.finish(broken.is_ok(), &mut sink);
    Read {
        messages,
        findings,
        summary,
        end: broken.and(end),
    }
}

fn read(file: &[u8]) -> Read {
    let options = Options {
        keeps_bytes: true,
        ..Options::default()
    };
    read_in_steps(file, 64 << 10, options)
}

impl Read {
    /// The bytes of every message, by connection and direction, without when they came.
    fn said(&self) -> Vec<(usize, &'static str, Vec<u8>)> {
        let mut said: Vec<_> = self
            .messages
            .iter()
            .map(|message| {
                let bytes = message.bytes.as_deref().unwrap_or_default().to_vec();
                (message.connection, message.direction().name(), bytes)
            })
            .collect();
        said.sort();
        said
    }

    fn lost(&self) -> u64 {
        let connections = self.summary.connections.iter();
        connections
            .map(|connection| connection.totals.lost_bytes)
            .sum()
    }
}
