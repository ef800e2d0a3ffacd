use std::collections::BTreeMap;
use std::time::Duration;

use fastrand::Rng;
use klamm_protocol::BrokerId;
use klamm_raft::{Answer, Inbound, RequestId, Response, Send, SendError};

use super::events::Event;
use super::node::Asked;
use super::{Cluster, LISTENER};
use crate::checker::Checker;
use crate::wire::{Frame, decode_request, decode_response, encode_request, encode_response};

/// Who can reach whom.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// The part of the network that each node is in; all are in one if there is none.
    parts: BTreeMap<BrokerId, u8>,
}

/// A message that arrives.
#[derive(Clone, Debug)]
pub(super) enum Delivery {
    Request {
        to: BrokerId,
        asked: Asked,
    },
    Response {
        to: BrokerId,
        life: u64,
        request: RequestId,
        result: Result<Frame, SendError>,
    },
}

impl Network {
    /// Parts the network anew: in two, or one node from the others, or not at all.
    pub(super) fn part(&mut self, nodes: &[BrokerId], rng: &mut Rng) {
        self.parts.clear();
        match rng.u8(..4) {
            0 => {}
            1 => {
                self.parts.insert(nodes[rng.usize(..nodes.len())], 1);
            }
            _ => self.parts.extend(nodes.iter().map(|id| (*id, rng.u8(..2)))),
        }
    }

    pub(super) fn heal(&mut self) {
        self.parts.clear();
    }

    fn connects(&self, a: BrokerId, b: BrokerId) -> bool {
        self.parts.get(&a).unwrap_or(&0) == self.parts.get(&b).unwrap_or(&0)
    }
}

impl Cluster {
    /// Whether two nodes can reach each other.
    pub(super) fn connects(&self, a: BrokerId, b: BrokerId) -> bool {
        self.network.connects(a, b)
    }

    /// All connections of a node are reset: what it has asked is not answered any more.
    pub(super) fn raft_connections_lost(&mut self, id: BrokerId) {
        let life = self.nodes[&id].life;
        for request in std::mem::take(&mut self.node(id).sent) {
            self.with_raft(id, life, |raft, now| {
                raft.handle_response(request, Err(SendError::Unreachable), now);
            });
        }
    }

    /// Sends a machine's request on its way.
    pub(super) fn send(&mut self, from: BrokerId, send: &Send) {
        let host = &send.to.endpoint.host;
        let to = host.strip_prefix("node-").and_then(|id| id.parse().ok());
        let to = BrokerId(to.expect("a host of the simulation"));
        let (life, offers) = (self.nodes[&from].life, self.nodes[&from].offers);
        match encode_request(&send.request, offers, self.nodes[&to].offers) {
            Ok(frame) => {
                let connection = self
                    .brokers
                    .get(&from)
                    .map_or(0, |broker| broker.connection);
                let asked = Asked {
                    by: from,
                    life,
                    request: send.id,
                    connection,
                    frame,
                };
                self.node(from).sent.insert(send.id);
                self.transmit(from, to, Event::Deliver(Delivery::Request { to, asked }));
            }
            Err(error) => {
                let delivery = Delivery::Response {
                    to: from,
                    life,
                    request: send.id,
                    result: Err(error),
                };
                self.transmit(from, from, Event::Deliver(delivery));
            }
        }
    }

    /// Sends an answer back to who asked.
    pub(super) fn reply(&mut self, from: BrokerId, answer: Answer) -> Result<(), String> {
        let Some(asked) = self.node(from).open.remove(&answer.id) else {
            return Err(format!("{from} answers {:?} twice", answer.id));
        };
        let mut response = answer.response;
        let request = decode_request(&asked.frame);
        Checker::answered(from, &request, &response, &self.nodes[&from].disk)?;
        if let Some(read) = answer.read {
            let records = self.nodes[&from].disk.read(read);
            let records = records.ok_or_else(|| format!("{from} cannot read {read:?}"))?;
            match &mut response {
                Response::Fetch(fetch) => {
                    fetch.responses[0].partitions[0].records = Some(records);
                }
                Response::FetchSnapshot(snapshot) => {
                    snapshot.topics[0].partitions[0].unaligned_records = records;
                }
                response => return Err(format!("{from} reads for {response:?}")),
            }
        }
        let frame = encode_response(&response, &asked.frame)
            .map_err(|error| format!("{from} gives an answer that does not fit: {error}"))?;
        let delivery = Delivery::Response {
            to: asked.by,
            life: asked.life,
            request: asked.request,
            result: Ok(frame),
        };
        self.transmit(from, asked.by, Event::Deliver(delivery));
        Ok(())
    }

    /// Puts a message into the network, which may lose it, double it, or take long.
    pub(super) fn transmit(&mut self, from: BrokerId, to: BrokerId, message: Event) {
        self.report.messages += 1;
        let copies = match &self.plan {
            _ if self.healed || from == to => 1,
            plan if self.rng.u32(..1000) < plan.lost => 0,
            plan if self.rng.u32(..1000) < plan.doubled => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let is_slow = !self.healed && self.rng.u32(..1000) < self.plan.slow;
            let longest = match is_slow {
                true => Duration::from_secs(1),
                false => self.plan.latency,
            };
            let at = self.now + self.up_to(longest);
            self.queue.push(at, message.clone());
        }
    }

    /// A message arrives, if it does.
    pub(super) fn deliver(&mut self, delivery: Delivery) {
        match delivery {
            Delivery::Request { to, asked } => {
                if !self.network.connects(asked.by, to) {
                    return;
                }
                if self.nodes[&to].raft.is_none() {
                    // The connection is refused.
                    let delivery = Delivery::Response {
                        to: asked.by,
                        life: asked.life,
                        request: asked.request,
                        result: Err(SendError::Unreachable),
                    };
                    return self.transmit(to, asked.by, Event::Deliver(delivery));
                }
                let request = decode_request(&asked.frame);
                let version = asked.frame.version;
                let life = self.nodes[&to].life;
                self.fetches_metadata(to, asked.by, asked.connection);
                let id = self.node(to).ask(asked);
                let listener = LISTENER.to_owned();
                self.with_raft(to, life, |raft, now| {
                    let inbound = Inbound {
                        id,
                        listener,
                        version,
                        request,
                    };
                    raft.handle_request(inbound, now);
                });
            }
            Delivery::Response {
                to,
                life,
                request,
                result,
            } => {
                if self.nodes[&to].life == life {
                    self.node(to).sent.remove(&request);
                }
                // That the two cannot reach each other is seen when the request goes out.
                let result = result.map(|frame| decode_response(&frame));
                self.with_raft(to, life, |raft, now| {
                    raft.handle_response(request, result, now);
                });
            }
        }
    }
}
