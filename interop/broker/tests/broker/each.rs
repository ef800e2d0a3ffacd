//! What each client does that it can do.

#![allow(clippy::print_stdout, reason = "it says how long each client took")]

use std::time::{Duration, Instant};

use klamm_cluster::wait_until;
use klamm_java_peer::{PeerError, Value, json};
use klamm_suite::is_full;

use crate::Context;
use crate::clients::{CLIENTS, Can, Client};
use crate::records::{PARTITIONS, Seen, read_by_klamm};

const DEADLINE: Duration = Duration::from_secs(120);

/// Each client alone, on a topic of its own.
pub(crate) fn client(context: &mut Context) {
    for client in CLIENTS {
        let began = Instant::now();
        one(context, client);
        println!("  {} ({:.1?})", client.name, began.elapsed());
    }
    assert!(context.up.is_running());
}

fn one(context: &mut Context, client: &Client) {
    let topic: String = client
        .name
        .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let partitions = PARTITIONS.to_string();
    create(context, client, &[&topic, &partitions, "3"]);
    let count = if is_full() { 20_000 } else { 1_500 };
    let mut sent = 0;
    // Every codec, and once without the numbers that make a producer idempotent.
    let ways = client.codecs.iter().map(|codec| (codec, "idempotent"));
    for (codec, idempotence) in ways.chain([(&client.codecs[0], "plain")]) {
        let (first, number) = (sent.to_string(), count.to_string());
        let args = [topic.as_str(), codec, &first, &number, idempotence];
        client.run(context, "produce", &args);
        sent += count;
    }
    let read = read_by_klamm(&context.up.bootstrap, &topic, sent);
    let read = context.runtime.block_on(read);
    read.assert_whole(sent, &format!("of {}, read by klamm", client.name));
    if client.can(Can::Assign) {
        let shown = client.run(context, "consume", &[&topic, &sent.to_string()]);
        Seen::shown(&shown).assert_whole(sent, client.name);
    }
    if client.can(Can::Offsets) {
        let said = client.run(context, "offsets", &[&topic]);
        let counts = read.counts().into_iter().enumerate();
        let rows: Vec<String> = counts
            .map(|(partition, count)| format!("{partition} 0 {count}"))
            .collect();
        assert_eq!(said.lines().collect::<Vec<_>>(), rows, "{}", client.name);
    }
    if client.can(Can::Elect) {
        elect(context, client, &topic);
    }
    if client.can(Can::Topics) {
        client.run(context, "delete", &[&topic]);
        let gone = |rows: &[Value]| rows.iter().all(|row| row["topic"] != *topic);
        wait_for(context, &json!({}), "to be gone", gone);
    }
}

/// By the client, or by Apache Kafka's tool where the client makes no topics.
fn create(context: &mut Context, client: &Client, args: &[&str]) {
    let by = if client.can(Can::Topics) {
        client
    } else {
        &CLIENTS[0]
    };
    by.run(context, "create", args);
    let wanted = json!({ "topics": [args[0]] });
    wait_for(context, &wanted, "to be led", |rows| {
        rows.len() == PARTITIONS && rows.iter().all(|row| row["leader"].as_i64() > Some(0))
    });
}

/// Another replica becomes the preferred one, and the client has it elected.
fn elect(context: &mut Context, client: &Client, topic: &str) {
    let wanted = json!({ "topics": [topic] });
    let before = topics(context, &wanted).unwrap();
    let leader = before[0]["leader"].as_i64().unwrap();
    let mut replicas: Vec<i64> = [1, 2, 3].into_iter().filter(|id| *id != leader).collect();
    let preferred = replicas[0];
    replicas.push(leader);
    let moved = json!({ "topic": topic, "partition": 0, "replicas": replicas });
    ask(context, "reassign", moved).unwrap();
    client.run(context, "elect", &[topic, "0"]);
    let what = format!("to be led by {preferred}");
    let after = wait_for(context, &wanted, &what, |rows| {
        rows[0]["leader"] == preferred
    });
    assert_eq!(after[1..], before[1..], "{}", client.name);
}

/// Waits until partitions are so on whichever broker is asked: brokers learn one after the other.
fn wait_for(
    context: &mut Context,
    wanted: &Value,
    what: &str,
    ready: impl Fn(&[Value]) -> bool,
) -> Vec<Value> {
    let mut last = Ok(Vec::new());
    let held = wait_until(DEADLINE, || {
        last = topics(context, wanted);
        last.as_ref().is_ok_and(|rows| ready(rows))
    });
    assert!(held, "{wanted} are not {what}: {last:?}");
    last.unwrap()
}

/// Partitions as Apache Kafka's Admin client sees them.
fn topics(context: &mut Context, wanted: &Value) -> Result<Vec<Value>, PeerError> {
    let rows = ask(context, "topics", wanted.clone())?;
    Ok(rows.as_array().unwrap().clone())
}

fn ask(context: &mut Context, op: &str, mut args: Value) -> Result<Value, PeerError> {
    args["bootstrap"] = context.up.bootstrap.as_str().into();
    context.peer.call(op, args)
}
