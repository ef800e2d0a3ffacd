//! The set of voters: who asks a quorum of one to change it is answered with the same codes by Apache
//! Kafka's controller and klamm's.

use std::fmt::Write;

use expect_test::{Expect, expect};
use klamm_cluster::{Cluster, Program, Spec};
use klamm_protocol::messages::add_raft_voter::{self, AddRaftVoterRequest};
use klamm_protocol::messages::describe_quorum::{
    DescribeQuorumRequest, RequestPartitionData, RequestTopicData,
};
use klamm_protocol::messages::remove_raft_voter::RemoveRaftVoterRequest;
use klamm_protocol::messages::update_features::{FeatureUpdateKey, UpdateFeaturesRequest};
use klamm_protocol::messages::update_raft_voter::{
    self, KRaftVersionFeature, UpdateRaftVoterRequest,
};
use klamm_protocol::{ErrorCode, Uuid};
use klamm_suite::Wire;

use crate::{CONTROLLER, Context};

/// A node that there is not.
const OTHER: i32 = 200;
/// A directory that there is not.
const STRANGE: Uuid = Uuid::from_bytes([7; 16]);
/// How features are changed.
const UPGRADE: i8 = 1;
const SAFE_DOWNGRADE: i8 = 2;
const UNSAFE_DOWNGRADE: i8 = 3;
/// A port that nobody listens on.
const NOWHERE: u16 = 1;

/// The quorum as it says it is.
struct Quorum<'a> {
    cluster: &'a Cluster,
    wire: Wire,
    port: u16,
    epoch: i32,
    /// The directory of the only voter.
    directory: Uuid,
    /// The same as the quorum tells it: zero where the voters are those of the configuration.
    described: Uuid,
    said: String,
}

impl<'a> Quorum<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        let address = cluster.controller(CONTROLLER);
        let (_, port) = address.rsplit_once(':').unwrap();
        let mut quorum = Self {
            cluster,
            wire: Wire::connect(&address),
            port: port.parse().unwrap(),
            epoch: -1,
            directory: directory(cluster),
            described: Uuid::ZERO,
            said: String::new(),
        };
        quorum.look();
        quorum
    }

    fn look(&mut self) {
        let request = DescribeQuorumRequest {
            topics: vec![RequestTopicData {
                topic_name: "__cluster_metadata".into(),
                partitions: vec![RequestPartitionData::default()],
                ..Default::default()
            }],
            ..Default::default()
        };
        let answer = self.wire.call(2, &request);
        let partition = &answer.topics[0].partitions[0];
        assert_eq!(partition.current_voters.len(), 1, "{answer:?}");
        self.epoch = partition.leader_epoch;
        self.described = partition.current_voters[0].replica_directory_id;
    }

    fn note(&mut self, what: &str, code: i16) {
        writeln!(self.said, "{what}: {}", ErrorCode(code)).unwrap();
    }

    fn add(&mut self, what: &str, change: impl Fn(&mut AddRaftVoterRequest)) {
        let mut request = AddRaftVoterRequest {
            cluster_id: Some(self.cluster.id().into()),
            timeout_ms: 5_000,
            voter_id: OTHER,
            voter_directory_id: STRANGE,
            listeners: vec![add_raft_voter::Listener {
                name: "CONTROLLER".into(),
                host: "127.0.0.1".into(),
                port: NOWHERE,
                ..Default::default()
            }],
            ..Default::default()
        };
        change(&mut request);
        let answer = self.wire.call(1, &request);
        self.note(&format!("add {what}"), answer.error_code);
    }

    fn remove(&mut self, what: &str, change: impl Fn(&mut RemoveRaftVoterRequest)) {
        let mut request = RemoveRaftVoterRequest {
            cluster_id: Some(self.cluster.id().into()),
            voter_id: OTHER,
            voter_directory_id: STRANGE,
            ..Default::default()
        };
        change(&mut request);
        let answer = self.wire.call(0, &request);
        self.note(&format!("remove {what}"), answer.error_code);
    }

    /// An update of the only voter, to what it is already.
    fn update(&mut self, what: &str, change: impl Fn(&mut UpdateRaftVoterRequest)) {
        let mut request = UpdateRaftVoterRequest {
            cluster_id: Some(self.cluster.id().into()),
            current_leader_epoch: self.epoch,
            voter_id: CONTROLLER as i32,
            voter_directory_id: self.directory,
            listeners: vec![update_raft_voter::Listener {
                name: "CONTROLLER".into(),
                host: "127.0.0.1".into(),
                port: self.port,
                ..Default::default()
            }],
            k_raft_version_feature: KRaftVersionFeature {
                max_supported_version: 1,
                ..Default::default()
            },
            ..Default::default()
        };
        change(&mut request);
        let answer = self.wire.call(0, &request);
        let leader = &answer.current_leader;
        let is_right = (leader.leader_id, leader.leader_epoch, leader.port)
            == (CONTROLLER as i32, self.epoch, i32::from(self.port));
        let code = ErrorCode(answer.error_code);
        let leader = if is_right { "leader" } else { "no leader" };
        writeln!(self.said, "update {what}: {code}, {leader}").unwrap();
    }

    /// An update of the level of `kraft.version`.
    fn level(&mut self, level: i16, upgrade_type: i8, validate_only: bool) {
        let request = UpdateFeaturesRequest {
            timeout_ms: 10_000,
            feature_updates: vec![FeatureUpdateKey {
                feature: "kraft.version".into(),
                max_version_level: level,
                upgrade_type,
                ..Default::default()
            }],
            validate_only,
            ..Default::default()
        };
        let answer = self.wire.call(2, &request);
        let check = if validate_only { ", only a check" } else { "" };
        let what = format!("kraft.version {level} by {upgrade_type}{check}");
        self.note(&what, answer.error_code);
    }

    /// Whatever may be asked, but for what changes the voters.
    fn every_question(&mut self) -> String {
        let (own, port) = (CONTROLLER as i32, self.port);
        let directory = self.directory;
        let other_cluster = "AAAAAAAAAAAAAAAAAAAAAQ";
        self.add("of another cluster", |r| {
            r.cluster_id = Some(other_cluster.into())
        });
        self.add("without an id", |r| r.voter_id = -1);
        self.add("without a directory", |r| r.voter_directory_id = Uuid::ZERO);
        self.add("without an endpoint", |r| r.listeners.clear());
        self.add("with another endpoint", |r| {
            r.listeners[0].name = "ELSE".into()
        });
        self.add("the voter", |r| {
            (r.voter_id, r.voter_directory_id) = (own, directory)
        });
        self.add("the voter with another directory", |r| r.voter_id = own);
        self.add("who is not there", |_| {});
        self.add("who is not there, of no cluster", |r| r.cluster_id = None);
        self.add("who has fetched nothing", |r| r.listeners[0].port = port);
        self.remove("of another cluster", |r| {
            r.cluster_id = Some(other_cluster.into())
        });
        self.remove("without an id", |r| r.voter_id = -1);
        self.remove("without a directory", |r| r.voter_directory_id = Uuid::ZERO);
        self.remove("who is no voter", |_| {});
        self.remove("the voter with another directory", |r| r.voter_id = own);
        self.update("of another cluster", |r| {
            r.cluster_id = Some(other_cluster.into())
        });
        self.update("in an earlier epoch", |r| r.current_leader_epoch -= 1);
        self.update("in a later epoch", |r| r.current_leader_epoch += 1);
        self.update("without an id", |r| r.voter_id = -1);
        self.update("without a directory", |r| r.voter_directory_id = Uuid::ZERO);
        self.update("without an endpoint", |r| r.listeners.clear());
        self.update("with another endpoint", |r| {
            r.listeners[0].name = "ELSE".into()
        });
        self.update("with levels turned around", |r| {
            r.k_raft_version_feature.min_supported_version = 2;
        });
        self.update("with a negative level", |r| {
            r.k_raft_version_feature.min_supported_version = -1;
        });
        self.take()
    }

    /// What was answered so far.
    fn take(&mut self) -> String {
        std::mem::take(&mut self.said)
    }
}

/// Voters that are in the log.
pub(crate) fn dynamic(context: &mut Context) {
    let spec = Spec::separate(1, 0).dynamic_quorum();
    let cluster = spec.controllers(context.program.clone()).start();
    let mut quorum = Quorum::of(&cluster);
    in_the_log().assert_eq(&quorum.every_question());
    quorum.update("who is no voter", |r| r.voter_id = OTHER);
    quorum.update("with another directory", |r| {
        r.voter_directory_id = STRANGE;
    });
    quorum.update("without the level", |r| {
        r.k_raft_version_feature.max_supported_version = 0;
    });
    expect![[r#"
        update who is no voter: VOTER_NOT_FOUND (127), leader
        update with another directory: VOTER_NOT_FOUND (127), leader
        update without the level: INVALID_REQUEST (42), leader
    "#]]
    .assert_eq(&quorum.take());
    if let Program::Apache = context.program {
        // Its active controller closes the connection on an update of itself.
        return;
    }
    quorum.update("with what it is", |_| {});
    quorum.update("with more levels", |r| {
        r.k_raft_version_feature.max_supported_version = 2;
    });
    quorum.update("with what it is", |_| {});
    expect![[r#"
        update with what it is: NONE (0), leader
        update with more levels: NONE (0), leader
        update with what it is: NONE (0), leader
    "#]]
    .assert_eq(&quorum.take());
}

fn in_the_log() -> Expect {
    expect![[r#"
        add of another cluster: INCONSISTENT_CLUSTER_ID (104)
        add without an id: INVALID_REQUEST (42)
        add without a directory: INVALID_REQUEST (42)
        add without an endpoint: INVALID_REQUEST (42)
        add with another endpoint: INVALID_REQUEST (42)
        add the voter: DUPLICATE_VOTER (126)
        add the voter with another directory: DUPLICATE_VOTER (126)
        add who is not there: REQUEST_TIMED_OUT (7)
        add who is not there, of no cluster: REQUEST_TIMED_OUT (7)
        add who has fetched nothing: REQUEST_TIMED_OUT (7)
        remove of another cluster: INCONSISTENT_CLUSTER_ID (104)
        remove without an id: INVALID_REQUEST (42)
        remove without a directory: INVALID_REQUEST (42)
        remove who is no voter: VOTER_NOT_FOUND (127)
        remove the voter with another directory: VOTER_NOT_FOUND (127)
        update of another cluster: INCONSISTENT_CLUSTER_ID (104), leader
        update in an earlier epoch: FENCED_LEADER_EPOCH (74), leader
        update in a later epoch: UNKNOWN_LEADER_EPOCH (75), leader
        update without an id: INVALID_REQUEST (42), leader
        update without a directory: INVALID_REQUEST (42), leader
        update without an endpoint: INVALID_REQUEST (42), leader
        update with another endpoint: INVALID_REQUEST (42), leader
        update with levels turned around: INVALID_REQUEST (42), leader
        update with a negative level: INVALID_REQUEST (42), leader
    "#]]
}

/// Voters that are in the configuration, and with klamm's controller `kraft.version`, which puts them
/// into the log.
pub(crate) fn configured(context: &mut Context) {
    let spec = Spec::separate(1, 0).controllers(context.program.clone());
    let cluster = spec.start();
    let mut quorum = Quorum::of(&cluster);
    assert_eq!(quorum.described, Uuid::ZERO);
    expect![[r#"
        add of another cluster: INCONSISTENT_CLUSTER_ID (104)
        add without an id: INVALID_REQUEST (42)
        add without a directory: INVALID_REQUEST (42)
        add without an endpoint: INVALID_REQUEST (42)
        add with another endpoint: INVALID_REQUEST (42)
        add the voter: UNSUPPORTED_VERSION (35)
        add the voter with another directory: UNSUPPORTED_VERSION (35)
        add who is not there: UNSUPPORTED_VERSION (35)
        add who is not there, of no cluster: UNSUPPORTED_VERSION (35)
        add who has fetched nothing: UNSUPPORTED_VERSION (35)
        remove of another cluster: INCONSISTENT_CLUSTER_ID (104)
        remove without an id: INVALID_REQUEST (42)
        remove without a directory: INVALID_REQUEST (42)
        remove who is no voter: UNSUPPORTED_VERSION (35)
        remove the voter with another directory: UNSUPPORTED_VERSION (35)
        update of another cluster: INCONSISTENT_CLUSTER_ID (104), leader
        update in an earlier epoch: FENCED_LEADER_EPOCH (74), leader
        update in a later epoch: UNKNOWN_LEADER_EPOCH (75), leader
        update without an id: INVALID_REQUEST (42), leader
        update without a directory: INVALID_REQUEST (42), leader
        update without an endpoint: INVALID_REQUEST (42), leader
        update with another endpoint: INVALID_REQUEST (42), leader
        update with levels turned around: INVALID_REQUEST (42), leader
        update with a negative level: INVALID_REQUEST (42), leader
    "#]]
    .assert_eq(&quorum.every_question());
    if let Program::Apache = context.program {
        return;
    }
    quorum.level(0, UPGRADE, false);
    quorum.level(1, SAFE_DOWNGRADE, false);
    quorum.level(2, UPGRADE, false);
    quorum.level(1, UPGRADE, true);
    quorum.look();
    assert_eq!(quorum.described, Uuid::ZERO, "it was only a check");
    quorum.level(1, UPGRADE, false);
    quorum.look();
    assert_eq!(quorum.described, quorum.directory);
    quorum.level(1, UPGRADE, false);
    quorum.level(0, UNSAFE_DOWNGRADE, false);
    expect![[r#"
        kraft.version 0 by 1: NONE (0)
        kraft.version 1 by 2: INVALID_UPDATE_VERSION (95)
        kraft.version 2 by 1: INVALID_UPDATE_VERSION (95)
        kraft.version 1 by 1, only a check: NONE (0)
        kraft.version 1 by 1: NONE (0)
        kraft.version 1 by 1: NONE (0)
        kraft.version 0 by 3: INVALID_UPDATE_VERSION (95)
    "#]]
    .assert_eq(&quorum.take());
    in_the_log().assert_eq(&quorum.every_question());
}

/// The id of the controller's directory.
fn directory(cluster: &Cluster) -> Uuid {
    let file = cluster.data_dir(CONTROLLER).join("meta.properties");
    let text = std::fs::read_to_string(file).unwrap();
    let mut lines = text.lines();
    let id = lines.find_map(|line| line.strip_prefix("directory.id="));
    id.unwrap().parse().unwrap()
}
