//! The clients, and what each can do.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use klamm_suite::prepared;

use crate::{Context, java};

/// What a client may be able to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Can {
    /// Make a topic, and delete it.
    Topics,
    /// Read partitions that it is told of, without a group.
    Assign,
    /// Ask where partitions begin and end.
    Offsets,
    /// Elect preferred leaders.
    Elect,
}

/// A client: a program of `interop/broker/clients` for one of them, with the arguments that all have:
/// an operation, the bootstrap list, a topic, and what the operation takes.
pub(crate) struct Client {
    pub(crate) name: &'static str,
    /// As it is pinned, in the file that it is installed from.
    pub(crate) version: fn() -> String,
    run: Run,
    /// All that it has by itself.
    pub(crate) codecs: &'static [&'static str],
    pub(crate) can: &'static [Can],
}

/// How its program runs.
enum Run {
    Python(&'static str),
    Go(&'static str),
    Node(&'static str),
    Script(&'static str),
    Java,
}

const EVERY_CODEC: &[&str] = &["none", "gzip", "snappy", "lz4", "zstd"];
const EVERYTHING: &[Can] = &[Can::Topics, Can::Assign, Can::Offsets, Can::Elect];

pub(crate) const CLIENTS: &[Client] = &[
    Client {
        name: "Apache Kafka's tools (Java)",
        version: || pinned(POM, "    <kafka.version>"),
        run: Run::Java,
        codecs: EVERY_CODEC,
        can: EVERYTHING,
    },
    Client {
        name: "confluent-kafka (librdkafka)",
        version: || pinned(REQUIREMENTS, "confluent-kafka=="),
        run: Run::Python("librdkafka.py"),
        codecs: EVERY_CODEC,
        can: EVERYTHING,
    },
    Client {
        name: "kafka-python",
        version: || pinned(REQUIREMENTS, "kafka-python=="),
        run: Run::Python("kafka_python.py"),
        codecs: EVERY_CODEC,
        can: EVERYTHING,
    },
    Client {
        name: "aiokafka",
        version: || pinned(REQUIREMENTS, "aiokafka=="),
        run: Run::Python("asyncio_client.py"),
        codecs: EVERY_CODEC,
        can: &[Can::Topics, Can::Assign, Can::Offsets],
    },
    Client {
        name: "franz-go",
        version: || pinned(GO_MOD, "\tgithub.com/twmb/franz-go v"),
        run: Run::Go("franz"),
        codecs: EVERY_CODEC,
        can: EVERYTHING,
    },
    Client {
        name: "sarama",
        version: || pinned(GO_MOD, "\tgithub.com/IBM/sarama v"),
        run: Run::Go("sarama"),
        codecs: EVERY_CODEC,
        can: EVERYTHING,
    },
    Client {
        name: "kafkajs",
        version: || pinned(PACKAGE, "    \"kafkajs\": \""),
        run: Run::Node("kafkajs.js"),
        codecs: &["none", "gzip"],
        can: &[Can::Topics, Can::Offsets],
    },
    Client {
        name: "kcat (librdkafka)",
        version: || "of Debian 12, 1.7.1".into(),
        run: Run::Script("kcat"),
        codecs: EVERY_CODEC,
        can: &[Can::Assign, Can::Offsets],
    },
];

const POM: &str = include_str!("../../../java/pom.xml");
const REQUIREMENTS: &str = include_str!("../../../suite/requirements.txt");
const GO_MOD: &str = include_str!("../../clients/go/go.mod");
const PACKAGE: &str = include_str!("../../clients/node/package.json");

/// The version that follows `before` at the start of a line.
fn pinned(file: &str, before: &str) -> String {
    let mut lines = file.lines();
    let version = lines.find_map(|line| line.strip_prefix(before));
    let version = version.unwrap_or_else(|| panic!("no {before:?} in {file}"));
    let end = version.find(['"', '<']).unwrap_or(version.len());
    version[..end].to_owned()
}

impl Client {
    pub(crate) fn can(&self, what: Can) -> bool {
        self.can.contains(&what)
    }

    /// Runs an operation, which has to succeed, and gives what it printed.
    pub(crate) fn run(&self, context: &mut Context, operation: &str, args: &[&str]) -> String {
        let bootstrap = &context.up.bootstrap;
        let Some(mut command) = self.command() else {
            return java::run(&mut context.peer, operation, bootstrap, args);
        };
        command.args([operation, bootstrap.as_str()]).args(args);
        let output = command.stdin(Stdio::null()).output();
        let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{} {operation} {args:?}: {}\n{said}{}",
            self.name,
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        said
    }

    /// Its program, but for Java, where programs share a JVM.
    fn command(&self) -> Option<Command> {
        let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/clients"));
        Some(match self.run {
            Run::Java => return None,
            Run::Python(script) => {
                let mut command = Command::new(klamm_suite::python());
                command.arg(own.join("python").join(script));
                command
            }
            Run::Go(program) => Command::new(installed().join(program)),
            Run::Node(script) => {
                let mut command = Command::new("node");
                command.arg(own.join("node").join(script));
                command.env("NODE_PATH", installed().join("node/node_modules"));
                command
            }
            Run::Script(script) => Command::new(own.join(script)),
        })
    }
}

/// Where those are that are neither Java's nor Python's.
fn installed() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| prepared(concat!(env!("CARGO_MANIFEST_DIR"), "/prepare")))
}
