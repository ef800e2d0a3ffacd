use std::collections::BTreeMap;
use std::time::Duration;

use klamm_protocol::BrokerId;

use crate::time::Now;
use crate::{Node, RequestId};

/// Which nodes have a request of this one, and which are left alone for a while. A node gets one
/// request at a time.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    states: BTreeMap<BrokerId, Peer>,
    next_id: u64,
}

#[derive(Debug)]
enum Peer {
    Waiting { id: RequestId, until: Duration },
    BackingOff { until: Duration },
}

impl Peers {
    /// Whether a request may be sent to a node.
    pub(crate) fn is_ready(&self, node: BrokerId) -> bool {
        !self.states.contains_key(&node)
    }

    /// Whether a node is left alone because of a failure.
    pub(crate) fn is_backing_off(&self, node: BrokerId) -> bool {
        matches!(self.states.get(&node), Some(Peer::BackingOff { .. }))
    }

    /// Whether any node has a request.
    pub(crate) fn any_waiting(&self) -> bool {
        self.states
            .values()
            .any(|peer| matches!(peer, Peer::Waiting { .. }))
    }

    /// Notes a request to a node and names it.
    pub(crate) fn sent(&mut self, node: &Node, until: Duration) -> RequestId {
        let id = RequestId(self.next_id);
        self.next_id += 1;
        self.states.insert(node.id, Peer::Waiting { id, until });
        id
    }

    /// Who has the request with this name, if its response is still wanted.
    pub(crate) fn waiting(&self, request: RequestId) -> Option<BrokerId> {
        self.states.iter().find_map(|(node, peer)| match peer {
            Peer::Waiting { id, .. } if *id == request => Some(*node),
            _ => None,
        })
    }

    /// Notes the end of a request; after a failure the node is left alone until then.
    pub(crate) fn finished(&mut self, request: RequestId, backoff: Option<Duration>) {
        let Some(node) = self.waiting(request) else {
            return;
        };
        match backoff {
            None => self.states.remove(&node),
            Some(until) => self.states.insert(node, Peer::BackingOff { until }),
        };
    }

    /// Ends waits that have become too long. A request that was not answered in time is a failure.
    pub(crate) fn expire(&mut self, now: Now, backoff: Duration) {
        self.states.retain(|_, peer| match peer {
            Peer::BackingOff { until } => !now.is_past(*until),
            Peer::Waiting { .. } => true,
        });
        for peer in self.states.values_mut() {
            if matches!(peer, Peer::Waiting { until, .. } if now.is_past(*until)) {
                let until = now.after(backoff);
                *peer = Peer::BackingOff { until };
            }
        }
    }

    /// Forgets all requests: their responses belong to a role that the node has left.
    pub(crate) fn reset(&mut self) {
        self.states.clear();
    }

    /// When [`Peers::expire`] has something to do.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        self.states
            .values()
            .map(|peer| match peer {
                Peer::Waiting { until, .. } | Peer::BackingOff { until } => *until,
            })
            .min()
    }
}
