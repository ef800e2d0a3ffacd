use klamm_protocol::data::metadata::register_broker_record::BrokerFeature;
use klamm_protocol::data::metadata::register_controller_record::ControllerFeature;
use klamm_protocol::data::metadata::{RegisterBrokerRecord, RegisterControllerRecord};

use super::*;
use crate::testing::Fixture;

const MV: &str = "metadata.version";
const ELR: &str = "eligible.leader.replicas.version";
const SAFE_DOWNGRADE: i8 = 2;

fn update(feature: &str, level: i16, upgrade_type: i8) -> FeatureUpdateKey {
    FeatureUpdateKey {
        feature: feature.into(),
        max_version_level: level,
        upgrade_type,
        ..Default::default()
    }
}

fn decide_at(
    fixture: &Fixture,
    version: i16,
    updates: Vec<FeatureUpdateKey>,
    validate_only: bool,
) -> Decision<UpdateFeaturesResponse> {
    let request = UpdateFeaturesRequest {
        feature_updates: updates,
        validate_only,
        ..Default::default()
    };
    let asked = UpdateFeatures {
        request: &request,
        version,
        kraft_version: 1,
    };
    asked.decide(&fixture.view())
}

fn decide(fixture: &Fixture, updates: Vec<FeatureUpdateKey>) -> Decision<UpdateFeaturesResponse> {
    decide_at(fixture, 2, updates, false)
}

/// What the only update is refused with.
fn refused(fixture: &Fixture, feature: &str, level: i16, upgrade_type: i8) -> String {
    let decision = decide(fixture, vec![update(feature, level, upgrade_type)]);
    let response = decision.response;
    let code = ErrorCode(response.error_code);
    assert_eq!(code, ErrorCode::INVALID_UPDATE_VERSION, "{feature} {level}");
    assert_eq!(decision.records, []);
    response.error_message.unwrap().to_string()
}

/// A cluster without ELR; its broker supports what this release does.
fn cluster(level: i16) -> Fixture {
    let mut fixture = Fixture::new(0);
    fixture.feature(ELR, 0);
    fixture.feature(MV, level);
    let known = Feature::ALL
        .iter()
        .map(|feature| (feature.name, 0, feature.max_level()));
    let features = known
        .chain([(MV, 7, 33)])
        .map(|(name, min, max)| BrokerFeature {
            name: name.into(),
            min_supported_version: min,
            max_supported_version: max,
            ..Default::default()
        });
    fixture.apply(RegisterBrokerRecord {
        broker_id: 1,
        features: features.collect(),
        ..Default::default()
    });
    fixture
}

fn names(records: &[Record]) -> Vec<String> {
    let named = records.iter().map(|record| match record {
        Record::Config(r) => format!("{}={:?}", r.resource_name, r.value.as_deref()),
        Record::FeatureLevel(r) => format!("{} {}", r.name, r.feature_level),
        other => panic!("{other:?}"),
    });
    named.collect()
}

#[test]
fn all_features_change_or_none() {
    let mut fixture = cluster(22);
    let good = update("group.version", 1, UPGRADE);
    let bad = update("share.version", 9, UPGRADE);
    let decision = decide(&fixture, vec![good.clone(), bad]);
    assert_ne!(decision.response.error_code, 0);
    assert_eq!(decision.records, []);
    let updates = vec![good, update(MV, 33, UPGRADE)];
    assert_eq!(decide_at(&fixture, 2, updates.clone(), true).records, []);
    let decision = decide(&fixture, updates);
    assert!(decision.atomic);
    assert_eq!(
        names(&decision.records),
        ["group.version 1", "metadata.version 33"]
    );
    fixture.carry_out(&decision);
    assert_eq!(fixture.image.features().level(Feature::GROUP_VERSION), 1);
    let again = decide(&fixture, vec![update("group.version", 0, SAFE_DOWNGRADE)]);
    fixture.carry_out(&again);
    assert_eq!(fixture.image.features().level(Feature::GROUP_VERSION), 0);
}

#[test]
fn old_clients_hear_of_each_feature() {
    let fixture = cluster(33);
    let ask = |version| {
        let updates = vec![update("group.version", 1, UPGRADE)];
        decide_at(&fixture, version, updates, false)
            .response
            .results
            .len()
    };
    assert_eq!([ask(0), ask(1), ask(2)], [1, 1, 0]);
}

#[test]
fn levels_go_the_way_that_was_asked_for() {
    let fixture = cluster(33);
    let told = |feature, level, kind, part: &str| {
        let text = refused(&fixture, feature, level, kind);
        assert!(text.contains(part), "{text}");
    };
    told(MV, 32, UPGRADE, "without setting the upgrade type");
    told(MV, 32, SAFE_DOWNGRADE, "might delete metadata information");
    told(MV, 32, UNSAFE_DOWNGRADE, "not supported in this version");
    told(
        MV,
        34,
        UPGRADE,
        "Local controller 100 only supports versions 7-33",
    );
    told(MV, -1, UPGRADE, "less than 0");
    told(MV, 33, 0, "upgrade type");
    told(MV, 33, 4, "upgrade type");
    told(
        "group.version",
        1,
        SAFE_DOWNGRADE,
        "Can't downgrade to a newer version",
    );
    told("no.such", 1, UPGRADE, "does not support this feature");
    told("no.such", 0, UPGRADE, "not found");
    told("kraft.version", 0, SAFE_DOWNGRADE, "Can't downgrade");
    let same = decide(&fixture, vec![update("kraft.version", 1, UPGRADE)]);
    assert_eq!((same.response.error_code, same.records.len()), (0, 0));
    // Nothing is lost between these two.
    let decision = decide(&cluster(29), vec![update(MV, 24, SAFE_DOWNGRADE)]);
    assert_eq!(names(&decision.records), ["metadata.version 24"]);
}

#[test]
fn kraft_version_is_raised_by_the_quorum() {
    let asked = |kraft_version, updates: &[(&str, i16)]| {
        let updates = updates.iter();
        let updates = updates.map(|(feature, level)| update(feature, *level, UPGRADE));
        let request = UpdateFeaturesRequest {
            feature_updates: updates.collect(),
            ..Default::default()
        };
        let asked = UpdateFeatures {
            request: &request,
            version: 2,
            kraft_version,
        };
        let decision = asked.decide(&cluster(29).view());
        assert_eq!(decision.response.error_code, 0);
        assert_eq!(names(&decision.records), Vec::<String>::new());
        asked.kraft_upgrade()
    };
    assert_eq!(asked(0, &[("kraft.version", 1)]), Some(1));
    assert_eq!(asked(1, &[("kraft.version", 1)]), None);
    assert_eq!(asked(0, &[]), None);
    // The last one counts.
    let twice = [("kraft.version", 1), ("kraft.version", 0)];
    assert_eq!(asked(0, &twice), None);
}

#[test]
fn everybody_has_to_support_a_level() {
    let mut fixture = cluster(24);
    fixture.register(2, 2, true);
    let text = refused(&fixture, "group.version", 1, UPGRADE);
    assert!(
        text.ends_with("Broker 2 does not support this feature."),
        "{text}"
    );
    let mut fixture = cluster(24);
    fixture.config.voters = [100, 101].map(BrokerId).into();
    let text = refused(&fixture, "group.version", 1, UPGRADE);
    assert!(text.contains("controller 101 has not registered"), "{text}");
    fixture.apply(RegisterControllerRecord {
        controller_id: 101,
        features: vec![ControllerFeature {
            name: MV.into(),
            min_supported_version: 7,
            max_supported_version: 30,
            ..Default::default()
        }],
        ..Default::default()
    });
    let text = refused(&fixture, MV, 31, UPGRADE);
    assert!(
        text.ends_with("Controller 101 only supports versions 7-30"),
        "{text}"
    );
    let decision = decide(&fixture, vec![update(MV, 30, UPGRADE)]);
    assert_eq!(decision.response.error_code, 0);
}

#[test]
fn with_elr_one_minimum_holds_for_all_nodes() {
    let mut fixture = cluster(22);
    fixture.config.min_insync_replicas = 2;
    for node in ["1", "10", "9"] {
        fixture.config(4, node, "min.insync.replicas", "3");
    }
    let text = refused(&fixture, ELR, 1, UPGRADE);
    assert!(
        text.contains("depends on metadata.version level 23"),
        "{text}"
    );
    let both = vec![update(ELR, 1, UPGRADE), update(MV, 23, UPGRADE)];
    let decision = decide(&fixture, both);
    let level = "eligible.leader.replicas.version 1";
    assert_eq!(
        names(&decision.records),
        [
            r#"=Some("2")"#,
            "1=None",
            "9=None",
            "10=None",
            level,
            "metadata.version 23"
        ]
    );
    fixture.carry_out(&decision);
    assert!(fixture.image.features().elr_enabled());
    // It is safe already.
    let again = decide(&fixture, vec![update(ELR, 1, UPGRADE)]);
    assert_eq!(names(&again.records), [level]);
    let off = decide(&fixture, vec![update(ELR, 0, SAFE_DOWNGRADE)]);
    fixture.carry_out(&off);
    assert!(!fixture.image.features().elr_enabled());
}
