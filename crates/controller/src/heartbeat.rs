use klamm_metadata::Broker;
use klamm_protocol::data::metadata::BrokerRegistrationChangeRecord;
use klamm_protocol::messages::broker_heartbeat::{BrokerHeartbeatRequest, BrokerHeartbeatResponse};
use klamm_protocol::{BrokerId, ErrorCode, Uuid};

use crate::failover::unfence;
use crate::{Decision, Sessions, View, Why, fence};

#[cfg(test)]
mod tests;

/// What a heartbeat comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct HeartbeatReply {
    /// The response.
    pub response: BrokerHeartbeatResponse,
    /// Whether the broker is handing over its partitions. The caller then tells
    /// [`Sessions::handed_over`] the offset up to which the decision's records are.
    pub handing_over: bool,
}

/// What a broker is about to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Fenced,
    Unfenced,
    HandingOver,
    Stopped,
}

/// Decides on a broker's heartbeat (KIP-631). The caller tells [`Sessions::heard`] of it before, if
/// the broker's epoch is right.
pub fn heartbeat(
    view: &View<'_>,
    sessions: &Sessions,
    request: &BrokerHeartbeatRequest,
) -> Decision<HeartbeatReply> {
    let broker = view.image().cluster().broker(BrokerId(request.broker_id));
    let Some(broker) = broker.filter(|broker| broker.epoch.0 == request.broker_epoch) else {
        return Decision::answer(reply(BrokerHeartbeatResponse {
            error_code: ErrorCode::STALE_BROKER_EPOCH.0,
            ..Default::default()
        }));
    };
    let mut decision = Decision::answer(reply(BrokerHeartbeatResponse {
        is_caught_up: request.current_metadata_offset >= broker.epoch.0,
        ..Default::default()
    }));
    leave_failed_dirs(view, broker, request, &mut decision);
    // One thing at a time: what is decided on a broker's state would not know yet of a failed
    // directory. The broker asks again with its next heartbeat.
    let next = match decision.records.is_empty() {
        true => next(view, sessions, broker, request),
        false => current(broker),
    };
    let said = &mut decision.response;
    said.response.is_fenced = matches!(next, Next::Fenced | Next::Stopped);
    said.response.should_shut_down = next == Next::Stopped;
    said.handing_over = next == Next::HandingOver;
    match next {
        Next::Unfenced if broker.fenced => unfence(view, broker, &mut decision),
        Next::Fenced => decision.absorb(fence(view, broker, Why::FenceRequested)),
        Next::Stopped => decision.absorb(fence(view, broker, Why::Stopped)),
        Next::HandingOver => {
            // What it leads still it leads until it has stopped, or another may lead cleanly: a
            // controller before this one may have got no further than the first of the records.
            let again = view.as_left_by(broker.id);
            let view = match broker.in_controlled_shutdown {
                true => &again,
                false => {
                    decision.records.push(in_controlled_shutdown(broker).into());
                    view
                }
            };
            decision.leave(view, broker.id, Why::ControlledShutdown);
        }
        Next::Unfenced => {}
    }
    decision
        .records
        .extend(cordoned(view, broker, request).map(Into::into));
    decision
}

fn reply(response: BrokerHeartbeatResponse) -> HeartbeatReply {
    HeartbeatReply {
        response,
        handing_over: false,
    }
}

fn current(broker: &Broker) -> Next {
    match broker {
        _ if broker.fenced => Next::Fenced,
        _ if broker.in_controlled_shutdown => Next::HandingOver,
        _ => Next::Unfenced,
    }
}

fn next(
    view: &View<'_>,
    sessions: &Sessions,
    broker: &Broker,
    request: &BrokerHeartbeatRequest,
) -> Next {
    let leads = || view.image().topics().led_by(broker.id).next().is_some();
    match current(broker) {
        Next::Fenced if request.want_shut_down => Next::Stopped,
        // It has seen its own registration, and with it everything before: it knows what it leads.
        Next::Fenced
            if !request.want_fence && request.current_metadata_offset >= broker.epoch.0 =>
        {
            Next::Unfenced
        }
        Next::Unfenced if request.want_fence && request.want_shut_down => Next::Stopped,
        Next::Unfenced if request.want_fence => Next::Fenced,
        Next::Unfenced if request.want_shut_down && leads() => Next::HandingOver,
        Next::Unfenced if request.want_shut_down => Next::Stopped,
        Next::HandingOver if !leads() && sessions.may_stop(broker, view.image().cluster()) => {
            Next::Stopped
        }
        unchanged => unchanged,
    }
}

fn in_controlled_shutdown(broker: &Broker) -> BrokerRegistrationChangeRecord {
    BrokerRegistrationChangeRecord {
        in_controlled_shutdown: 1,
        ..of(broker)
    }
}

/// Replicas leave the directories that were online so far and are not any more. When the last of them
/// fails, the broker stops by itself; its registration keeps them, since one without directories means
/// that nobody knows.
fn leave_failed_dirs(
    view: &View<'_>,
    broker: &Broker,
    request: &BrokerHeartbeatRequest,
    decision: &mut Decision<HeartbeatReply>,
) {
    if !view.metadata_version().allows_directory_assignment() {
        return;
    }
    let is_failed = |id: &Uuid| request.offline_log_dirs.contains(id);
    let known = broker.log_dirs.iter().copied();
    let (failed, online): (Vec<Uuid>, Vec<Uuid>) = known.partition(is_failed);
    if failed.is_empty() {
        return;
    }
    decision.leave_directories(view, broker.id, |id| failed.contains(&id));
    if !online.is_empty() {
        let change = BrokerRegistrationChangeRecord {
            log_dirs: online,
            ..of(broker)
        };
        decision.records.push(change.into());
    }
}

/// The change of the cordoned directories, where the broker names others than before.
fn cordoned(
    view: &View<'_>,
    broker: &Broker,
    request: &BrokerHeartbeatRequest,
) -> Option<BrokerRegistrationChangeRecord> {
    let named = request.cordoned_log_dirs.as_ref()?;
    let is_known = broker.cordoned_log_dirs.as_ref().is_some_and(|known| {
        known.len() == named.len() && named.iter().all(|id| known.contains(id))
    });
    let is_new = view.metadata_version().allows_cordoned_log_dirs() && !is_known;
    is_new.then(|| BrokerRegistrationChangeRecord {
        cordoned_log_dirs: Some(named.clone()),
        ..of(broker)
    })
}

fn of(broker: &Broker) -> BrokerRegistrationChangeRecord {
    BrokerRegistrationChangeRecord {
        broker_id: broker.id.0,
        broker_epoch: broker.epoch.0,
        ..Default::default()
    }
}
