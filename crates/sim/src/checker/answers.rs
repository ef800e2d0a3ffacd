//! What an answer says has to be committed when the answer goes out, and forever.

use std::collections::BTreeMap;

use klamm_metadata::Place;
use klamm_protocol::messages::alter_partition::{AlterPartitionRequest, AlterPartitionResponse};
use klamm_protocol::messages::alter_partition_reassignments::ReassignablePartition;
use klamm_protocol::messages::create_topics::CreateTopicsResponse;
use klamm_protocol::messages::delete_topics::DeleteTopicsResponse;
use klamm_protocol::messages::elect_leaders::ElectLeadersResponse;
use klamm_protocol::messages::list_partition_reassignments::ListPartitionReassignmentsResponse;
use klamm_protocol::{Offset, Uuid};

use super::model::{Model, State, place};
use crate::asks::{Ask, Reply};

/// What clients were told.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Topics that exist, as clients were told: until a client asks to delete them.
    made: BTreeMap<Uuid, String>,
    /// Topics that are gone, as clients were told.
    deleted: BTreeMap<Uuid, String>,
    /// How many answers were held to what is committed.
    pub(crate) count: u64,
}

impl Answers {
    /// Whatever clients were told is still so. `may_be_deleted` says for which topics a client has
    /// asked to delete them.
    pub(crate) fn stand(
        &self,
        model: &Model,
        may_be_deleted: impl Fn(&str) -> bool,
    ) -> Result<(), String> {
        let missing = self
            .made
            .iter()
            .find(|(id, name)| !model.topics.contains_key(id) && !may_be_deleted(name));
        if let Some((id, name)) = missing {
            return Err(format!(
                "topic {name} ({id}) was acknowledged and is not there"
            ));
        }
        match self
            .deleted
            .iter()
            .find(|(id, _)| model.topics.contains_key(id))
        {
            Some((id, name)) => Err(format!("topic {name} ({id}) was deleted and is there")),
            None => Ok(()),
        }
    }

    /// An answer goes out to a request that arrived when the log ended at `arrived`.
    pub(crate) fn told(
        &mut self,
        ask: &Ask,
        reply: &Reply,
        arrived: Offset,
        model: &Model,
    ) -> Result<(), String> {
        self.count += 1;
        let holds = match (ask, reply) {
            (Ask::Register(request), Reply::Register(response)) => {
                let named = (request.broker_id, response.broker_epoch);
                response.error_code != 0 || model.registrations.contains(&named)
            }
            (Ask::Beat(request), Reply::Beat(response)) => {
                let named = (request.broker_id, request.broker_epoch);
                let broker = model.brokers.get(&named.0);
                let is_gone = broker.is_none_or(|b| b.fenced || b.epoch != named.1);
                response.error_code != 0
                    || (response.is_fenced || model.unfenced.contains(&named))
                        && (!response.should_shut_down || is_gone)
            }
            (Ask::AlterPartition(request), Reply::AlterPartition(response)) => {
                altered(request, response, model)
            }
            (Ask::CreateTopics(_), Reply::CreateTopics(response)) => self.made(response, model),
            (Ask::DeleteTopics(_), Reply::DeleteTopics(response)) => self.gone(response, model),
            (Ask::CreatePartitions(request), Reply::CreatePartitions(response)) => {
                let good = response
                    .results
                    .iter()
                    .filter(|result| result.error_code == 0);
                good.into_iter().all(|result| {
                    let asked = request
                        .topics
                        .iter()
                        .find(|topic| topic.name == result.name);
                    let Some((id, _)) = by_name(model, &result.name) else {
                        return true;
                    };
                    asked.is_none_or(|asked| {
                        model.partitions.contains_key(&place(id, asked.count - 1))
                            || arrived_before_topic(model, id, arrived)
                    })
                })
            }
            (Ask::Elect(_), Reply::Elect(response)) => elected(response, arrived, model),
            (Ask::Reassign(request), Reply::Reassign(response)) => request
                .topics
                .iter()
                .zip(&response.responses)
                .all(|(asked, told)| {
                    asked
                        .partitions
                        .iter()
                        .zip(&told.partitions)
                        .all(|(asked, told_one)| {
                            told_one.error_code != 0
                                || by_name(model, &told.name).is_none_or(|(id, _)| {
                                    reassigned(
                                        place(id, asked.partition_index),
                                        asked,
                                        arrived,
                                        model,
                                    )
                                })
                        })
                }),
            (Ask::List(_), Reply::List(response)) => listed(response, arrived, model),
            (Ask::Unregister(request), Reply::Unregister(response)) => {
                let last = model.unregistered.get(&request.broker_id);
                response.error_code != 0 || last.is_some_and(|at| *at >= arrived)
            }
            _ => true,
        };
        match holds {
            true => Ok(()),
            false => Err(format!(
                "an answer of what is not committed: {reply:?} to {ask:?}"
            )),
        }
    }

    fn made(&mut self, response: &CreateTopicsResponse, model: &Model) -> bool {
        response
            .topics
            .iter()
            .filter(|topic| topic.error_code == 0)
            .all(|topic| {
                let (id, name) = (topic.topic_id, topic.name.to_string());
                let is_known = model.topics.contains_key(&id) || model.deleted.contains(&id);
                self.made.insert(id, name);
                is_known
            })
    }

    fn gone(&mut self, response: &DeleteTopicsResponse, model: &Model) -> bool {
        response
            .responses
            .iter()
            .filter(|topic| topic.error_code == 0)
            .all(|topic| {
                let name = topic.name.as_deref().unwrap_or_default();
                self.made.remove(&topic.topic_id);
                self.deleted.insert(topic.topic_id, name.to_owned());
                model.deleted.contains(&topic.topic_id)
            })
    }
}

/// The topic with a name; clients make topics of one name several times, so it may be another one.
fn by_name<'a>(model: &'a Model, name: &str) -> Option<(Uuid, &'a str)> {
    let found = model.topics.iter().find(|(_, known)| **known == *name);
    found.map(|(id, name)| (*id, name.as_str()))
}

/// Whether a topic is younger than a request, so that the request was about another one.
fn arrived_before_topic(model: &Model, topic: Uuid, arrived: Offset) -> bool {
    let first = model.history.get(&place(topic, 0));
    first.is_some_and(|history| history.first().is_some_and(|(at, _)| *at >= arrived))
}

fn altered(
    request: &AlterPartitionRequest,
    response: &AlterPartitionResponse,
    model: &Model,
) -> bool {
    response.error_code != 0
        || request
            .topics
            .iter()
            .zip(&response.topics)
            .all(|(_, topic)| {
                let good = topic.partitions.iter().filter(|p| p.error_code == 0);
                good.into_iter().all(|told| {
                    let history = model
                        .history
                        .get(&place(topic.topic_id, told.partition_index));
                    history.is_some_and(|history| {
                        history.iter().any(|(_, state)| {
                            state.partition_epoch == told.partition_epoch
                                && state.leader_epoch == told.leader_epoch
                                && *state.isr == *told.isr
                        })
                    })
                })
            })
}

/// An election that is answered with success has written something.
fn elected(response: &ElectLeadersResponse, arrived: Offset, model: &Model) -> bool {
    response.replica_election_results.iter().all(|topic| {
        let Some((id, _)) = by_name(model, &topic.topic) else {
            return true;
        };
        let good = topic.partition_result.iter().filter(|p| p.error_code == 0);
        good.into_iter().all(|told| {
            let history = model.history.get(&place(id, told.partition_id));
            history.is_some_and(|history| history.iter().any(|(at, _)| *at >= arrived))
                || arrived_before_topic(model, id, arrived)
        })
    })
}

/// A reassignment that is answered with success was begun or there already.
fn reassigned(place: Place, asked: &ReassignablePartition, arrived: Offset, model: &Model) -> bool {
    let Some(history) = model.history.get(&place) else {
        return true;
    };
    // The state in which the request found the partition, and all later ones.
    let first = history
        .iter()
        .rposition(|(at, _)| *at < arrived)
        .unwrap_or(0);
    history[first..].iter().any(|(_, state)| {
        let stays: Vec<i32> = state
            .replicas
            .iter()
            .copied()
            .filter(|id| !state.removing.contains(id))
            .collect();
        match &asked.replicas {
            Some(target) => stays == **target,
            None => is_settled(state),
        }
    })
}

/// What is listed was so at some time since the request came, and what was so all the time is listed.
fn listed(response: &ListPartitionReassignmentsResponse, arrived: Offset, model: &Model) -> bool {
    let mut told = BTreeMap::new();
    for topic in &response.topics {
        for partition in &topic.partitions {
            let key = (&*topic.name, partition.partition_index);
            told.insert(
                key,
                (&*partition.adding_replicas, &*partition.removing_replicas),
            );
        }
    }
    model.partitions.keys().all(|place| {
        let Some((name, history)) = model.topics.get(&place.topic).zip(model.history.get(place))
        else {
            return false;
        };
        // A topic that is younger may have the name of one that was listed.
        let Some(first) = history.iter().rposition(|(at, _)| *at < arrived) else {
            return true;
        };
        let mut states = history[first..].iter().map(|(_, state)| state);
        match told.get(&(name.as_str(), place.index.0)) {
            Some((adding, removing)) => {
                states.any(|state| *state.adding == **adding && *state.removing == **removing)
            }
            None => states.any(is_settled),
        }
    })
}

fn is_settled(state: &State) -> bool {
    state.adding.is_empty() && state.removing.is_empty()
}
