//! `klamm format` and Apache Kafka's storage tool, with the same flags on the same configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use klamm_cluster::Cluster;
use klamm_protocol::records::{Batch, Batches, ControlKey, ControlType, DecompressLimit};
use tempfile::TempDir;

use crate::Context;
use crate::klamm::klamm;

const CLUSTER: &str = "MkU3OEVBNTcwNTJENDM2Qg";
const CHECKPOINT: &str = "__cluster_metadata-0/00000000000000000000-0000000000.checkpoint";

const STATIC: &str = "controller.quorum.voters=1@localhost:9093";
const DYNAMIC: &str = "controller.quorum.bootstrap.servers=localhost:9093";
const ADVERTISED: &str = "controller.quorum.bootstrap.servers=localhost:9093\n\
                          advertised.listeners=CONTROLLER://elsewhere:19093";
const UNSTABLE: &str = "controller.quorum.bootstrap.servers=localhost:9093\n\
                        unstable.feature.versions.enable=true";
const BROKER: &str = "process.roles=broker\nlisteners=PLAINTEXT://localhost:9092\n\
                      controller.quorum.bootstrap.servers=localhost:9093";
const TWO_LISTENERS: &str = "controller.listener.names=FIRST,SECOND\n\
                             listeners=SECOND://localhost:9094,FIRST://localhost:9093\n\
                             controller.quorum.bootstrap.servers=localhost:9093";

const CONTROLLERS: &str = "2@k2:9093:JEXY6aqzQY-32P5TStzaFg,1@k1:9093:MvDxzVmcRsaTz33bUuRU6A";
const SCRAM_256: &str = "SCRAM-SHA-256=[name=alice,iterations=8192,salt=\"N3E=\",password=pw]";
const SCRAM_512: &str = "SCRAM-SHA-512=[name=bob,salt=\"N3E=\",saltedpassword=\"YCE=\"]";

/// What is in the file beside directories, and the flags.
const CASES: &[(&str, &str)] = &[
    (STATIC, ""),
    (STATIC, "--no-initial-controllers"),
    (DYNAMIC, "--standalone"),
    (ADVERTISED, "--standalone"),
    (TWO_LISTENERS, "--standalone"),
    (UNSTABLE, "--standalone"),
    (DYNAMIC, "--no-initial-controllers"),
    (BROKER, ""),
    (BROKER, "--no-initial-controllers"),
    (DYNAMIC, "--standalone --release-version 3.3-IV3"),
    (DYNAMIC, "--standalone --release-version 3.9"),
    (
        DYNAMIC,
        "--standalone --release-version 4.0 --feature group.version=0",
    ),
    (
        DYNAMIC,
        "--standalone --release-version 4.1-IV0 --feature transaction.version=1",
    ),
    (DYNAMIC, "--standalone --release-version 4.4-IV0"),
    (DYNAMIC, "--standalone --feature metadata.version=20"),
    (DYNAMIC, "--standalone --feature kraft.version=1"),
];

/// The same files, the same ids, and the same records in the same batches, but for the times and for
/// ids that are random.
pub(crate) fn records(context: &mut Context) {
    let listed = format!("--initial-controllers {CONTROLLERS}");
    let users = format!("--standalone --add-scram {SCRAM_512} --add-scram {SCRAM_256}");
    let more = [(DYNAMIC, listed.as_str()), (DYNAMIC, users.as_str())];
    for (properties, flags) in CASES.iter().copied().chain(more) {
        let what = format!("{properties} {flags}");
        let (klamms, apaches) = (Formatted::new(properties), Formatted::new(properties));
        klamms.by_klamm(flags);
        apaches.by_apache(&context.cluster, flags);
        assert_eq!(klamms.files(), apaches.files(), "{what}");
        for dir in ["a", "b"] {
            let (own, their) = (klamms.properties(dir), apaches.properties(dir));
            assert_eq!(without_id(&own), without_id(&their), "{what}");
            if flags == listed && dir == "a" {
                assert_eq!(own, their, "{what}");
            }
        }
        assert_eq!(klamms.checkpoint(), apaches.checkpoint(), "{what}");
    }
}

/// Apache Kafka's tools and `klamm explain` read a directory that klamm formatted.
pub(crate) fn read_by_tools(context: &mut Context) {
    let formatted = Formatted::new(DYNAMIC);
    formatted.by_klamm("--standalone");
    let checkpoint = formatted.path("a").join(CHECKPOINT);
    let file = checkpoint.display().to_string();
    let args = ["--cluster-metadata-decoder", "--files", &file];
    let (status, said) = context.cluster.offline_tool("DumpLogSegments", &args);
    assert_eq!(status, 0, "{said}");
    for what in [
        "KRaftVersion",
        "KRaftVoters",
        "SnapshotHeader",
        "SnapshotFooter",
    ] {
        assert!(said.contains(what), "no {what} in {said}");
    }
    assert!(
        said.contains("\"name\":\"metadata.version\",\"featureLevel\":33"),
        "{said}"
    );
    let explained = klamm(&["explain", "--file", &file]);
    assert!(explained.contains("10 records in 3 batches"), "{explained}");

    let config = formatted.config.display().to_string();
    let (status, said) = storage_tool(&context.cluster, &["info", "--config", &config]);
    assert_eq!(status, 0, "{said}");
    assert!(said.contains(CLUSTER), "{said}");
    let apaches = Formatted::new(DYNAMIC);
    apaches.by_apache(&context.cluster, "--standalone");
    let said = klamm(&["info", "--config", &apaches.config.display().to_string()]);
    assert!(
        said.contains("No problems") && said.contains(CLUSTER),
        "{said}"
    );
}

fn storage_tool(cluster: &Cluster, args: &[&str]) -> (i64, String) {
    cluster.offline_tool("kafka.tools.StorageTool", args)
}

/// A node with two directories, `a` and `b`.
struct Formatted {
    dir: TempDir,
    config: PathBuf,
}

impl Formatted {
    fn new(properties: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("server.properties");
        let root = dir.path().display();
        let text = format!(
            "node.id=1\nprocess.roles=controller\ncontroller.listener.names=CONTROLLER\n\
             listeners=CONTROLLER://localhost:9093\nlog.dirs={root}/a,{root}/b\n{properties}\n"
        );
        std::fs::write(&config, text).unwrap();
        Self { dir, config }
    }

    fn args<'a>(&'a self, config: &'a str, flags: &'a str) -> Vec<&'a str> {
        let first = ["format", "--cluster-id", CLUSTER, "--config", config];
        first.into_iter().chain(flags.split_whitespace()).collect()
    }

    fn by_klamm(&self, flags: &str) {
        klamm(&self.args(&self.config.display().to_string(), flags));
    }

    fn by_apache(&self, cluster: &Cluster, flags: &str) {
        let config = self.config.display().to_string();
        let (status, said) = storage_tool(cluster, &self.args(&config, flags));
        assert_eq!(status, 0, "{flags}: {said}");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What was written, but for the lock that a server takes as well.
    fn files(&self) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        collect(self.dir.path(), self.dir.path(), &mut files);
        files
    }

    fn properties(&self, dir: &str) -> BTreeMap<String, String> {
        let text = std::fs::read_to_string(self.path(dir).join("meta.properties")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let pairs = lines.map(|line| line.split_once('=').unwrap());
        pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    /// The checkpoint's batches; `None` if there is none.
    fn checkpoint(&self) -> Option<Vec<BatchSeen>> {
        let bytes = std::fs::read(self.path("a").join(CHECKPOINT)).ok()?;
        let id = &self.properties("a")["directory.id"];
        let id = *id.parse::<klamm_protocol::Uuid>().unwrap().as_bytes();
        Some(
            Batches::new(bytes.into())
                .map(|batch| seen(batch.unwrap(), &id))
                .collect(),
        )
    }
}

fn without_id(properties: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut properties = properties.clone();
    assert!(properties.remove("directory.id").is_some());
    properties
}

fn collect(root: &Path, dir: &Path, files: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.file_name().unwrap() != ".lock" {
            files.insert(path.strip_prefix(root).unwrap().to_owned());
        }
    }
}

/// A batch without times and checksum.
#[derive(Debug, PartialEq)]
struct BatchSeen {
    base_offset: i64,
    epoch: i32,
    attributes: i16,
    producer: (i64, i16, i32),
    records: Vec<(i64, Option<Bytes>, Option<Bytes>)>,
}

fn seen(batch: Batch, id: &[u8; 16]) -> BatchSeen {
    let Batch::V2(batch) = batch else {
        panic!("an old format")
    };
    batch.verify_crc().unwrap();
    let header = batch.header();
    let is_control = header.attributes.is_control();
    let records = batch.records(DecompressLimit::DEFAULT).unwrap();
    let record = |record: klamm_protocol::records::Record<'_>| {
        assert_eq!(record.headers().len(), 0);
        let value = record.value_bytes().map(|value| {
            let is_header = is_control
                && ControlKey::parse(record.key()).unwrap().kind == ControlType::SnapshotHeader;
            without_chance(&value, id, is_header)
        });
        (record.offset().0, record.key_bytes(), value)
    };
    BatchSeen {
        base_offset: header.base_offset.0,
        epoch: header.partition_leader_epoch.0,
        attributes: header.attributes.bits(),
        producer: (
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
        ),
        records: records.iter().map(|each| record(each.unwrap())).collect(),
    }
}

/// Zeros in the place of the directory's id, and of the time in a snapshot's header, which follows
/// its version.
fn without_chance(value: &[u8], id: &[u8; 16], is_header: bool) -> Bytes {
    let mut value = value.to_vec();
    if is_header {
        value[2..10].fill(0);
    }
    if let Some(at) = value.windows(16).position(|window| window == id) {
        value[at..at + 16].fill(0);
    }
    value.into()
}
