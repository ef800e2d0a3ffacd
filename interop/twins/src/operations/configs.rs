//! Configs and feature levels.

use fastrand::Rng;
use klamm_metadata::{ConfigResource, ConfigResourceKind};
use klamm_protocol::messages::alter_configs::{
    AlterConfigsRequest, AlterConfigsResource as WholeResource, AlterableConfig as WholeConfig,
};
use klamm_protocol::messages::describe_configs::{DescribeConfigsRequest, DescribeConfigsResource};
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterableConfig, IncrementalAlterConfigsRequest,
};
use klamm_protocol::messages::update_features::{FeatureUpdateKey, UpdateFeaturesRequest};

use super::{How, Operation, TOPICS, once_in, pick};
use crate::side::Side;
use crate::wire::Said;

const TOPIC: i8 = 2;
const BROKER: i8 = 4;

const LEAST_ISR: &str = "min.insync.replicas";
const UNCLEAN: &str = "unclean.leader.election.enable";
const COMPRESSION: &str = "compression.type";
const KEYS: [&str; 8] = [
    LEAST_ISR,
    LEAST_ISR,
    UNCLEAN,
    UNCLEAN,
    "retention.ms",
    "cleanup.policy",
    COMPRESSION,
    "no.such.key",
];

pub(super) fn config(rng: &mut Rng) -> &'static str {
    pick(rng, &KEYS)
}

/// A value of a config, which may be a wrong one.
pub(super) fn value(rng: &mut Rng, key: &str) -> &'static str {
    let values: &[&str] = match key {
        LEAST_ISR => &["1", "2", "2", "3", "0", "x"],
        UNCLEAN => &["true", "false", "true", "false", "perhaps"],
        "retention.ms" => &["1000", "-1", "-2", ""],
        "cleanup.policy" => &["compact", "delete", "compact,delete", "keep"],
        COMPRESSION => &["gzip", "producer", "tar"],
        _ => &["x", ""],
    };
    pick(rng, values)
}

#[derive(Clone, Debug)]
struct Resource {
    kind: i8,
    name: &'static str,
    /// Key, operation and value.
    configs: Vec<(&'static str, i8, Option<&'static str>)>,
}

fn resource(rng: &mut Rng) -> (i8, &'static str) {
    match rng.u8(..12) {
        0..7 => (TOPIC, pick(rng, &TOPICS)),
        7 | 8 => (BROKER, ""),
        9 => (BROKER, pick(rng, &["101", "1", "2", "7"])),
        10 => (TOPIC, pick(rng, &["nowhere", "", "a b"])),
        _ => (pick(rng, &[16, 32, 8, 1]), pick(rng, &["some", "", "1"])),
    }
}

#[derive(Debug)]
struct AlterConfigs {
    resources: Vec<Resource>,
    is_incremental: bool,
    validate_only: bool,
}

pub(super) fn alteration(rng: &mut Rng) -> Box<dyn Operation> {
    let is_incremental = !once_in(rng, 4);
    let validate_only = once_in(rng, 8);
    let resources = (0..rng.u8(1..=2)).map(|_| {
        let (kind, name) = resource(rng);
        let configs = (0..rng.u8(1..=2)).map(|_| {
            let key = config(rng);
            // An operation that is none is in the table of differences.
            let operation = pick(rng, &[0, 0, 0, 1, 1, 2, 3]);
            let value = Some(value(rng, key)).filter(|_| operation < 2 && !once_in(rng, 30));
            let value = value.or(Some("compact").filter(|_| operation >= 2));
            // What nodes do with wrong values is in the table, too.
            let value = value.map(|value| match key {
                _ if kind != BROKER || validate_only => value,
                LEAST_ISR if ["x", "0", "compact"].contains(&value) => "2",
                UNCLEAN if ["perhaps", "compact"].contains(&value) => "false",
                COMPRESSION if ["tar", "compact"].contains(&value) => "gzip",
                _ => value,
            });
            (key, operation, value)
        });
        let configs = configs.collect();
        Resource {
            kind,
            name,
            configs,
        }
    });
    Box::new(AlterConfigs {
        resources: resources.collect(),
        is_incremental,
        validate_only,
    })
}

impl Operation for AlterConfigs {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        // Where the least ISR is written, Apache Kafka's controller clears the ELR of partitions, but
        // not its index of them, and resigns when it comes to one whose topic is gone.
        let may_clear = || {
            self.resources
                .iter()
                .any(|resource| resource.has_least_isr(side))
        };
        let validate_only = self.validate_only || side.has_eligible_replicas() && may_clear();
        match self.is_incremental {
            true => side.ask(how, &self.incremental(validate_only)),
            false => side.ask(how, &self.whole(validate_only)),
        }
    }
}

impl AlterConfigs {
    fn incremental(&self, validate_only: bool) -> IncrementalAlterConfigsRequest {
        let resources = self.resources.iter().map(|resource| AlterConfigsResource {
            resource_type: resource.kind,
            resource_name: resource.name.into(),
            configs: resource
                .configs
                .iter()
                .map(|(name, operation, value)| AlterableConfig {
                    name: (*name).into(),
                    config_operation: *operation,
                    value: value.map(Into::into),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        });
        IncrementalAlterConfigsRequest {
            resources: resources.collect(),
            validate_only,
            ..Default::default()
        }
    }

    fn whole(&self, validate_only: bool) -> AlterConfigsRequest {
        let resources = self.resources.iter().map(|resource| WholeResource {
            resource_type: resource.kind,
            resource_name: resource.name.into(),
            configs: resource
                .configs
                .iter()
                .map(|(name, _, value)| WholeConfig {
                    name: (*name).into(),
                    value: value.map(Into::into),
                    ..Default::default()
                })
                .collect(),
            ..Default::default()
        });
        AlterConfigsRequest {
            resources: resources.collect(),
            validate_only,
            ..Default::default()
        }
    }
}

impl Resource {
    /// Whether the least ISR is one of its configs, or of those that it gets.
    fn has_least_isr(&self, side: &Side) -> bool {
        let known = ConfigResource::new(ConfigResourceKind(self.kind), self.name);
        let is_known = side.image().configs().value(&known, LEAST_ISR).is_some();
        is_known || self.configs.iter().any(|(name, ..)| *name == LEAST_ISR)
    }
}

#[derive(Debug)]
struct DescribeConfigs {
    resource: (i8, &'static str),
    keys: Option<Vec<&'static str>>,
    synonyms: bool,
}

pub(super) fn description(rng: &mut Rng) -> Box<dyn Operation> {
    let resource = resource(rng);
    let keys = rng
        .bool()
        .then(|| (0..rng.u8(..3)).map(|_| config(rng)).collect());
    Box::new(DescribeConfigs {
        resource,
        keys,
        synonyms: rng.bool(),
    })
}

impl Operation for DescribeConfigs {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let keys = self.keys.as_ref();
        let request = DescribeConfigsRequest {
            resources: vec![DescribeConfigsResource {
                resource_type: self.resource.0,
                resource_name: self.resource.1.into(),
                configuration_keys: keys.map(|keys| keys.iter().map(|k| (*k).into()).collect()),
                ..Default::default()
            }],
            include_synonyms: self.synonyms,
            ..Default::default()
        };
        side.ask(how, &request)
    }

    // It tells of the configs that its node has taken over.
    fn may_be_behind(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct UpdateFeatures {
    feature: &'static str,
    level: i16,
    kind: i8,
    validate_only: bool,
}

pub(super) fn features(rng: &mut Rng) -> Box<dyn Operation> {
    let names = [
        "metadata.version",
        "transaction.version",
        "group.version",
        "eligible.leader.replicas.version",
        "share.version",
        "streams.version",
        "no.such.feature",
    ];
    let feature = pick(rng, &names);
    let level = match feature {
        "metadata.version" => pick(rng, &[7, 6, 20, 25, 33, 34]),
        _ => rng.i16(0..=3),
    };
    Box::new(UpdateFeatures {
        feature,
        level,
        kind: rng.i8(1..=4),
        // Levels stay as they are: the next history begins with them.
        validate_only: true,
    })
}

impl Operation for UpdateFeatures {
    fn ask(&self, side: &mut Side, how: How) -> Said {
        let request = UpdateFeaturesRequest {
            timeout_ms: 60_000,
            feature_updates: vec![FeatureUpdateKey {
                feature: self.feature.into(),
                max_version_level: self.level,
                upgrade_type: self.kind,
                ..Default::default()
            }],
            validate_only: self.validate_only,
            ..Default::default()
        };
        // Version 0 cannot say that nothing should change.
        side.ask(How { version: 0, ..how }, &request)
    }
}
