//! What is done to a cluster. All of it comes from the seed.

mod draw;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use klamm_client::Compression;

pub(crate) const CONTROLLER: u32 = 101;
pub(crate) const BROKERS: [u32; 3] = [1, 2, 3];

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Properties of all nodes.
    pub(crate) properties: Vec<(&'static str, u64)>,
    pub(crate) load: Load,
    /// A broker whose disk loses what was not flushed when it is killed: the machine's power fails.
    /// No other broker is killed then. Two that lost records may be all that had them.
    pub(crate) forgetful: Option<u32>,
    /// In the order of their times; after the last one nothing is broken.
    pub(crate) steps: Vec<Step>,
}

/// The records that are sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Load {
    pub(crate) partitions: usize,
    /// `internal.segment.bytes`.
    pub(crate) segment_bytes: u64,
    pub(crate) producers: Vec<Sender>,
}

/// A producer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sender {
    /// How many records it sends a second.
    pub(crate) rate: u32,
    /// The longest value.
    pub(crate) value_bytes: usize,
    pub(crate) linger: Duration,
    pub(crate) batch_size: usize,
    pub(crate) max_in_flight: usize,
    pub(crate) request_timeout: Duration,
    pub(crate) delivery_timeout: Duration,
    pub(crate) compression: Compression,
}

/// Something that is done, so long after the load has begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) at: Duration,
    pub(crate) action: Action,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// `kill -9`.
    Kill(u32),
    Start(u32),
    /// SIGSTOP.
    Pause(u32),
    /// SIGCONT.
    Resume(u32),
    /// Connections end, and there are no new ones.
    Cut(Ways),
    /// Bytes wait.
    Stall(Ways),
    Heal(Ways),
    /// Preferred leaders are elected.
    Elect,
}

/// Ways between nodes that break together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ways {
    /// From a broker to another node.
    One { from: u32, to: u32 },
    /// From all brokers to a node.
    To(u32),
    /// From a broker to all nodes.
    From(u32),
    /// Both of a broker.
    Around(u32),
}

impl Ways {
    /// Who reaches whom by them.
    pub(crate) fn links(self) -> Vec<(u32, u32)> {
        let is_one = |from: u32, to: u32| match self {
            Self::One {
                from: one,
                to: other,
            } => (from, to) == (one, other),
            Self::To(node) => to == node,
            Self::From(node) => from == node,
            Self::Around(node) => from == node || to == node,
        };
        all_links()
            .filter(|(from, to)| is_one(*from, *to))
            .collect()
    }
}

/// Who reaches whom.
pub(crate) fn all_links() -> impl Iterator<Item = (u32, u32)> {
    let to = || BROKERS.into_iter().chain([CONTROLLER]);
    let pairs = BROKERS
        .into_iter()
        .flat_map(move |from| to().map(move |to| (from, to)));
    pairs.filter(|(from, to)| from != to)
}

/// What a link does that several ways share, of which some are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    Open,
    Stalled,
    Cut,
}

/// A link is as the worst of what is broken has it.
pub(crate) fn link_state(broken: &[Action], link: (u32, u32)) -> LinkState {
    let has = |ways: &Ways| ways.links().contains(&link);
    let is_cut = |action: &Action| matches!(action, Action::Cut(ways) if has(ways));
    let is_stalled = |action: &Action| matches!(action, Action::Stall(ways) if has(ways));
    match () {
        () if broken.iter().any(is_cut) => LinkState::Cut,
        () if broken.iter().any(is_stalled) => LinkState::Stalled,
        () => LinkState::Open,
    }
}

impl Action {
    /// What undoes it; `None` where nothing is broken by it.
    pub(crate) fn undone_by(self) -> Option<Self> {
        match self {
            Self::Kill(node) => Some(Self::Start(node)),
            Self::Pause(node) => Some(Self::Resume(node)),
            Self::Cut(ways) | Self::Stall(ways) => Some(Self::Heal(ways)),
            Self::Start(_) | Self::Resume(_) | Self::Heal(_) | Self::Elect => None,
        }
    }

    /// Takes note of it in the list of what is broken.
    pub(crate) fn note(self, broken: &mut Vec<Self>) {
        if self.undone_by().is_some() {
            // Who is killed is not paused any more.
            if let Self::Kill(node) = self {
                broken.retain(|other| *other != Self::Pause(node));
            }
            broken.push(self);
        } else {
            broken.retain(|other| other.undone_by() != Some(self));
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}", self.seed)?;
        for (key, value) in &self.properties {
            writeln!(f, "  {key}={value}")?;
        }
        let Load {
            partitions,
            segment_bytes,
            producers,
        } = &self.load;
        writeln!(
            f,
            "  {partitions} partitions, segments of {segment_bytes} bytes"
        )?;
        for producer in producers {
            writeln!(f, "  {producer:?}")?;
        }
        if let Some(broker) = self.forgetful {
            writeln!(
                f,
                "  broker {broker} loses what was not flushed when it is killed"
            )?;
        }
        for step in &self.steps {
            writeln!(f, "  {step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:6.3} s  {}", self.at.as_secs_f64(), self.action)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill(node) => write!(f, "kill {node}"),
            Self::Start(node) => write!(f, "start {node}"),
            Self::Pause(node) => write!(f, "pause {node}"),
            Self::Resume(node) => write!(f, "resume {node}"),
            Self::Cut(ways) => write!(f, "cut {ways}"),
            Self::Stall(ways) => write!(f, "stall {ways}"),
            Self::Heal(ways) => write!(f, "heal {ways}"),
            Self::Elect => f.write_str("elect preferred leaders"),
        }
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One { from, to } => write!(f, "{from} -> {to}"),
            Self::To(node) => write!(f, "all -> {node}"),
            Self::From(node) => write!(f, "{node} -> all"),
            Self::Around(node) => write!(f, "all <-> {node}"),
        }
    }
}
