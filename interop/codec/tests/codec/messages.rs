use std::io::{IsTerminal, Write};

use bytes::Bytes;
use klamm_java_peer::{Value, hex, json, unhex};
use klamm_protocol::{MessageKind, TranscodeError};
use klamm_schema::value::{self, RandomOptions};

use crate::Context;
use crate::subjects::Subject;

/// Random instances of each message in each version.
fn instances() -> usize {
    if klamm_suite::is_full() { 1_000 } else { 100 }
}

pub(crate) fn from_java(context: &mut Context) {
    let mut tally = Tally::default();
    for subject in &context.subjects {
        for version in subject.codec.versions.iter() {
            let args = json!({
                "message": subject.codec.name,
                "version": version,
                // Java's numbers are signed.
                "seed": context.seed >> 1,
                "count": instances(),
            });
            let answers = context.java.call("random", args).unwrap();
            for java in answers.as_array().unwrap() {
                let java = Bytes::from(unhex(java.as_str().unwrap()));
                let at = || {
                    let name = subject.codec.name;
                    format!(
                        "{name} version {version}, which Java writes as {}",
                        hex(&java)
                    )
                };
                let ours = subject.codec.transcode(&java, version);
                let ours = ours.unwrap_or_else(|e| panic!("{}: {e}", at()));
                assert_eq!(ours.left, 0, "bytes are left of {}", at());
                assert_eq!(hex(&ours.bytes), hex(&java), "{}", at());
                tally.count(subject, version);
            }
        }
    }
    tally.done();
}

pub(crate) fn to_java(context: &mut Context) {
    let mut rng = fastrand::Rng::with_seed(context.seed);
    let mut tally = Tally::default();
    for subject in &context.subjects {
        let (codec, schema) = (&subject.codec, &subject.schema);
        for version in codec.versions.iter() {
            let mut values = Vec::new();
            let mut written = Vec::new();
            for _ in 0..instances() {
                let options = RandomOptions::default();
                let value = value::random(schema, version, options, &mut || rng.u64(..));
                let model = Bytes::from(value::encode(schema, version, &value));
                let ours = codec.transcode(&model, version);
                let ours = ours.unwrap_or_else(|e| panic!("{} {version}: {e}", codec.name));
                written.push(hex(&ours.bytes));
                values.push(value::to_json(schema, version, &value));
            }
            let args = json!({ "message": codec.name, "version": version, "bytes": written });
            let read = context.java.call("decode", args);
            let read = read.unwrap_or_else(|e| panic!("{} {version}: {e}", codec.name));
            for ((java, value), bytes) in read.as_array().unwrap().iter().zip(values).zip(written) {
                let at = || format!("{} version {version}, written as {bytes}", codec.name);
                assert_eq!(java["left"], 0, "Java leaves bytes of {}", at());
                assert_eq!(java["json"], value, "{}", at());
                assert_eq!(java["bytes"], Value::from(bytes.as_str()), "{}", at());
                tally.count(subject, version);
            }
        }
    }
    tally.done();
}

/// A value read in one version and written in another: equal bytes, or refused by both.
pub(crate) fn recoded(context: &mut Context) {
    let mut tally = Tally::default();
    let (mut written, mut refused) = (0, 0);
    for subject in &context.subjects {
        let (codec, schema) = (&subject.codec, &subject.schema);
        let mut rng = fastrand::Rng::with_seed(context.seed);
        for from in codec.versions.iter() {
            let random = |rng: &mut fastrand::Rng| {
                let options = RandomOptions {
                    unknown_tags: false,
                    max_elements: 1,
                };
                let value = value::random(schema, from, options, &mut || rng.u64(..));
                Bytes::from(value::encode(schema, from, &value))
            };
            let values: Vec<Bytes> = (0..8).map(|_| random(&mut rng)).collect();
            for to in codec.versions.iter() {
                let bytes: Vec<String> = values.iter().map(|bytes| hex(bytes)).collect();
                let args =
                    json!({ "message": codec.name, "version": from, "to": to, "bytes": bytes });
                let answers = context.java.call("recode", args);
                let answers = answers.unwrap_or_else(|e| panic!("{} {from} {to}: {e}", codec.name));
                for (java, bytes) in answers.as_array().unwrap().iter().zip(&values) {
                    let ours = match codec.recode(bytes, from, to) {
                        Ok(ours) => Some(hex(&ours.bytes)),
                        Err(TranscodeError::Encode(_)) => None,
                        Err(e) => panic!("{} {from}: {e}", codec.name),
                    };
                    *(if ours.is_some() {
                        &mut written
                    } else {
                        &mut refused
                    }) += 1;
                    let at = || format!("{} from {from} to {to}: {}", codec.name, hex(bytes));
                    assert_eq!(ours.as_deref(), java.as_str(), "{}", at());
                }
            }
            tally.count(subject, from);
        }
    }
    println!("  {written} written in another version, {refused} refused by both");
}

/// What was tried, for the progress line and the totals.
#[derive(Default)]
struct Tally {
    messages: usize,
    versions: usize,
    instances: usize,
    of_apis: usize,
    last: Option<(&'static str, i16)>,
}

impl Tally {
    fn count(&mut self, subject: &Subject, version: i16) {
        let now = (subject.codec.name, version);
        if self.last.is_none_or(|(name, _)| name != now.0) {
            self.messages += 1;
            if self.messages.is_multiple_of(40) && std::io::stdout().is_terminal() {
                print!(
                    "  {} messages, {} instances\r",
                    self.messages, self.instances
                );
                let _ = std::io::stdout().flush();
            }
        }
        if self.last != Some(now) {
            self.versions += 1;
            let kind = subject.codec.kind;
            self.of_apis +=
                usize::from(matches!(kind, MessageKind::Request | MessageKind::Response));
        }
        self.last = Some(now);
        self.instances += 1;
    }

    fn done(&self) {
        assert!(self.instances > 0, "nothing was tried");
        assert_eq!(
            self.of_apis, 618,
            "requests and responses of every API in every version"
        );
        println!(
            "  {} messages, {} versions ({} of them requests and responses), {} instances",
            self.messages, self.versions, self.of_apis, self.instances
        );
    }
}
