use klamm_metadata::{ConfigResourceKind, ResourceType};
use klamm_protocol::ErrorCode;
use klamm_protocol::messages::incremental_alter_configs::{
    AlterConfigsResource, AlterConfigsResourceResponse, IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
};

use crate::configs::{ConfigChanges, Op, Request, authorize, resource};
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// A request to change configs one by one (KIP-339).
#[derive(Clone, Copy)]
pub struct IncrementalAlterConfigs<'a> {
    /// The request.
    pub request: &'a IncrementalAlterConfigsRequest,
    /// Whether a broker has checked it and hands it on.
    pub forwarded: bool,
    /// Whether the client may alter the configs of the resource with a kind and name.
    pub may_alter: &'a dyn Fn(ResourceType, &str) -> bool,
    /// Whether the client may do what brokers do (CLUSTER_ACTION), which the levels of loggers need.
    pub may_act: bool,
}

impl IncrementalAlterConfigs<'_> {
    /// Decides every resource on its own, and answers in the request's order.
    pub fn decide(&self, view: &View<'_>) -> Decision<IncrementalAlterConfigsResponse> {
        let request = Request {
            resources: &self.request.resources,
            forwarded: self.forwarded,
            validate_only: self.request.validate_only,
            knows_loggers: true,
        };
        let decision = request.decide(view, named, |changes, asked| self.change(changes, asked));
        decision.map(|decided| {
            let responses =
                decided
                    .into_iter()
                    .map(|(asked, refusal)| AlterConfigsResourceResponse {
                        error_code: refusal.as_ref().map_or(0, |refusal| refusal.code.0),
                        error_message: refusal.map(|refusal| (&*refusal.text).into()),
                        resource_type: asked.resource_type,
                        resource_name: asked.resource_name.clone(),
                        ..Default::default()
                    });
            IncrementalAlterConfigsResponse {
                responses: responses.collect(),
                ..Default::default()
            }
        })
    }

    fn change(
        &self,
        changes: &mut ConfigChanges<'_>,
        asked: &AlterConfigsResource,
    ) -> Result<(), Refusal> {
        let resource = resource(asked.resource_type, &asked.resource_name)?;
        if resource.kind == ConfigResourceKind::BROKER_LOGGER {
            if !self.may_act {
                let text = "the levels of loggers need CLUSTER_ACTION on the cluster";
                return Err(Refusal::new(ErrorCode::CLUSTER_AUTHORIZATION_FAILED, text));
            }
            let text = "this node has no loggers whose levels can be set";
            return Err(Refusal::new(ErrorCode::INVALID_REQUEST, text));
        }
        authorize(&resource, self.may_alter)?;
        let ops = asked.configs.iter().map(|config| {
            let value = config.value.as_deref();
            let items = || {
                let text = format!("Null value not supported for : {}", config.name);
                value.ok_or_else(|| Refusal::new(ErrorCode::INVALID_REQUEST, text))
            };
            let op = match config.config_operation {
                0 => Op::Set(value),
                1 => Op::Set(None),
                2 => Op::Append(items()?),
                3 => Op::Subtract(items()?),
                unknown => {
                    let text = format!("Unknown operations type {unknown}");
                    return Err(Refusal::new(ErrorCode::INVALID_REQUEST, text));
                }
            };
            Ok((&*config.name, op))
        });
        let ops = ops.collect::<Result<Vec<_>, _>>()?;
        changes.change(&resource, &ops)
    }
}

fn named(resource: &AlterConfigsResource) -> (i8, &str) {
    (resource.resource_type, &resource.resource_name)
}
