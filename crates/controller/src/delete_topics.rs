use std::collections::{BTreeMap, BTreeSet};

use klamm_metadata::Topic;
use klamm_protocol::data::metadata::RemoveTopicRecord;
use klamm_protocol::messages::delete_topics::{
    DeletableTopicResult, DeleteTopicsRequest, DeleteTopicsResponse,
};
use klamm_protocol::{ErrorCode, SmallString, Uuid};

use crate::refusal::Refusal;
use crate::{Decision, View};

#[cfg(test)]
mod tests;

/// A request to delete topics, by name or by id (KIP-516).
#[derive(Clone, Copy)]
pub struct DeleteTopics<'a> {
    /// The request.
    pub request: &'a DeleteTopicsRequest,
    /// Whether the client may see the topic with a name.
    pub may_describe: &'a dyn Fn(&str) -> bool,
    /// Whether the client may delete the topic with a name.
    pub may_delete: &'a dyn Fn(&str) -> bool,
}

/// What a client calls a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named<'a> {
    Name(&'a str),
    Id(Uuid),
    Both(&'a str, Uuid),
    Neither,
}

impl<'a> Named<'a> {
    fn parse(name: Option<&'a SmallString>, id: Uuid) -> Self {
        match name {
            Some(name) if id.is_zero() => Self::Name(name),
            Some(name) => Self::Both(name, id),
            None if id.is_zero() => Self::Neither,
            None => Self::Id(id),
        }
    }
}

impl DeleteTopics<'_> {
    /// Decides every topic on its own; the records of all of them take effect together. Nothing in
    /// the answer tells a client of a topic that it may not see.
    pub fn decide(&self, view: &View<'_>) -> Decision<DeleteTopicsResponse> {
        let names = self
            .request
            .topic_names
            .iter()
            .map(|name| Named::Name(name));
        let topics = self.request.topics.iter();
        let topics = topics.map(|topic| Named::parse(topic.name.as_ref(), topic.topic_id));
        let mut mentions: BTreeMap<Named<'_>, usize> = BTreeMap::new();
        for named in names.chain(topics) {
            *mentions.entry(named).or_default() += 1;
        }
        let decided: Vec<(Named<'_>, Result<&Topic, Refusal>)> = mentions
            .into_iter()
            .map(|(named, count)| (named, self.check(view, named, count)))
            .collect();
        let by_id = decided.iter().filter_map(|(named, _)| match named {
            Named::Id(id) => Some(*id),
            _ => None,
        });
        let by_id: BTreeSet<Uuid> = by_id.collect();
        let by_name = decided.iter().filter_map(|(named, decided)| {
            let topic = decided.as_ref().ok();
            topic.filter(|_| matches!(named, Named::Name(_)))
        });
        let by_name: BTreeSet<Uuid> = by_name.map(|topic| topic.id()).collect();
        let mut decision = Decision::answer(DeleteTopicsResponse::default());
        for (named, decided) in decided {
            let result = match (named, &decided) {
                // One that is named both ways is deleted by neither, and answered once.
                (Named::Name(_), Ok(topic)) if by_id.contains(&topic.id()) => {
                    DeletableTopicResult {
                        error_code: ErrorCode::INVALID_REQUEST.0,
                        error_message: Some("the topic is given by name and by id".into()),
                        ..self.result(view, named, &decided)
                    }
                }
                (Named::Id(id), Ok(_)) if by_name.contains(&id) => continue,
                _ => self.result(view, named, &decided),
            };
            if let (Ok(topic), 0) = (&decided, result.error_code) {
                let record = RemoveTopicRecord {
                    topic_id: topic.id(),
                    ..Default::default()
                };
                decision.records.push(record.into());
            }
            decision.response.responses.push(result);
        }
        decision.atomic = true;
        decision
    }

    fn check<'t>(
        &self,
        view: &View<'t>,
        named: Named<'_>,
        count: usize,
    ) -> Result<&'t Topic, Refusal> {
        let found = find(view, named);
        match named {
            Named::Neither => Err(invalid("neither a name nor an id is given")),
            Named::Both(..) => Err(invalid("a name and an id are given")),
            Named::Name(_) | Named::Id(_) if count > 1 => Err(invalid("the topic is there twice")),
            Named::Name(name) => self.check_name(name, found),
            Named::Id(_) => self.check_id(found),
        }
    }

    fn check_name<'t>(&self, name: &str, found: Option<&'t Topic>) -> Result<&'t Topic, Refusal> {
        if !(self.may_describe)(name) {
            return Err(unauthorized());
        }
        let unknown = || {
            let text = format!("there is no topic {name}");
            Refusal::new(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, text)
        };
        let topic = found.ok_or_else(unknown)?;
        if (self.may_delete)(name) {
            Ok(topic)
        } else {
            Err(unauthorized())
        }
    }

    fn check_id<'t>(&self, found: Option<&'t Topic>) -> Result<&'t Topic, Refusal> {
        let unknown = || Refusal::new(ErrorCode::UNKNOWN_TOPIC_ID, "there is no topic with the id");
        let topic = found.ok_or_else(unknown)?;
        if (self.may_delete)(topic.name()) {
            Ok(topic)
        } else {
            Err(unauthorized())
        }
    }

    fn result(
        &self,
        view: &View<'_>,
        named: Named<'_>,
        decided: &Result<&Topic, Refusal>,
    ) -> DeletableTopicResult {
        let visible = find(view, named).filter(|topic| (self.may_describe)(topic.name()));
        let (name, topic_id) = match (named, decided) {
            (_, Ok(topic)) => (Some(topic.name()), topic.id()),
            (Named::Name(name), _) => (Some(name), Uuid::ZERO),
            (Named::Both(name, id), _) => (Some(name), id),
            // The name of a topic given by id is for those who may see it.
            (Named::Id(id), Err(refusal)) => {
                let is_found = refusal.code == ErrorCode::TOPIC_AUTHORIZATION_FAILED;
                (visible.filter(|_| is_found).map(Topic::name), id)
            }
            (Named::Neither, _) => (None, Uuid::ZERO),
        };
        let refusal = decided.as_ref().err();
        DeletableTopicResult {
            name: name.map(Into::into),
            topic_id,
            error_code: refusal.map_or(0, |refusal| refusal.code.0),
            error_message: refusal.map(|refusal| (&*refusal.text).into()),
            ..Default::default()
        }
    }
}

fn find<'a>(view: &View<'a>, named: Named<'_>) -> Option<&'a Topic> {
    match named {
        Named::Name(name) => view.image().topics().by_name(name),
        Named::Id(id) => view.image().topics().by_id(id),
        Named::Both(..) | Named::Neither => None,
    }
}

fn invalid(text: &str) -> Refusal {
    Refusal::new(ErrorCode::INVALID_REQUEST, text)
}

fn unauthorized() -> Refusal {
    let text = "the client may not delete the topic";
    Refusal::new(ErrorCode::TOPIC_AUTHORIZATION_FAILED, text)
}
