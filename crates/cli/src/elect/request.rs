use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use crate::cluster::Cluster;
use crate::errors::Problem;
use crate::patterns::TopicArg;
use klamm_client::TopicPartition;

use super::args::{ElectArgs, ElectionType};

/// What a command line asks for, once its flags are known to go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) election: ElectionType,
    pub(crate) scope: Scope,
    pub(crate) dry_run: bool,
    pub(crate) waves: Option<Waves>,
}

/// Which partitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Every partition that the election type applies to.
    All,
    /// These, whether they exist or not.
    Listed(Vec<TopicPartition>),
    /// Those that metadata has of some topics.
    Selected(Selection),
    /// Those that a file lists; `None` is standard input.
    File(Option<PathBuf>),
}

/// Partitions that only the cluster's metadata can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) topics: Vec<TopicArg>,
    pub(crate) partitions: PartitionSet,
}

/// Elections in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Waves {
    /// Partitions in a wave; at least 1.
    pub(crate) size: usize,
    /// The time between two waves.
    pub(crate) pause: Duration,
}

impl Request {
    /// Checks which flags go together; for the first group, as Apache's tool does.
    pub(crate) fn new(args: &ElectArgs) -> Result<Self, Problem> {
        let scope = scope(args)?;
        let request = Self {
            election: args.election_type,
            scope,
            dry_run: args.dry_run,
            waves: args.batch_size.map(|size| Waves {
                size: usize::try_from(size).unwrap_or(usize::MAX),
                pause: args.pause.unwrap_or_default(),
            }),
        };
        Ok(request)
    }

    /// Refuses what controllers cannot do.
    pub(crate) fn check_for_controllers(&self) -> Result<(), Problem> {
        let broker = "use --bootstrap-server with a broker";
        let (what, next) = match &self.scope {
            _ if self.dry_run => ("--dry-run", broker.to_owned()),
            Scope::Selected(_) => (
                "a topic pattern, or --topic without partition numbers,",
                format!("{broker}, or name topics and partitions"),
            ),
            Scope::All if self.waves.is_some() => (
                "--batch-size with --all-topic-partitions",
                format!("{broker}, or leave --batch-size out"),
            ),
            _ => return Ok(()),
        };
        Err(
            Problem::misuse(format!("{what} does not work with controllers"))
                .because(
                    "controllers elect leaders but serve no metadata, which says who leads now",
                )
                .next(next),
        )
    }
}

fn scope(args: &ElectArgs) -> Result<Scope, Problem> {
    let one_of = "--topic, --all-topic-partitions and --path-to-json-file";
    let has_topic = !args.topic.is_empty();
    let given = [
        (has_topic, "--topic"),
        (args.all_topic_partitions, "--all-topic-partitions"),
        (args.path_to_json_file.is_some(), "--path-to-json-file"),
    ];
    let given: Vec<_> = given
        .iter()
        .filter(|(given, _)| *given)
        .map(|(_, flag)| *flag)
        .collect();
    match given[..] {
        [] if args.partition.is_some() => {
            return Err(
                Problem::misuse("--partition without --topic").next("say which topic's partition")
            );
        }
        [] => {
            return Err(Problem::misuse("no partitions are chosen")
                .next(format!("give exactly one of {one_of}")));
        }
        [flag] if !has_topic && args.partition.is_some() => {
            return Err(
                Problem::misuse(format!("--partition does not go with {flag}"))
                    .next("--partition goes with --topic only"),
            );
        }
        [_] => {}
        _ => {
            return Err(
                Problem::misuse(format!("{} do not go together", given.join(" and ")))
                    .next(format!("give exactly one of {one_of}")),
            );
        }
    }
    if args.all_topic_partitions {
        return Ok(Scope::All);
    }
    if let Some(path) = &args.path_to_json_file {
        return Ok(Scope::File((path.as_os_str() != "-").then(|| path.clone())));
    }
    topics(&args.topic, args.partition.as_ref())
}

fn topics(topics: &[TopicArg], partition: Option<&PartitionSet>) -> Result<Scope, Problem> {
    let names: Option<Vec<&str>> = topics.iter().map(TopicArg::name).collect();
    match (names.as_deref(), partition) {
        (Some([name]), None) => Err(Problem::misuse(format!("--topic {name} needs --partition"))
            .next("say which partition, such as --partition 0, or --partition all")),
        (Some(names), Some(set @ PartitionSet::Numbers(_))) => {
            let mut listed: Vec<_> = set.of(names).collect();
            listed.sort();
            listed.dedup();
            Ok(Scope::Listed(listed))
        }
        _ => Ok(Scope::Selected(Selection {
            topics: topics.to_vec(),
            partitions: partition.cloned().unwrap_or(PartitionSet::All),
        })),
    }
}

impl Selection {
    /// The partitions of a cluster that are meant. Numbers of a topic by name are meant also where
    /// it has no such partition: the cluster then says so. A pattern only finds what there is.
    pub(crate) fn select(&self, cluster: &Cluster) -> Vec<TopicPartition> {
        let meant = |tp: &&TopicPartition| {
            self.names(&tp.topic) && self.partitions.contains(tp.partition.0)
        };
        let found = cluster.partitions.keys().filter(meant).cloned();
        let names: Vec<_> = self.topics.iter().filter_map(TopicArg::name).collect();
        let mut selected: Vec<_> = found.chain(self.partitions.of(&names)).collect();
        selected.sort();
        selected.dedup();
        selected
    }

    /// Whether a topic is one of those meant.
    pub(crate) fn names(&self, topic: &str) -> bool {
        self.topics.iter().any(|arg| arg.matches(topic))
    }

    /// The topics and patterns that no partition of the cluster is meant by.
    pub(crate) fn unmatched<'a>(&'a self, cluster: &Cluster) -> Vec<&'a TopicArg> {
        let matched =
            |topic: &TopicArg| cluster.partitions.keys().any(|tp| topic.matches(&tp.topic));
        self.topics.iter().filter(|topic| !matched(topic)).collect()
    }
}

/// The value of `--partition`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartitionSet {
    /// Every partition of the topic.
    All,
    /// These, ascending, each once, at least one.
    Numbers(Vec<i32>),
}

/// More partitions than a cluster has; it keeps `0-2147483647` from filling the memory.
const MAX_NUMBERS: usize = 100_000;

impl PartitionSet {
    /// The numbers that are given, for each of these topics.
    fn of<'a>(&'a self, topics: &'a [&str]) -> impl Iterator<Item = TopicPartition> + 'a {
        let numbers = match self {
            Self::All => &[],
            Self::Numbers(numbers) => numbers.as_slice(),
        };
        let each = move |topic: &'a &str| {
            let numbers = numbers.iter();
            numbers.map(move |&number| TopicPartition::new(*topic, number))
        };
        topics.iter().flat_map(each)
    }

    fn contains(&self, partition: i32) -> bool {
        match self {
            Self::All => true,
            Self::Numbers(numbers) => numbers.binary_search(&partition).is_ok(),
        }
    }
}

impl FromStr for PartitionSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("all") {
            return Ok(Self::All);
        }
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (Some(first), Some(last)) = (number(first), number(last)) else {
                return Err("write a number, or 0,2,5-7, or all".to_owned());
            };
            if first > last {
                return Err(format!("the range {part} runs backwards"));
            }
            let range = first..=last;
            if numbers.len() + range.clone().take(MAX_NUMBERS + 1).count() > MAX_NUMBERS {
                return Err(format!("more than {MAX_NUMBERS} partitions"));
            }
            numbers.extend(range);
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Self::Numbers(numbers))
    }
}

fn number(text: &str) -> Option<i32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests;
