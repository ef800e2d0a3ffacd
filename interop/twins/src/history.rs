//! A history: operations one after the other, each compared.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use klamm_metadata::Image;
use serde_json::Value;

use crate::kind::Kind;
use crate::known;
use crate::log::Entry;
use crate::operations::{PLACED, Step};
use crate::pair::Pair;
use crate::side::Side;
use crate::wire::Said;

/// Where an answer may be from before the last change, it is asked for again, so long and so far apart.
pub(crate) const BEHIND: Duration = Duration::from_secs(60);
pub(crate) const BEHIND_PAUSE: Duration = Duration::from_millis(50);

/// What was not the same.
pub(crate) struct Difference {
    pub(crate) at: usize,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// What one side did.
pub(crate) struct Outcome {
    pub(crate) said: Said,
    pub(crate) response: Value,
    pub(crate) records: Vec<Value>,
}

/// Counts of what was compared.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) operations: usize,
    pub(crate) records: usize,
    pub(crate) known: BTreeMap<&'static str, usize>,
    /// How often each API was asked, and how often something changed.
    pub(crate) apis: BTreeMap<&'static str, (usize, usize)>,
    /// How often each error was answered.
    pub(crate) errors: BTreeMap<i64, usize>,
}

impl Tally {
    /// Adds what others have counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.operations += other.operations;
        self.records += other.records;
        for (row, times) in &other.known {
            *self.known.entry(row).or_default() += times;
        }
        for (api, (asked, changed)) in &other.apis {
            let own = self.apis.entry(api).or_default();
            *own = (own.0 + asked, own.1 + changed);
        }
        for (code, times) in &other.errors {
            *self.errors.entry(*code).or_default() += times;
        }
    }
}

/// Runs operations drawn by a seed until there is a difference, and keeps them.
pub(crate) fn random(
    pair: &mut Pair,
    seed: u64,
    count: usize,
    steps: &mut Vec<Step>,
    tally: &mut Tally,
) -> Option<Difference> {
    let mut rng = Rng::with_seed(seed);
    for at in 0..count {
        steps.push(Step::random(&mut rng, pair.apache.image()));
        let difference = compare(pair, at, &steps[at], tally);
        if difference.is_some() {
            return difference;
        }
    }
    images(pair, count)
}

/// Runs these operations until there is a difference.
pub(crate) fn replay(pair: &mut Pair, steps: &[&Step]) -> Option<Difference> {
    let mut tally = Tally::default();
    let mut each = steps.iter().enumerate();
    each.find_map(|(at, step)| compare(pair, at, step, &mut tally))
        .or_else(|| images(pair, steps.len()))
}

fn compare(pair: &mut Pair, at: usize, step: &Step, tally: &mut Tally) -> Option<Difference> {
    let before = pair.apache.image().clone();
    let mut apache = outcome(&mut pair.apache, step);
    let mut klamm = outcome(&mut pair.klamm, step);
    let asked = Instant::now();
    let may_be_behind = || step.operation.may_be_behind() && asked.elapsed() < BEHIND;
    while may_be_behind() && !is_same(&apache, &klamm) {
        thread::sleep(BEHIND_PAUSE);
        apache = outcome(&mut pair.apache, step);
    }
    tally.operations += 1;
    tally.records += apache.records.len();
    let (asked, changed) = tally.apis.entry(apache.said.api).or_default();
    *asked += 1;
    *changed += usize::from(!apache.records.is_empty());
    errors(&apache.response, &mut tally.errors);
    let mut other_topics = Vec::new();
    if !is_same(&apache, &klamm) {
        let text = told(step, &before, &apache, &klamm);
        let excused = known::excuse(&before, pair.klamm.image(), &mut apache, &mut klamm);
        if !is_same(&apache, &klamm) {
            let kind = Kind::of(&apache, &klamm);
            return Some(Difference { at, kind, text });
        }
        for excuse in excused {
            *tally.known.entry(excuse.what).or_default() += 1;
            other_topics.extend(excuse.topic);
        }
    }
    if step.operation.spread().is_some() {
        other_topics.push(PLACED.to_owned());
    }
    pair.forget(&other_topics);
    pair.share();
    None
}

fn is_same(apache: &Outcome, klamm: &Outcome) -> bool {
    apache.response == klamm.response && apache.records == klamm.records
}

fn outcome(side: &mut Side, step: &Step) -> Outcome {
    let said = step.operation.ask(side, step.how);
    let entries = side.news();
    let spread = step.operation.spread();
    let shown = |entry: &Entry| match spread {
        Some(spread) => spread.shown(entry, side.image().cluster()),
        None => entry.shown(),
    };
    let mut records: Vec<Value> = entries
        .iter()
        .map(|entry| side.named(shown(entry)))
        .collect();
    records.sort_by_cached_key(Value::to_string);
    side.wait_for_acls(&entries);
    side.tell_again(&entries);
    Outcome {
        response: side.named(said.response.clone()),
        said,
        records,
    }
}

/// Counts the errors in an answer.
fn errors(answer: &Value, counts: &mut BTreeMap<i64, usize>) {
    match answer {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let (true, Some(code)) = (name == "errorCode", value.as_i64()) {
                    *counts.entry(code).or_default() += 1;
                }
                errors(value, counts);
            }
        }
        Value::Array(list) => list.iter().for_each(|item| errors(item, counts)),
        _ => {}
    }
}

/// The metadata as a whole.
fn images(pair: &Pair, at: usize) -> Option<Difference> {
    let (apache, klamm) = (pair.apache.snapshot(), pair.klamm.snapshot());
    let only = |these: &[Value], those: &[Value]| {
        let only = these.iter().filter(|record| !those.contains(record));
        only.map(|record| format!("    {record}\n"))
            .collect::<String>()
    };
    (apache != klamm).then(|| {
        let (apache_only, klamm_only) = (only(&apache, &klamm), only(&klamm, &apache));
        let kind = Kind::of_images(&apache, &klamm);
        let text = format!("the metadata differs\n  apache:\n{apache_only}  klamm:\n{klamm_only}");
        Difference { at, kind, text }
    })
}

fn told(step: &Step, before: &Image, apache: &Outcome, klamm: &Outcome) -> String {
    let said = &apache.said;
    let principal = said.principal.unwrap_or("ANONYMOUS");
    let mut text = format!("{} v{} of {principal}\n", said.api, said.version);
    let mut line = |what: &str, value: &dyn std::fmt::Display| {
        writeln!(text, "  {what}: {value}").expect("a String takes everything");
    };
    line("means", &format_args!("{:?}", step.operation));
    line("before", &state(before));
    for (name, side) in [("apache", apache), ("klamm", klamm)] {
        line(name, &"");
        line("  request ", &side.said.request);
        line("  response", &side.response);
        for record in &side.records {
            line("  record  ", record);
        }
    }
    text
}

/// Brokers and partitions in short.
fn state(image: &Image) -> String {
    let mut text = String::new();
    let mut line = |what: std::fmt::Arguments<'_>| {
        write!(text, "\n    {what}").expect("a String takes everything");
    };
    for broker in image.cluster().brokers() {
        let is = match (broker.fenced, broker.in_controlled_shutdown) {
            (true, _) => "fenced",
            (_, true) => "shutting down",
            _ => "active",
        };
        let (id, dirs, cordoned) = (broker.id, &broker.log_dirs, &broker.cordoned_log_dirs);
        line(format_args!(
            "broker {id} {is} dirs {dirs:?} cordoned {cordoned:?}"
        ));
    }
    for topic in image.topics().iter_by_name() {
        for (index, partition) in topic.partitions() {
            line(format_args!("{}-{index} {partition:?}", topic.name()));
        }
    }
    for resource in image.configs().resources() {
        let values: Vec<_> = image.configs().values(&resource).collect();
        line(format_args!("{resource:?} {values:?}"));
    }
    text
}
