//! The resources that requests name.

use std::collections::BTreeMap;

use klamm_metadata::{ConfigResource, ConfigResourceKind, ResourceType};
use klamm_protocol::ErrorCode;

use super::{ConfigChanges, Origin};
use crate::refusal::Refusal;
use crate::{Decision, View};

/// A request to change configs of resources, without what is its API's own.
pub(crate) struct Request<'a, T> {
    pub(crate) resources: &'a [T],
    pub(crate) forwarded: bool,
    pub(crate) validate_only: bool,
    /// Whether loggers are resources of their own, which are answered as often as they are named.
    pub(crate) knows_loggers: bool,
}

impl<'a, T> Request<'a, T> {
    /// Decides every resource with `change`. What was refused is for the API's own response.
    pub(crate) fn decide<'v>(
        &self,
        view: &View<'v>,
        named: impl Fn(&'a T) -> (i8, &'a str),
        mut change: impl FnMut(&mut ConfigChanges<'v>, &'a T) -> Result<(), Refusal>,
    ) -> Decision<Vec<(&'a T, Option<Refusal>)>> {
        let origin = match self.forwarded {
            true => Origin::Forwarded,
            false => Origin::Direct,
        };
        let mut changes = ConfigChanges::new(*view, origin);
        let is_single = |kind| match ConfigResourceKind(kind) {
            ConfigResourceKind::TOPIC
            | ConfigResourceKind::BROKER
            | ConfigResourceKind::CLIENT_METRICS
            | ConfigResourceKind::GROUP => true,
            ConfigResourceKind::BROKER_LOGGER => !self.knows_loggers,
            _ => false,
        };
        let decided = each(self.resources, named, is_single, |asked| {
            change(&mut changes, asked)
        });
        let mut decision = Decision::answer(decided);
        if !self.validate_only {
            decision.records = changes.into_records();
        }
        decision.atomic = true;
        decision
    }
}

/// Decides every resource of a request on its own, in the request's order. One of a kind that may be
/// there once and is there twice is refused, and answered once.
fn each<'a, T>(
    resources: &'a [T],
    named: impl Fn(&'a T) -> (i8, &'a str),
    is_single: impl Fn(i8) -> bool,
    mut decide: impl FnMut(&'a T) -> Result<(), Refusal>,
) -> Vec<(&'a T, Option<Refusal>)> {
    let mut mentions: BTreeMap<(i8, &str), usize> = BTreeMap::new();
    for resource in resources {
        *mentions.entry(named(resource)).or_default() += 1;
    }
    let mut decided = Vec::with_capacity(mentions.len());
    for resource in resources {
        let name = named(resource);
        let refusal = match mentions.remove(&name) {
            _ if !is_single(name.0) => decide(resource).err(),
            Some(1) => decide(resource).err(),
            Some(_) => Some(invalid("Duplicate resource.")),
            None => continue,
        };
        decided.push((resource, refusal));
    }
    decided
}

/// The resource of a request.
pub(crate) fn resource(kind: i8, name: &str) -> Result<ConfigResource, Refusal> {
    match ConfigResourceKind(kind) {
        kind @ (ConfigResourceKind::TOPIC
        | ConfigResourceKind::BROKER
        | ConfigResourceKind::BROKER_LOGGER
        | ConfigResourceKind::CLIENT_METRICS
        | ConfigResourceKind::GROUP) => Ok(ConfigResource::new(kind, name)),
        ConfigResourceKind(unknown) => {
            let text = format!("Unknown resource type {unknown}.");
            Err(Refusal::new(ErrorCode::UNSUPPORTED_VERSION, text))
        }
    }
}

/// Whether the client may change the configs of a resource.
pub(crate) fn authorize(
    resource: &ConfigResource,
    may_alter: &dyn Fn(ResourceType, &str) -> bool,
) -> Result<(), Refusal> {
    let (kind, name, code) = guard(resource.kind, &resource.name)?;
    match may_alter(kind, name) {
        true => Ok(()),
        false => Err(Refusal::unauthorized(code)),
    }
}

/// What authorizes a change of a resource's configs, or that they are seen: the kind of resource, its
/// name, and the error of who may not.
pub(crate) fn guard(
    kind: ConfigResourceKind,
    name: &str,
) -> Result<(ResourceType, &str, ErrorCode), Refusal> {
    match kind {
        ConfigResourceKind::BROKER | ConfigResourceKind::CLIENT_METRICS => Ok((
            ResourceType::Cluster,
            klamm_metadata::CLUSTER_NAME,
            ErrorCode::CLUSTER_AUTHORIZATION_FAILED,
        )),
        ConfigResourceKind::TOPIC => Ok((
            ResourceType::Topic,
            name,
            ErrorCode::TOPIC_AUTHORIZATION_FAILED,
        )),
        ConfigResourceKind::GROUP => Ok((
            ResourceType::Group,
            name,
            ErrorCode::GROUP_AUTHORIZATION_FAILED,
        )),
        kind => {
            let text = format!("Unexpected resource type {}.", kind_name(kind));
            Err(invalid(text))
        }
    }
}

/// Kafka's name of a kind of resource.
pub(crate) fn kind_name(kind: ConfigResourceKind) -> &'static str {
    match kind {
        ConfigResourceKind::TOPIC => "TOPIC",
        ConfigResourceKind::BROKER => "BROKER",
        ConfigResourceKind::BROKER_LOGGER => "BROKER_LOGGER",
        ConfigResourceKind::CLIENT_METRICS => "CLIENT_METRICS",
        ConfigResourceKind::GROUP => "GROUP",
        _ => "UNKNOWN",
    }
}

fn invalid(text: impl Into<String>) -> Refusal {
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}
