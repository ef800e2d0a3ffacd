use super::*;
use crate::testing::{Fixture, NODE};

const TOPIC: i8 = 2;
const NODES: i8 = 4;

#[test]
fn the_closest_setting_holds() {
    let key = "unclean.leader.election.enable";
    let mut fixture = Fixture::new(1);
    fixture.topic("t", &[&[1]]);
    fixture.topic("u", &[&[1]]);
    let allows = |fixture: &Fixture, name: &str| {
        let topic = fixture.image.topics().by_name(name).unwrap();
        fixture.view().allows_unclean_elections(topic)
    };
    assert!(!allows(&fixture, "t"));
    fixture.config.unclean_leader_election = true;
    assert!(allows(&fixture, "t"));
    fixture.config(NODES, "", key, "false");
    assert!(!allows(&fixture, "t"));
    // The settings of other nodes mean nothing to this one.
    fixture.config(NODES, "1", key, "true");
    assert!(!allows(&fixture, "t"));
    fixture.config(NODES, &NODE.to_string(), key, "True");
    assert!(allows(&fixture, "t"));
    fixture.config(TOPIC, "t", key, "false");
    assert!(!allows(&fixture, "t"));
    assert!(allows(&fixture, "u"));
}

#[test]
fn the_minimum_isr_is_no_more_than_there_are_replicas() {
    let mut fixture = Fixture::new(3);
    fixture.topic("t", &[&[1, 2]]);
    let min_isr = |fixture: &Fixture| {
        let topic = fixture.image.topics().by_name("t").unwrap();
        fixture.view().min_isr(topic)
    };
    assert_eq!(min_isr(&fixture), 1);
    fixture.config(NODES, "", "min.insync.replicas", "2");
    assert_eq!(min_isr(&fixture), 2);
    fixture.config(TOPIC, "t", "min.insync.replicas", "3");
    assert_eq!(min_isr(&fixture), 2);
}

/// Whatever elections come to, they come to by these configs alone: each bears on them at every
/// level, and no other config does.
#[test]
fn elections_read_what_they_say_they_read() {
    let seen = |fixture: &Fixture| {
        let topic = fixture.image.topics().by_name("t").unwrap();
        let view = fixture.view();
        (view.min_isr(topic), view.allows_unclean_elections(topic))
    };
    let plain = || {
        let mut fixture = Fixture::new(3);
        fixture.topic("t", &[&[1, 2, 3]]);
        fixture
    };
    let node = NODE.to_string();
    let levels = [(TOPIC, "t"), (NODES, &*node), (NODES, "")];
    let topic_keys = klamm_metadata::config_keys::TOPIC_KEYS
        .iter()
        .map(|key| key.name);
    let node_keys = klamm_metadata::config_keys::broker_keys().map(|key| key.name);
    for key in topic_keys.chain(node_keys) {
        let is_read = ElectionConfig::ALL.iter().any(|config| config.key() == key);
        for (kind, name) in levels {
            let change = |value| {
                let mut fixture = plain();
                fixture.config(kind, name, key, value);
                seen(&fixture)
            };
            let is_seen = ["2", "true"]
                .map(change)
                .iter()
                .any(|now| *now != seen(&plain()));
            assert_eq!(is_seen, is_read, "{key} of {name:?}");
        }
    }
}

#[test]
fn a_replica_in_a_failed_directory_is_not_live() {
    let mut fixture = Fixture::new(2);
    fixture.topic("t", &[&[1, 2]]);
    let is_live = |fixture: &Fixture, broker| {
        fixture
            .view()
            .is_live(fixture.partition("t", 0), BrokerId(broker))
    };
    assert!(is_live(&fixture, 1));
    assert!(!is_live(&fixture, 3));
    let dirs = vec![Uuid::from_bytes([0x71; 16]), Uuid::from_bytes([9; 16])];
    let change = klamm_protocol::data::metadata::PartitionChangeRecord {
        directories: Some(dirs),
        ..Default::default()
    };
    fixture.change("t", 0, change);
    assert!(is_live(&fixture, 1));
    assert!(!is_live(&fixture, 2));
    fixture.fence(1, true);
    assert!(!is_live(&fixture, 1));
}

#[test]
fn a_new_replica_goes_to_the_only_directory() {
    let fixture = Fixture::new(1);
    assert_eq!(
        fixture.view().default_dir(BrokerId(1)),
        Uuid::from_bytes([0x71; 16])
    );
    assert_eq!(
        fixture.view().default_dir(BrokerId(7)),
        directory::UNASSIGNED
    );
}

#[test]
fn there_is_nothing_to_decide_on_before_the_first_record() {
    let config = ControllerConfig::new(NODE);
    assert!(View::new(&Image::new(), &config).is_none());
}
