//! Random resources, keys and values: some that are right, and many that are not.

use std::collections::BTreeMap;

use fastrand::Rng;
use klamm_java_peer::{Value, json};
use klamm_metadata::config_keys::{CLIENT_METRICS_KEYS, GROUP_KEYS, TOPIC_KEYS};
use klamm_protocol::messages::{alter_configs, incremental_alter_configs as incremental};

const TOPIC: i8 = 2;
const NODE: i8 = 4;
const CLIENT_METRICS: i8 = 16;
const GROUP: i8 = 32;

/// Keys of nodes; what they are set to bears on no other resource.
const NODE_KEYS: &[&str] = &[
    "min.insync.replicas",
    "cordoned.log.dirs",
    "unclean.leader.election.enable",
    "message.max.bytes",
    "ssl.cipher.suites",
    "sasl.enabled.mechanisms",
    "listener.name.external.ssl.cipher.suites",
    "log.roll.ms",
    "no.such.key",
];

/// Values that are right somewhere, and such that are right nowhere.
const VALUES: &[&str] = &[
    "",
    " ",
    "x",
    "-3",
    "-2",
    "-1",
    "0",
    "1",
    "2",
    "5",
    "10",
    "22",
    "100",
    "101",
    "1000",
    " 7 ",
    "+7",
    "15000",
    "45000",
    "60000",
    "60001",
    "1048576",
    "1073741824",
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "true",
    "FALSE",
    " true",
    "yes",
    "delete",
    "compact",
    "compact,delete",
    " delete , compact",
    "delete,",
    "gzip",
    "zstd ",
    "GZIP",
    "producer",
    "CreateTime",
    "LogAppendTime",
    "0.5",
    "1.5",
    "0.25d",
    "NaN",
    "nan",
    "1e-1",
    "*",
    "0:1",
    "0:1,1:2",
    "0:x",
    ",",
    "a,,b",
    "a,b",
    "a,a",
    "b",
    "c,d",
    "earliest",
    "latest",
    "by_duration:PT1H",
    "by_duration:P1DT2H3M4.5S",
    "by_duration:1",
    "by_duration:PT",
    "read_committed",
    "sticky",
    "__dlq",
    "dlq",
    "client_id=a.*",
    "client_id=[a",
    "client_id",
    "client_software_name=x,client_id=b",
    "foo=b",
    "/a",
    "/b",
    "/a, /b",
    "/a,/b,/c",
];

/// A resource and what is to become of it.
pub(super) struct Resource {
    kind: i8,
    name: &'static str,
    ops: Vec<(&'static str, i8, Option<String>)>,
}

fn choice<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.usize(..of.len())]
}

/// Up to three resources of a request.
pub(super) fn resources(rng: &mut Rng) -> Vec<Resource> {
    let mut chosen: BTreeMap<(i8, &str), Resource> = BTreeMap::new();
    for _ in 0..rng.usize(1..=3) {
        let resource = resource(rng);
        chosen.insert((resource.kind, resource.name), resource);
    }
    chosen.into_values().collect()
}

fn resource(rng: &mut Rng) -> Resource {
    let (kind, names): (i8, &[&str]) = match rng.u8(..8) {
        0..=3 => (TOPIC, &["t", "t", "t", "u", "x", "", "a b", "."]),
        4 | 5 => (NODE, &["", "", "1", "1", "2", "100", "7", "-1", "zz"]),
        6 => (CLIENT_METRICS, &["m", "m", "n", ""]),
        _ => (GROUP, &["g", "g", "h", ""]),
    };
    let name = choice(rng, names);
    let ops = (0..rng.usize(..4)).map(|_| {
        let key = key(rng, kind);
        let op = choice(rng, &[0, 0, 0, 1, 2, 3]);
        (key, op, (op != 1).then(|| value(rng, kind, key)))
    });
    let ops: BTreeMap<_, _> = ops.map(|(key, op, value)| (key, (op, value))).collect();
    let ops = ops.into_iter().map(|(key, (op, value))| (key, op, value));
    Resource {
        kind,
        name,
        ops: ops.collect(),
    }
}

fn key(rng: &mut Rng, kind: i8) -> &'static str {
    if rng.u8(..20) == 0 {
        return "no.such.key";
    }
    match kind {
        TOPIC if rng.u8(..4) == 0 => "min.insync.replicas",
        TOPIC => TOPIC_KEYS[rng.usize(..TOPIC_KEYS.len())].name,
        NODE => choice(rng, NODE_KEYS),
        CLIENT_METRICS => CLIENT_METRICS_KEYS[rng.usize(..CLIENT_METRICS_KEYS.len())].name,
        _ => GROUP_KEYS[rng.usize(..GROUP_KEYS.len())].name,
    }
}

fn value(rng: &mut Rng, kind: i8, key: &str) -> String {
    if rng.u8(..60) == 0 {
        let len = rng.usize(32_766..32_770);
        return "9".repeat(len);
    }
    let default = match kind {
        TOPIC => TOPIC_KEYS.iter().find(|row| row.name == key),
        GROUP => GROUP_KEYS.iter().find(|row| row.name == key),
        _ => None,
    };
    let default = default.and_then(|row| row.default);
    match default {
        Some(default) if rng.u8(..3) == 0 => default.to_owned(),
        _ => choice(rng, VALUES).to_owned(),
    }
}

/// What the controller's own file sets.
pub(super) fn properties(rng: &mut Rng) -> BTreeMap<String, String> {
    const LINES: &[(&str, &str)] = &[
        ("remote.log.storage.system.enable", "true"),
        ("remote.log.storage.system.enable", "false"),
        ("min.insync.replicas", "2"),
        ("log.cleaner.min.compaction.lag.ms", "10"),
        ("log.retention.hours", "1"),
        ("log.retention.ms", "100"),
        ("group.consumer.max.session.timeout.ms", "70000"),
        ("group.streams.assignors", "sticky"),
        ("group.streams.max.standby.replicas", "7"),
        ("group.share.min.delivery.count.limit", "3"),
    ];
    let chosen = LINES.iter().filter(|_| rng.u8(..3) == 0);
    chosen
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

/// What resources have before the first request, keys of other releases among it.
pub(super) fn stored(rng: &mut Rng) -> Vec<(i8, &'static str, &'static str, &'static str)> {
    const STORED: &[(i8, &str, &str, &str)] = &[
        (TOPIC, "t", "message.format.version", "2.8"),
        (TOPIC, "t", "retention.ms", "5"),
        (TOPIC, "u", "remote.storage.enable", "true"),
        (TOPIC, "u", "min.insync.replicas", "2"),
        (NODE, "", "min.insync.replicas", "2"),
        (NODE, "1", "cordoned.log.dirs", "/a, /b"),
        (NODE, "2", "cordoned.log.dirs", "*"),
        (NODE, "2", "no.such.key", "5"),
        (GROUP, "g", "share.session.timeout.ms", "50000"),
        (GROUP, "g", "no.such.key", "50000"),
        (CLIENT_METRICS, "m", "interval.ms", "1000"),
        (CLIENT_METRICS, "m", "no.such.key", "1000"),
    ];
    STORED.iter().copied().filter(|_| rng.bool()).collect()
}

impl Resource {
    pub(super) fn to_json(&self) -> Value {
        let ops: Vec<Value> = self
            .ops
            .iter()
            .map(|(key, op, value)| json!([key, op, value]))
            .collect();
        json!([self.kind, self.name, ops])
    }

    pub(super) fn to_incremental(&self) -> incremental::AlterConfigsResource {
        let configs = self
            .ops
            .iter()
            .map(|(key, op, value)| incremental::AlterableConfig {
                name: (*key).into(),
                config_operation: *op,
                value: value.as_deref().map(Into::into),
                ..Default::default()
            });
        incremental::AlterConfigsResource {
            resource_type: self.kind,
            resource_name: self.name.into(),
            configs: configs.collect(),
            ..Default::default()
        }
    }

    pub(super) fn to_legacy(&self) -> alter_configs::AlterConfigsResource {
        let configs = self
            .ops
            .iter()
            .map(|(key, _, value)| alter_configs::AlterableConfig {
                name: (*key).into(),
                value: value.as_deref().map(Into::into),
                ..Default::default()
            });
        alter_configs::AlterConfigsResource {
            resource_type: self.kind,
            resource_name: self.name.into(),
            configs: configs.collect(),
            ..Default::default()
        }
    }
}
