//! What the controller tells of itself: klamm's by HTTP, Apache Kafka's by JMX.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;

use klamm_cluster::{Cluster, Program};
use klamm_java_peer::{Value, json};

use crate::{CONTROLLER, Context};

/// What they are and what they are called.
const REFERENCE: &str = include_str!("../../../../docs/metrics.md");

/// While a broker is away, with partitions that only it has: the same numbers from both, under the same
/// names; and every name of Kafka's that the reference has.
pub(crate) fn as_told(context: &mut Context) {
    const GONE: u32 = 3;
    let names = [0; 2].map(|_| context.topic("gauges"));
    let [alone, shared] = &names;
    let cluster = context.whole();
    cluster.create_topic(alone, &[&[3], &[3]], &[]);
    cluster.create_topic(shared, &[&[3, 1, 2], &[1, 2, 3]], &[]);
    cluster.kill(GONE);
    cluster.wait_for_topic(alone, "no leader", |p| p.iter().all(|p| p.leader == -1));
    cluster.wait_for_topic(shared, "others to lead", |partitions| {
        let others = |id| id != -1 && id != GONE as i32;
        partitions.iter().all(|p| others(p.leader))
    });
    let mut told = BTreeMap::new();
    let mut differences = Vec::new();
    cluster.wait("gauges that say so", || {
        let expected = expected(cluster, GONE);
        told = tell(context);
        let differs = |(name, value): &(String, f64)| {
            let is = told.get(name).copied();
            (is != Some(*value)).then(|| format!("{name} is {is:?}, expected {value}"))
        };
        let now: Vec<String> = expected.iter().filter_map(differs).collect();
        if now != differences {
            println!("gauges: {now:?}");
            differences = now;
        }
        differences.is_empty()
    });
    let rows = REFERENCE
        .lines()
        .filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| Some(row.split_once('`')?.0));
    let names: Vec<&str> = names.filter(|name| name.starts_with("kafka_")).collect();
    assert!(names.len() > 20, "the reference has {names:?}");
    let is_told = |name: &str| {
        let of_name = |told: &String| told.split('{').next() == Some(name);
        told.keys().any(of_name)
    };
    let missing: Vec<&&str> = names.iter().filter(|name| !is_told(name)).collect();
    assert!(missing.is_empty(), "{missing:?} are not among {told:#?}");
    cluster.restart(GONE);
    context.in_sync(&[alone, shared]);
}

/// What a client sees, as gauges tell it.
fn expected(cluster: &Cluster, gone: u32) -> Vec<(String, f64)> {
    let mut partitions = cluster.all_partitions();
    // Those of groups and transactions are topics as well, which a client does not list.
    for internal in ["__consumer_offsets", "__transaction_state"] {
        partitions.extend(cluster.partitions_now(internal));
    }
    let count = |counts: &dyn Fn(&klamm_cluster::Partition) -> bool| {
        partitions.iter().filter(|one| counts(one)).count() as f64
    };
    let mut topics: Vec<&String> = partitions.iter().map(|one| &one.topic).collect();
    topics.sort_unstable();
    topics.dedup();
    let of_controller = [
        ("activecontrollercount", 1.0),
        ("activebrokercount", 2.0),
        ("fencedbrokercount", 1.0),
        ("controlledshutdownbrokercount", 0.0),
        ("metadataerrorcount", 0.0),
        ("globaltopiccount", topics.len() as f64),
        ("globalpartitioncount", partitions.len() as f64),
        ("offlinepartitionscount", count(&|one| one.leader == -1)),
        (
            "preferredreplicaimbalancecount",
            count(&|one| !one.is_preferred()),
        ),
    ];
    let of_controller = of_controller.map(|(name, value)| {
        let name = format!("kafka_controller_kafkacontroller_{name}");
        (name, value)
    });
    let state = |id: u32| {
        let name = "kafka_controller_kafkacontroller_brokerregistrationstate";
        let state = if id == gone { 10.0 } else { 30.0 };
        (format!("{name}{{broker=\"{id}\"}}"), state)
    };
    let leader = f64::from(CONTROLLER);
    let others = [
        ("kafka_server_metadataloader_currentcontrollerid", leader),
        ("kafka_server_raftmetrics_current_leader", leader),
        ("kafka_server_raftmetrics_number_of_voters", 1.0),
    ];
    let others = others.map(|(name, value)| (name.to_owned(), value));
    let all = of_controller.into_iter().chain([1, 2, 3].map(state));
    all.chain(others).collect()
}

/// Names with labels, in lower case, and numbers.
fn tell(context: &Context) -> BTreeMap<String, f64> {
    let port = context.cluster.metrics_port(CONTROLLER);
    match context.program {
        Program::Klamm(_) => by_http(port),
        Program::Apache => {
            let beans = context.cluster.admin("jmx", json!({ "port": port }));
            let beans = beans.as_array().unwrap().iter();
            beans.flat_map(exported).collect()
        }
    }
}

fn by_http(port: u16) -> BTreeMap<String, f64> {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let lines = answer.lines().filter(|line| line.starts_with("kafka_"));
    let numbers = lines.map(|line| {
        let (name, value) = line.rsplit_once(' ').unwrap();
        (name.to_lowercase(), value.parse().unwrap())
    });
    numbers.collect()
}

/// What the JMX exporter of Prometheus makes of an MBean with the usual rules for Kafka.
fn exported(bean: &Value) -> Vec<(String, f64)> {
    let text = |value: &Value| value.as_str().unwrap().to_lowercase();
    let mut keys = bean["keys"].as_object().unwrap().clone();
    let kind = keys
        .remove("type")
        .map_or_else(String::new, |kind| text(&kind));
    let name = keys.remove("name").map(|name| text(&name));
    let domain = text(&bean["domain"]).replace('.', "_");
    let kind = kind.replace('-', "");
    let label = |(key, value): (&String, &Value)| format!("{}={value}", key.to_lowercase());
    let labels: Vec<String> = keys.iter().map(label).collect();
    let values = bean["values"].as_object().unwrap().iter();
    let numbers = values.map(|(attribute, value)| {
        let attribute = attribute.to_lowercase().replace('-', "_");
        let mut labels = labels.clone();
        let parts = match name.as_deref() {
            None => vec![attribute.as_str()],
            Some(name) => match (attribute.as_str(), name.strip_suffix("persec")) {
                ("value", _) => vec![name],
                ("count", Some(name)) => vec![name, "total"],
                (attribute, _) => match attribute.strip_suffix("thpercentile") {
                    Some(percentile) => {
                        labels.push(format!("quantile=\"0.{percentile}\""));
                        vec![name]
                    }
                    None => vec![name, attribute],
                },
            },
        };
        // A text is the label of a 1.
        if value.is_string() {
            labels.push(format!("{attribute}={value}"));
        }
        let mut told = format!("{domain}_{kind}_{}", parts.join("_"));
        if !labels.is_empty() {
            told = format!("{told}{{{}}}", labels.join(","));
        }
        (told, value.as_f64().unwrap_or(1.0))
    });
    numbers.collect()
}
