//! What goes between clients, brokers and controllers besides KRaft.

use std::time::Duration;

use klamm_metadata::Place;
use klamm_protocol::{BrokerId, LeaderEpoch};

use super::Cluster;
use super::events::Event;
use crate::asks::{Ask, Party, Reply};
use crate::data::DataRecord;

/// How long a request waits for its answer.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(1_000);

/// A message.
#[derive(Clone, Debug)]
pub(super) enum Mail {
    /// A request for a controller.
    Ask {
        to: BrokerId,
        from: Party,
        ticket: u64,
        ask: Ask,
    },
    /// An answer of a controller; none where the connection is gone.
    Reply {
        to: Party,
        ticket: u64,
        reply: Option<Reply>,
    },
    /// A connection of a broker to a controller is gone.
    Closed {
        to: BrokerId,
        broker: BrokerId,
        connection: u64,
    },
    /// A follower wants records.
    Fetch {
        to: BrokerId,
        from: BrokerId,
        life: u64,
        broker_epoch: i64,
        partitions: Vec<FetchFrom>,
    },
    /// A leader has records, or knows where the logs part.
    Fetched {
        to: BrokerId,
        life: u64,
        from: BrokerId,
        partitions: Vec<Fetched>,
    },
    /// A client has a record.
    Produce { to: BrokerId, place: Place, id: u64 },
}

/// From where on a follower wants a partition's records.
#[derive(Clone, Copy, Debug)]
pub(super) struct FetchFrom {
    pub(super) place: Place,
    pub(super) leader_epoch: LeaderEpoch,
    pub(super) offset: usize,
    pub(super) last_epoch: Option<LeaderEpoch>,
}

/// What a leader gives of a partition.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    pub(super) place: Place,
    pub(super) leader_epoch: LeaderEpoch,
    /// Where the follower's log ended when it asked.
    pub(super) offset: usize,
    pub(super) high_watermark: usize,
    pub(super) found: Found,
}

#[derive(Clone, Debug)]
pub(super) enum Found {
    Records(Vec<DataRecord>),
    /// The latest epoch that the two may have in common, and where it ends.
    Diverging(Option<(LeaderEpoch, usize)>),
}

/// The place of clients in the network.
const CLIENT: BrokerId = BrokerId(1_000);

impl Party {
    fn node(self) -> BrokerId {
        match self {
            Self::Client => CLIENT,
            Self::Broker { id, .. } => id,
        }
    }
}

impl Cluster {
    /// Asks a controller.
    pub(super) fn ask(&mut self, from: Party, to: BrokerId, ask: Ask) -> u64 {
        self.tickets += 1;
        let ticket = self.tickets;
        self.post(
            from.node(),
            to,
            Mail::Ask {
                to,
                from,
                ticket,
                ask,
            },
        );
        let at = self.now + REQUEST_TIMEOUT;
        let timeout = Mail::Reply {
            to: from,
            ticket,
            reply: None,
        };
        self.queue.push(at, Event::Mail(timeout));
        ticket
    }

    /// Puts a message into the network.
    pub(super) fn post(&mut self, from: BrokerId, to: BrokerId, mail: Mail) {
        if self.connects(from, to) {
            self.transmit(from, to, Event::Mail(mail));
        }
    }

    /// A message arrives.
    pub(super) fn arrive(&mut self, mail: Mail) {
        match mail {
            Mail::Ask {
                to,
                from,
                ticket,
                ask,
            } => {
                if !self.connects(from.node(), to) {
                    return;
                }
                if self.nodes[&to].raft.is_none() {
                    let (to_party, reply) = (from, None);
                    let refused = Mail::Reply {
                        to: to_party,
                        ticket,
                        reply,
                    };
                    return self.post(to, from.node(), refused);
                }
                self.asked(to, from, ticket, ask);
            }
            Mail::Reply { to, ticket, reply } => match to {
                Party::Client => self.client_told(ticket, reply),
                Party::Broker { id, life, .. } => {
                    if self.nodes[&id].life == life && self.nodes[&id].raft.is_some() {
                        self.broker_told(id, ticket, reply);
                    }
                }
            },
            Mail::Closed {
                to,
                broker,
                connection,
            } => {
                let now = self.now;
                if let Some(lead) = self.lead(to) {
                    lead.presence.closed(broker, connection, now);
                }
            }
            Mail::Fetch {
                to,
                from,
                life,
                broker_epoch,
                partitions,
            } => {
                if self.is_up(to) && self.connects(from, to) {
                    self.fetch_asked(to, (from, life, broker_epoch), &partitions);
                }
            }
            Mail::Fetched {
                to,
                life,
                from,
                partitions,
            } => {
                if self.is_up(to) && self.nodes[&to].life == life {
                    self.fetch_told(to, from, partitions);
                }
            }
            Mail::Produce { to, place, id } => {
                if self.is_up(to) && self.connects(CLIENT, to) {
                    self.produced(to, place, id);
                }
            }
        }
    }

    /// Sends a record to a broker.
    pub(super) fn produce(&mut self, to: BrokerId, place: Place, id: u64) {
        self.post(CLIENT, to, Mail::Produce { to, place, id });
    }

    /// Sends an answer to whoever asked.
    pub(super) fn reply_to(&mut self, from: BrokerId, to: Party, ticket: u64, reply: Reply) {
        let reply = Some(reply);
        self.post(from, to.node(), Mail::Reply { to, ticket, reply });
    }

    /// The controllers learn that the connections of a broker are gone, as far as they can.
    pub(super) fn close_connections(&mut self, broker: BrokerId) {
        let connection = match self.brokers.get_mut(&broker) {
            Some(state) => state.connection,
            None => return,
        };
        let controllers: Vec<BrokerId> = self.controllers.keys().copied().collect();
        for to in controllers {
            self.post(
                broker,
                to,
                Mail::Closed {
                    to,
                    broker,
                    connection,
                },
            );
        }
        if let Some(state) = self.brokers.get_mut(&broker) {
            state.connection += 1;
        }
    }

    pub(super) fn is_up(&self, id: BrokerId) -> bool {
        self.nodes[&id].raft.is_some()
    }
}
