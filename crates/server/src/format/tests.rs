use std::path::Path;

use expect_test::{Expect, expect};
use klamm_config::Properties;
use klamm_log::{OsDir, SnapshotId, Snapshots};
use klamm_protocol::records::{Batch, Batches, ControlKey, DecompressLimit};
use tempfile::TempDir;

use super::*;

mod directories;
mod levels;

const CLUSTER: &str = "MkU3OEVBNTcwNTJENDM2Qg";
const OTHER_CLUSTER: &str = "W2X7vRaMSHauCfKw7b_Z8Q";
const NOW_MS: i64 = 1_700_000_000_000;

/// A node whose directories are in one of the tests' own.
struct Fixture {
    dir: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        Self { dir }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    /// A controller with the directories `a` and `b`, and what is changed by further lines.
    fn node(&self, more: &str) -> NodeSettings {
        let (a, b) = (self.path("a"), self.path("b"));
        let text = format!(
            "node.id=1\nprocess.roles=controller\ncontroller.listener.names=CONTROLLER\n\
             listeners=CONTROLLER://localhost:9093\nlog.dirs={},{}\n\
             controller.quorum.bootstrap.servers=localhost:9093\n{more}\n",
            a.display(),
            b.display()
        );
        let properties = Properties::parse("server.properties", &text).expect("readable");
        NodeSettings::read(&properties).expect("usable").0
    }

    fn broker(&self) -> NodeSettings {
        self.node("process.roles=broker\nlisteners=PLAINTEXT://localhost:9092")
    }

    fn format(&self, node: &NodeSettings, request: &Request) -> Result<Plan, FormatError> {
        let plan = Plan::new(node, request)?;
        plan.carry_out(NOW_MS)?;
        Ok(plan)
    }

    /// What the checkpoint says, record by record.
    fn checkpoint(&self, name: &str) -> Vec<String> {
        let dir = OsDir::open(&self.path(name).join("__cluster_metadata-0")).expect("there");
        let snapshots = Snapshots::open(dir).expect("readable");
        let snapshot = snapshots.read(SnapshotId::BOOTSTRAP).expect("readable");
        let bytes = snapshot.expect("there").bytes(0, usize::MAX).expect("read");
        let mut said = Vec::new();
        for batch in Batches::new(bytes) {
            let Batch::V2(batch) = batch.expect("whole") else {
                panic!("an old format")
            };
            let header = *batch.header();
            assert_eq!(header.partition_leader_epoch.0, 0);
            for record in &batch.records(DecompressLimit::DEFAULT).expect("plain") {
                let record = record.expect("whole");
                let value = record.value_bytes().expect("a value");
                let what = if header.attributes.is_control() {
                    let kind = ControlKey::parse(record.key()).expect("a key").kind;
                    format!("{kind}")
                } else {
                    match klamm_metadata::Record::decode(&value).expect("a record") {
                        Record::FeatureLevel(level) => {
                            format!("{}={}", level.name, level.feature_level)
                        }
                        Record::UserScramCredential(user) => format!("user {}", user.name),
                        other => panic!("{other:?}"),
                    }
                };
                said.push(format!("{} {what}", record.offset()));
            }
        }
        said
    }

    fn properties(&self, name: &str) -> klamm_log::MetaProperties {
        let dir = OsDir::open(&self.path(name)).expect("there");
        let read = klamm_log::MetaProperties::read(&*dir).expect("readable");
        read.expect("there")
    }

    fn write(&self, name: &str, text: &str) {
        use std::fs;
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(path, text).expect("written");
    }
}

fn standalone() -> Request {
    Request {
        cluster_id: CLUSTER.to_owned(),
        release: None,
        features: Vec::new(),
        quorum: InitialQuorum::Standalone,
        scram: Vec::new(),
        ignore_formatted: false,
    }
}

fn with(quorum: InitialQuorum) -> Request {
    Request {
        quorum,
        ..standalone()
    }
}

fn beginning(plan: Plan) -> Beginning {
    plan.beginning.expect("a beginning")
}

fn feature(text: &str) -> FeatureLevel {
    text.parse().expect("a feature's level")
}

fn refused(node: &NodeSettings, request: &Request, fixture: &Fixture, expected: &Expect) {
    let error = fixture.format(node, request).expect_err("refused");
    let root = fixture.dir.path().display().to_string();
    expected.assert_eq(&error.to_string().replace(&root, "DIR"));
}

#[test]
fn a_quorum_of_one() {
    let fixture = Fixture::new();
    let plan = fixture.format(&fixture.node(""), &standalone());
    let plan = plan.expect("formatted");
    let kinds: Vec<DirectoryKind> = plan.directories.iter().map(|dir| dir.kind).collect();
    let voter = DirectoryKind::DynamicMetadataVoter;
    assert_eq!(kinds, [voter, DirectoryKind::Data]);
    expect![[r#"
        [
            "0 SNAPSHOT_HEADER",
            "1 KRAFT_VERSION",
            "2 KRAFT_VOTERS",
            "3 metadata.version=33",
            "4 eligible.leader.replicas.version=1",
            "5 group.version=1",
            "6 share.version=2",
            "7 streams.version=1",
            "8 transaction.version=2",
            "9 SNAPSHOT_FOOTER",
        ]
    "#]]
    .assert_debug_eq(&fixture.checkpoint("a"));
    assert!(!fixture.path("b/__cluster_metadata-0").exists());
    let (a, b) = (fixture.properties("a"), fixture.properties("b"));
    assert_eq!(a.cluster_id, CLUSTER);
    assert_eq!(a.node_id, BrokerId(1));
    assert_ne!(a.directory_id, b.directory_id);
    let voters = beginning(plan).voters.expect("one");
    let voter = voters.voter(BrokerId(1)).expect("itself");
    assert_eq!(voter.key.directory, a.directory_id);
    let endpoints: Vec<String> = voter
        .endpoints
        .iter()
        .map(|(name, endpoint)| format!("{name}://{endpoint}"))
        .collect();
    assert_eq!(endpoints, ["CONTROLLER://localhost:9093"]);
}

#[test]
fn static_voters_need_no_control_records() {
    let fixture = Fixture::new();
    let node = fixture.node("controller.quorum.voters=1@localhost:9093");
    let plan = fixture.format(&node, &with(InitialQuorum::Unsaid));
    assert!(!beginning(plan.expect("formatted")).dynamic);
    let said = fixture.checkpoint("a");
    assert_eq!(said[..2], ["0 SNAPSHOT_HEADER", "1 metadata.version=33"]);

    for quorum in [
        InitialQuorum::Standalone,
        InitialQuorum::Controllers(Vec::new()),
    ] {
        let error = Plan::new(&node, &with(quorum)).expect_err("refused");
        assert!(matches!(error, FormatError::VotersAreStatic), "{error}");
    }
    let error = Plan::new(&fixture.node(""), &with(InitialQuorum::Unsaid));
    assert!(matches!(error, Err(FormatError::VotersUnsaid)));
}

#[test]
fn several_first_voters() {
    let fixture = Fixture::new();
    let controllers = |text: &str| -> Vec<InitialController> {
        let each = text
            .split(' ')
            .map(|one| one.parse().expect("a controller"));
        each.collect()
    };
    let three = "2@b:1:W2X7vRaMSHauCfKw7b_Z8Q 1@[::1]:2:X2X7vRaMSHauCfKw7b_Z8Q";
    let request = with(InitialQuorum::Controllers(controllers(three)));
    let plan = fixture
        .format(&fixture.node(""), &request)
        .expect("formatted");
    assert_eq!(beginning(plan).voters.expect("two").len(), 2);
    let id = fixture.properties("a").directory_id.expect("an id");
    assert_eq!(id.to_string(), "X2X7vRaMSHauCfKw7b_Z8Q");
    let said = fixture.checkpoint("a");
    assert_eq!(said[1..3], ["1 KRAFT_VERSION", "2 KRAFT_VOTERS"]);

    let others = with(InitialQuorum::Controllers(controllers(
        "2@b:1:W2X7vRaMSHauCfKw7b_Z8Q",
    )));
    let plan = Plan::new(&Fixture::new().node(""), &others).expect("fine");
    assert_eq!(plan.directories[0].kind, DirectoryKind::DynamicMetadata);

    let twice = "1@b:1:W2X7vRaMSHauCfKw7b_Z8Q 1@c:1:X2X7vRaMSHauCfKw7b_Z8Q";
    let request = with(InitialQuorum::Controllers(controllers(twice)));
    let error = Plan::new(&fixture.node(""), &request).expect_err("refused");
    assert!(matches!(
        error,
        FormatError::InitialControllerTwice(BrokerId(1))
    ));
    let twice = "1@b:1:W2X7vRaMSHauCfKw7b_Z8Q 2@c:1:W2X7vRaMSHauCfKw7b_Z8Q";
    let request = with(InitialQuorum::Controllers(controllers(twice)));
    let error = Plan::new(&fixture.node(""), &request).expect_err("refused");
    assert!(matches!(error, FormatError::InitialDirectoryTwice(_)));
}

#[test]
fn texts_that_are_no_initial_controllers() {
    for text in [
        "",
        "1",
        "1@localhost:9093",
        "x@localhost:9093:W2X7vRaMSHauCfKw7b_Z8Q",
        "-1@localhost:9093:W2X7vRaMSHauCfKw7b_Z8Q",
        "1@localhost:W2X7vRaMSHauCfKw7b_Z8Q",
        "1@localhost:0:W2X7vRaMSHauCfKw7b_Z8Q",
        "1@localhost:9093:short",
        "1@localhost:9093:AAAAAAAAAAAAAAAAAAAAAA",
    ] {
        assert!(text.parse::<InitialController>().is_err(), "{text}");
    }
}

#[test]
fn brokers_have_no_checkpoint() {
    let fixture = Fixture::new();
    let node = fixture.broker();
    fixture
        .format(&node, &with(InitialQuorum::Unsaid))
        .expect("formatted");
    assert!(!fixture.path("a/__cluster_metadata-0").exists());
    assert_eq!(fixture.properties("a").node_id, BrokerId(1));
    refused(
        &node,
        &standalone(),
        &fixture,
        &expect!["node 1 is no controller by process.roles, so it cannot be the first voter"],
    );
}

#[test]
fn users_are_there_from_the_start() {
    let fixture = Fixture::new();
    let user = |text: &str| text.parse::<NewScramCredential>().expect("a user");
    let request = Request {
        scram: vec![
            user("SCRAM-SHA-512=[name=bob,password=x]"),
            user("SCRAM-SHA-256=[name=\"a,b\",password=x]"),
        ],
        ..standalone()
    };
    fixture
        .format(&fixture.node(""), &request)
        .expect("formatted");
    let said = fixture.checkpoint("a").join(" ");
    assert!(
        said.contains("9 user bob 10 user a,b 11 SNAPSHOT_FOOTER"),
        "{said}"
    );

    let old = Request {
        release: Some("3.4".parse().expect("a release")),
        ..request.clone()
    };
    let fixture = Fixture::new();
    refused(
        &fixture.node(""),
        &old,
        &fixture,
        &expect!["users with SCRAM need metadata.version 3.5-IV2 or later, and it is 3.4-IV0"],
    );
    let twice = Request {
        scram: vec![request.scram[0].clone(), request.scram[0].clone()],
        ..request
    };
    refused(
        &fixture.node(""),
        &twice,
        &fixture,
        &expect!["the user bob is there twice with SCRAM-SHA-512"],
    );
}

#[test]
fn others_must_be_able_to_reach_the_only_voter() {
    let fixture = Fixture::new();
    let node = fixture.node("listeners=CONTROLLER://localhost:0");
    refused(
        &node,
        &standalone(),
        &fixture,
        &expect![
            "the listener CONTROLLER has port 0, and others are told where this controller listens: give it a port in listeners or advertised.listeners"
        ],
    );
    let everywhere = fixture.node("listeners=CONTROLLER://:9093");
    let plan = Plan::new(&everywhere, &standalone()).expect("fine");
    let voters = beginning(plan).voters.expect("one");
    let voter = voters.voter(BrokerId(1)).expect("itself");
    let (_, endpoint) = voter.endpoints.iter().next().expect("one");
    assert!(!endpoint.host.is_empty() && Path::new(&endpoint.host) != Path::new("0.0.0.0"));
}

#[test]
fn an_empty_cluster_id_is_none() {
    let fixture = Fixture::new();
    for cluster_id in ["", "  "] {
        let request = Request {
            cluster_id: cluster_id.to_owned(),
            ..standalone()
        };
        let error = Plan::new(&fixture.node(""), &request);
        assert!(matches!(error, Err(FormatError::NoClusterId)));
    }
}
