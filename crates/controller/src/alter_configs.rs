use klamm_metadata::ResourceType;
use klamm_protocol::messages::alter_configs::{
    AlterConfigsRequest, AlterConfigsResource, AlterConfigsResourceResponse, AlterConfigsResponse,
};

use crate::configs::{ConfigChanges, Request, authorize, resource};
use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// A request to give resources new configs instead of all those that they have. Clients before
/// IncrementalAlterConfigs send it.
#[derive(Clone, Copy)]
pub struct AlterConfigs<'a> {
    /// The request.
    pub request: &'a AlterConfigsRequest,
    /// Whether a broker has checked it and hands it on.
    pub forwarded: bool,
    /// Whether the client may alter the configs of the resource with a kind and name.
    pub may_alter: &'a dyn Fn(ResourceType, &str) -> bool,
}

impl AlterConfigs<'_> {
    /// Decides every resource on its own, and answers in the request's order.
    pub fn decide(&self, view: &View<'_>) -> Decision<AlterConfigsResponse> {
        let request = Request {
            resources: &self.request.resources,
            forwarded: self.forwarded,
            validate_only: self.request.validate_only,
            knows_loggers: false,
        };
        let decision = request.decide(view, named, |changes, asked| self.replace(changes, asked));
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
            AlterConfigsResponse {
                responses: responses.collect(),
                ..Default::default()
            }
        })
    }

    fn replace(
        &self,
        changes: &mut ConfigChanges<'_>,
        asked: &AlterConfigsResource,
    ) -> Result<(), Refusal> {
        let resource = resource(asked.resource_type, &asked.resource_name)?;
        authorize(&resource, self.may_alter)?;
        let values = asked.configs.iter();
        let values = values.map(|config| (&*config.name, config.value.as_deref()));
        changes.replace(&resource, &values.collect())
    }
}

fn named(resource: &AlterConfigsResource) -> (i8, &str) {
    (resource.resource_type, &resource.resource_name)
}
