//! A drill as a page for a browser: a picture of its time, and the same in tables. It is whole in one
//! file, has no script, and asks for nothing from elsewhere.

mod file;
mod picture;
mod plot;

pub(super) use file::PageFile;

use std::time::Duration;

use klamm_client::BrokerId;
use klamm_explain::html::{BASE_STYLE, Html, table};

use super::history::{History, spans};
use super::load::Sent;
use super::news::shown;
use super::report::{ClusterForm, Report};
use super::spread::longest_wait;
use picture::picture;

const STYLE: &str = include_str!("page/drill.css");
/// The most partitions that are drawn and told of.
const MOST_PARTITIONS: usize = 48;
/// The most leaders of a partition that its row names.
const MOST_LEADERS: usize = 8;

/// What a page tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Story<'a> {
    pub(super) report: &'a Report,
    pub(super) history: &'a History,
    /// By partition.
    pub(super) sent: &'a [Vec<Sent>],
}

/// What of a story is drawn.
struct Scene<'a> {
    story: Story<'a>,
    /// In the order of their colours.
    brokers: Vec<BrokerId>,
    /// Partitions by number, all or those whose records waited longest, and how long.
    partitions: Vec<(usize, Option<Duration>)>,
    end: Duration,
}

impl<'a> Scene<'a> {
    fn new(story: Story<'a>) -> Self {
        let always = (Duration::ZERO, Duration::MAX);
        let waits = story.sent.iter().map(|sent| longest_wait(sent, always));
        let mut partitions: Vec<_> = waits.enumerate().collect();
        partitions.sort_by_key(|(partition, wait)| (std::cmp::Reverse(*wait), *partition));
        partitions.truncate(MOST_PARTITIONS);
        partitions.sort_unstable();
        Self {
            brokers: story.report.brokers(),
            partitions,
            end: story.report.took,
            story,
        }
    }

    /// Which of the partitions are there, where it is not all of them.
    fn chosen(&self) -> Option<String> {
        let all = self.story.sent.len();
        let some = self.partitions.len();
        (some < all)
            .then(|| format!("{some} of {all} partitions, those whose records waited longest."))
    }
}

/// The page.
pub(super) fn page(story: Story<'_>) -> String {
    let scene = Scene::new(story);
    let mut html = Html::new();
    html.void("!DOCTYPE", &[("html", "")]);
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], head);
        html.element("body", &[], |html| {
            html.element("main", &[], |html| content(&scene, html));
            html.element("footer", &[], footer);
        });
    });
    html.into_string() + "\n"
}

fn head(html: &mut Html) {
    html.void("meta", &[("charset", "utf-8")]);
    let viewport = "width=device-width, initial-scale=1";
    html.void("meta", &[("name", "viewport"), ("content", viewport)]);
    html.void(
        "meta",
        &[("name", "color-scheme"), ("content", "light dark")],
    );
    html.leaf("title", &[], "Failover drill");
    html.element("style", &[], |html| {
        html.asset(BASE_STYLE);
        html.asset(STYLE);
    });
}

fn content(scene: &Scene<'_>, html: &mut Html) {
    let report = scene.story.report;
    html.leaf("h1", &[], "Failover drill");
    html.leaf("p", &[("class", "lead")], &subject(report));
    let (class, verdict) = match (report.is_sound(), report.audit.acked) {
        (true, 0) => ("bad", "No record was acknowledged."),
        (true, _) => (
            "good",
            "Every acknowledged record is there, once and in order.",
        ),
        (false, _) => ("bad", "Records are lost, doubled or out of order."),
    };
    html.leaf("p", &[("class", class)], verdict);
    let lines = report.lines().into_iter();
    let mut facts: Vec<(&str, String)> = lines.collect();
    facts.push(("took", report.took_text()));
    html.facts(&facts);
    html.leaf("h2", &[], "Timeline");
    picture(scene, html);
    html.leaf("h2", &[], "What happened");
    events(report, html);
    html.leaf("h2", &[], "Leaders by broker");
    leaders(report, html);
    html.leaf("h2", &[], "Leaders by partition");
    partitions(scene, html);
}

fn subject(report: &Report) -> String {
    let load = format!(
        "{} records a second to {} partitions, acknowledged by all replicas in sync",
        report.rate, report.partitions
    );
    match &report.form {
        ClusterForm::Own { .. } => {
            let brokers = report.brokers().len();
            format!("{load}, on a cluster of {brokers} brokers that the drill started.")
        }
        ClusterForm::Other { topic, .. } => format!("{load}, in the topic {topic}."),
    }
}

/// The events, by the numbers that they have in the picture.
fn events(report: &Report, html: &mut Html) {
    let headings = ["", "Time", "Event"];
    table("list", "What happened", &headings, html, |html| {
        for (index, event) in report.events.iter().enumerate() {
            html.element("tr", &[], |html| {
                html.leaf("td", &[("class", "number")], &(index + 1).to_string());
                html.leaf("td", &[("class", "number")], &seconds(event.at));
                html.leaf("td", &[], &event.what);
            });
        }
    });
}

fn leaders(report: &Report, html: &mut Html) {
    let moments = report.leaders.iter().map(|(moment, _)| *moment);
    let headings: Vec<&str> = ["Broker"].into_iter().chain(moments).collect();
    table(
        "list",
        "Partitions led by each broker",
        &headings,
        html,
        |html| {
            for id in report.brokers() {
                html.element("tr", &[], |html| {
                    html.leaf("th", &[("scope", "row")], &id.to_string());
                    for (_, counts) in &report.leaders {
                        let count = counts.get(&id).copied().unwrap_or(0);
                        html.leaf("td", &[("class", "number")], &count.to_string());
                    }
                });
            }
        },
    );
}

fn partitions(scene: &Scene<'_>, html: &mut Html) {
    if let Some(chosen) = scene.chosen() {
        html.leaf("p", &[("class", "quiet")], &chosen);
    }
    let headings = ["Partition", "Led by", "Without a leader", "Longest wait"];
    table(
        "list",
        "Leaders of each partition",
        &headings,
        html,
        |html| {
            for &(partition, wait) in &scene.partitions {
                let gaps = scene.story.history.gaps(partition, scene.end);
                let gap: Duration = gaps.map(|(from, until)| until.saturating_sub(from)).sum();
                html.element("tr", &[], |html| {
                    html.leaf("th", &[("scope", "row")], &partition.to_string());
                    html.leaf("td", &[("class", "leaders")], &led_by(scene, partition));
                    html.leaf("td", &[("class", "number")], &shown(gap));
                    let wait = wait.map_or("-".to_owned(), shown);
                    html.leaf("td", &[("class", "number")], &wait);
                });
            }
        },
    );
    if scene.story.history.is_cut() {
        let cut = "More changed than is kept: later leaders are missing here.";
        html.leaf("p", &[("class", "quiet")], cut);
    }
}

/// The leaders of a partition one after the other.
fn led_by(scene: &Scene<'_>, partition: usize) -> String {
    let leaders = scene.story.history.partitions.get(partition);
    let leaders = leaders.map_or(&[][..], Vec::as_slice);
    let named = spans(leaders, scene.end).take(MOST_LEADERS);
    let named = named.enumerate().map(|(index, (from, _, leader))| {
        let leader = leader.map_or("none".to_owned(), |id| id.to_string());
        match index {
            0 => leader,
            _ => format!("{leader} from {}", seconds(from)),
        }
    });
    let named: Vec<String> = named.collect();
    let more = match leaders.len().saturating_sub(MOST_LEADERS) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    named.join("; ") + &more
}

fn footer(html: &mut Html) {
    html.element("p", &[], |html| {
        html.text(concat!(
            "Made by klamm drill ",
            env!("CARGO_PKG_VERSION"),
            "."
        ));
    });
}

fn seconds(at: Duration) -> String {
    format!("{:.2} s", at.as_secs_f64())
}

#[cfg(test)]
mod tests;
