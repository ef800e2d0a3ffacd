//! The drill's time from left to right: brokers, leaders, the load, and what happened.

use std::time::Duration;

use klamm_client::BrokerId;
use klamm_explain::html::Html;

use super::super::history::spans;
use super::plot::{HEIGHT, Pieces, WIDTH, place, short, ticks};
use super::{Scene, seconds};

/// How many brokers have a colour of their own.
const COLOURS: usize = 8;
/// The narrowest that is drawn of what must not be overlooked.
const LEAST: f64 = 2.0;
/// What happens within so much is marked once.
const MARK: f64 = 60.0;
/// How high a lane is, in its own units.
const LANE: f64 = 10.0;

pub(super) fn picture(scene: &Scene<'_>, html: &mut Html) {
    let about = format!(
        "A timeline of {}: brokers, leaders of partitions, records a second and latency. \
         The tables below say the same.",
        seconds(scene.end)
    );
    html.element("figure", &[], |html| {
        let attributes = [("class", "plot"), ("role", "img"), ("aria-label", &*about)];
        html.element("div", &attributes, |html| {
            marks(scene, html);
            brokers(scene, html);
            partitions(scene, html);
            load(scene, html);
            axis(scene.end, html);
        });
        html.element("figcaption", &[], |html| legend(scene, html));
    });
}

/// A row: what it is about on the left, its picture on the right.
fn row(class: &'static str, name: &str, html: &mut Html, content: impl FnOnce(&mut Html)) {
    html.element("div", &[("class", "row")], |html| {
        html.leaf("span", &[("class", "name")], name);
        html.element("div", &[("class", class)], content);
    });
}

fn heading(text: &str, html: &mut Html) {
    html.leaf("div", &[("class", "heading")], text);
}

fn svg(height: f64, html: &mut Html, content: impl FnOnce(&mut Html)) {
    let size = format!("0 0 {WIDTH} {height}");
    let attributes = [("viewBox", &*size), ("preserveAspectRatio", "none")];
    html.element("svg", &attributes, content);
}

/// A piece of a lane, with what it says to whoever points at it.
fn piece(class: &str, (from, to): (f64, f64), about: &str, html: &mut Html) {
    let (x, width, height) = (short(from), short(to - from), short(LANE));
    let attributes = [
        ("class", class),
        ("x", &*x),
        ("width", &*width),
        ("height", &*height),
    ];
    html.element("rect", &attributes, |html| html.leaf("title", &[], about));
}

/// What must be seen is at least so wide.
fn seen(from: f64, to: f64) -> (f64, f64) {
    let from = from.min(WIDTH - LEAST);
    (from, to.max(from + LEAST))
}

fn brokers(scene: &Scene<'_>, html: &mut Html) {
    heading("Brokers in service", html);
    for id in &scene.brokers {
        row("lane", &format!("broker {id}"), html, |html| {
            svg(LANE, html, |html| {
                let changes = scene.story.history.brokers.get(id);
                let changes = changes.map_or(&[][..], Vec::as_slice);
                for (from, until, is_there) in spans(changes, scene.end) {
                    let (x, to) = places(from, until, scene.end);
                    let when = format!("{} to {}", seconds(from), seconds(until));
                    if is_there {
                        let about = format!("broker {id} in service, {when}");
                        piece(colour(scene, *id), (x, to), &about, html);
                    } else {
                        let about = format!("broker {id} away, {when}");
                        piece("away", seen(x, to), &about, html);
                    }
                }
            });
        });
    }
}

fn partitions(scene: &Scene<'_>, html: &mut Html) {
    match scene.chosen() {
        Some(chosen) => heading(&format!("Leaders of {chosen}"), html),
        None => heading("Leaders of partitions", html),
    }
    for (partition, _) in &scene.partitions {
        row("lane thin", &partition.to_string(), html, |html| {
            svg(LANE, html, |html| leaders(scene, *partition, html));
        });
    }
}

fn leaders(scene: &Scene<'_>, partition: usize, html: &mut Html) {
    let leaders = scene.story.history.partitions.get(partition);
    let leaders = leaders.map_or(&[][..], Vec::as_slice);
    let all = || spans(leaders, scene.end);
    let mut draw = |(from, until, leader): (Duration, Duration, Option<BrokerId>)| {
        let (x, to) = places(from, until, scene.end);
        let when = format!("{} to {}", seconds(from), seconds(until));
        match leader {
            Some(id) => {
                let about = format!("partition {partition} led by broker {id}, {when}");
                piece(colour(scene, id), (x, to), &about, html);
            }
            None => {
                let about = format!("partition {partition} without a leader, {when}");
                piece("gap", seen(x, to), &about, html);
            }
        }
    };
    // Gaps are on top of what is beside them.
    all().filter(|span| span.2.is_some()).for_each(&mut draw);
    all().filter(|span| span.2.is_none()).for_each(&mut draw);
}

fn load(scene: &Scene<'_>, html: &mut Html) {
    let pieces = Pieces::of(scene.story.sent, scene.end);
    heading("Records acknowledged a second", html);
    row("curve", "", html, |html| {
        scale(
            &[
                (HEIGHT, format!("{:.0}", pieces.most())),
                (0.0, "0".to_owned()),
            ],
            html,
        );
        svg(HEIGHT, html, |html| {
            html.leaf(
                "path",
                &[("class", "area"), ("d", &pieces.throughput())],
                "",
            );
        });
    });
    heading(
        "Wait until acknowledged, of records sent then: median and longest",
        html,
    );
    row("curve", "", html, |html| {
        let Some((low, high)) = pieces.decades() else {
            return;
        };
        let part = |decade: i32| f64::from(decade - low) / f64::from(high - low) * HEIGHT;
        let lines: Vec<_> = (low..=high)
            .map(|decade| (part(decade), power(decade)))
            .collect();
        scale(&lines, html);
        svg(HEIGHT, html, |html| {
            for (height, _) in &lines {
                let y = short(HEIGHT - height);
                let line = format!("M0 {y}H{WIDTH}");
                html.leaf("path", &[("class", "grid"), ("d", &line)], "");
            }
            let (middle, longest) = pieces.latency((low, high));
            html.leaf("path", &[("class", "longest"), ("d", &longest)], "");
            html.leaf("path", &[("class", "middle"), ("d", &middle)], "");
        });
    });
}

/// Ten to this power, of milliseconds.
fn power(decade: i32) -> String {
    match decade {
        ..0 => "0.1 ms".to_owned(),
        0..3 => format!("{} ms", 10u64.pow(decade.unsigned_abs())),
        _ => format!("{} s", 10u64.saturating_pow(decade.unsigned_abs() - 3)),
    }
}

/// What heights mean.
fn scale(lines: &[(f64, String)], html: &mut Html) {
    for (height, text) in lines {
        let style = format!("bottom:{}%", short(*height));
        html.leaf("span", &[("class", "scale"), ("style", &style)], text);
    }
}

/// Numbers of events at the top, and lines from them to the bottom.
fn marks(scene: &Scene<'_>, html: &mut Html) {
    let groups = groups(scene);
    row("marks", "", html, |html| {
        for (at, first, last) in &groups {
            let left = format!("left:{}%", short(*at * 100.0 / WIDTH));
            let text = match first == last {
                true => first.to_string(),
                false => format!("{first}–{last}"),
            };
            html.leaf("span", &[("class", side(*at)), ("style", &left)], &text);
        }
    });
    html.element("div", &[("class", "lines")], |html| {
        svg(LANE, html, |html| {
            for (at, ..) in &groups {
                let line = format!("M{} 0V{LANE}", short(*at));
                html.leaf("path", &[("d", &line)], "");
            }
        });
    });
}

/// Where there are events, and the first and last number of those.
fn groups(scene: &Scene<'_>) -> Vec<(f64, usize, usize)> {
    let mut groups: Vec<(f64, usize, usize)> = Vec::new();
    for (index, event) in scene.story.report.events.iter().enumerate() {
        let at = place(event.at, scene.end);
        match groups.last_mut() {
            Some((first, _, last)) if at - *first < MARK => *last = index + 1,
            _ => groups.push((at, index + 1, index + 1)),
        }
    }
    groups
}

fn axis(end: Duration, html: &mut Html) {
    row("axis", "", html, |html| {
        for tick in ticks(end) {
            let at = place(tick, end);
            let left = format!("left:{}%", short(at * 100.0 / WIDTH));
            let text = format!("{} s", tick.as_secs());
            html.leaf("span", &[("class", side(at)), ("style", &left)], &text);
        }
    });
}

/// The class of a text at a place: at the end it stands before it.
fn side(at: f64) -> &'static str {
    match at > WIDTH - MARK {
        true => "late",
        false => "at",
    }
}

fn legend(scene: &Scene<'_>, html: &mut Html) {
    let mut item = |class: &str, text: &str| {
        html.element("span", &[("class", "item")], |html| {
            html.leaf("i", &[("class", class)], "");
            html.text(text);
        });
    };
    for id in &scene.brokers {
        item(colour(scene, *id), &format!("broker {id}"));
    }
    item("away", "away");
    item("gap", "no leader");
    item("middle", "median wait");
    item("longest", "longest wait");
}

/// The class of a broker's colour; colours come again where there are many brokers.
fn colour(scene: &Scene<'_>, id: BrokerId) -> &'static str {
    const CLASSES: [&str; COLOURS] = ["b0", "b1", "b2", "b3", "b4", "b5", "b6", "b7"];
    let index = scene.brokers.iter().position(|broker| *broker == id);
    CLASSES[index.unwrap_or(0) % COLOURS]
}

fn places(from: Duration, until: Duration, end: Duration) -> (f64, f64) {
    (place(from, end), place(until, end))
}
