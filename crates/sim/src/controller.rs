//! The active controller as a value: what it knows and decides. What it decides is appended, parked
//! and answered by the cluster.

mod presence;
mod records;

use std::time::Duration;

use fastrand::Rng;
use klamm_controller::{
    AlterPartition, ControllerConfig, CreatePartitions, CreateTopics, Decision, DeleteTopics,
    EarlierRun, ElectLeaders, IncrementalAlterConfigs, Lost, Now, Registration, Sessions, View,
    alter_partition_reassignments, assign_replicas_to_dirs, heartbeat,
    list_partition_reassignments, unregister,
};
use klamm_metadata::{BrokerEpoch, Image, Loader, Record};
use klamm_protocol::messages::broker_registration::BrokerRegistrationResponse;
use klamm_protocol::messages::unregister_broker::UnregisterBrokerResponse;
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, Uuid};

pub(crate) use self::presence::Presence;
pub(crate) use self::records::{Target, batches, load, records_of};
use crate::asks::{Ask, Party, Reply};

/// The cluster's id.
pub(crate) const CLUSTER_ID: &str = "simulated";

/// A controller.
#[derive(Debug, Default)]
pub(crate) struct Controller {
    /// What is committed, while the node does not lead.
    pub(crate) standby: Loader,
    pub(crate) applied: Offset,
    pub(crate) lead: Option<Lead>,
}

/// What a node has while it is the active controller.
#[derive(Debug)]
pub(crate) struct Lead {
    pub(crate) epoch: LeaderEpoch,
    /// The cluster with all that was decided, committed or not.
    pub(crate) image: Image,
    pub(crate) sessions: Sessions,
    pub(crate) presence: Presence,
    /// Brokers that were fenced since their connections are gone, before their sessions are over.
    pub(crate) lost: Lost,
    /// Answers that wait for the high watermark.
    pub(crate) parked: Vec<Parked>,
    pub(crate) rebalance_at: Option<Duration>,
    pub(crate) unclean_at: Duration,
}

/// An answer that waits until it may go out.
#[derive(Debug)]
pub(crate) struct Parked {
    pub(crate) party: Party,
    pub(crate) ticket: u64,
    pub(crate) ask: Ask,
    pub(crate) reply: Reply,
    /// The end of the log when the request arrived.
    pub(crate) arrived: Offset,
    /// It may go out when the high watermark is here.
    pub(crate) at: Offset,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) records: Vec<Record>,
    pub(crate) atomic: bool,
    pub(crate) reply: Reply,
    /// The broker that hands over its partitions with these records.
    pub(crate) handing_over: Option<BrokerId>,
}

impl<R: Into<Reply>> From<Decision<R>> for Decided {
    fn from(decision: Decision<R>) -> Self {
        Self {
            records: decision.records,
            atomic: decision.atomic,
            reply: decision.response.into(),
            handing_over: None,
        }
    }
}

/// What a decision depends on besides the image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment<'a> {
    pub(crate) config: &'a ControllerConfig,
    pub(crate) now: Now,
    pub(crate) next_offset: Offset,
}

impl Lead {
    /// What handlers decide on. `None` while the log is empty.
    pub(crate) fn view<'a>(&'a self, config: &'a ControllerConfig) -> Option<View<'a>> {
        Some(View::new(&self.image, config)?.awaiting(&self.lost))
    }

    /// Decides a request. `None` while the log is empty.
    pub(crate) fn decide(&mut self, ask: &Ask, at: Moment<'_>, rng: &mut Rng) -> Option<Decided> {
        let view = View::new(&self.image, at.config)?.awaiting(&self.lost);
        let may = |_: &str| true;
        Some(match ask {
            Ask::Register(request) => {
                let id = BrokerId(request.broker_id);
                let known = self.image.cluster().broker(id);
                let registration = Registration {
                    request,
                    version: 4,
                    cluster_id: CLUSTER_ID,
                    next_offset: at.next_offset,
                    earlier: known
                        .map_or(EarlierRun::Gone, |known| self.presence.run(id, known.epoch)),
                };
                match registration.decide(&view, &self.sessions, at.now) {
                    Ok(decision) => {
                        let registered = &decision.response;
                        if let Some(until) = registered.awaited_until {
                            self.lost.add(id, until);
                        }
                        let epoch = BrokerEpoch(registered.response.broker_epoch);
                        self.sessions.registered(id, epoch, at.now);
                        decision.into()
                    }
                    Err(error) => Decision::answer(BrokerRegistrationResponse {
                        error_code: ErrorCode::from(&error).0,
                        ..Default::default()
                    })
                    .into(),
                }
            }
            Ask::Beat(request) => {
                let id = BrokerId(request.broker_id);
                let known = self.image.cluster().broker(id);
                if let Some(broker) = known.filter(|known| known.epoch.0 == request.broker_epoch) {
                    let offset = Offset(request.current_metadata_offset);
                    self.sessions.heard(broker, offset, at.now);
                }
                let decision = heartbeat(&view, &self.sessions, request);
                let handing_over = decision.response.handing_over.then_some(id);
                Decided {
                    handing_over,
                    ..decision.into()
                }
            }
            Ask::AlterPartition(request) => {
                let asked = AlterPartition {
                    request,
                    version: 3,
                };
                asked.decide(&view).into()
            }
            Ask::AssignDirs(request) => assign_replicas_to_dirs(&view, request).into(),
            Ask::CreateTopics(request) => {
                let asked = CreateTopics {
                    request,
                    may_create: &may,
                    may_describe_configs: &may,
                };
                let mut ids = rng.fork();
                let id = || Uuid::from_bytes((ids.u128(..) | 1 << 100).to_be_bytes());
                asked.decide(&view, id, |bound| rng.usize(..bound)).into()
            }
            Ask::CreatePartitions(request) => {
                let asked = CreatePartitions {
                    request,
                    may_alter: &may,
                };
                asked.decide(&view, |bound| rng.usize(..bound)).into()
            }
            Ask::DeleteTopics(request) => {
                let asked = DeleteTopics {
                    request,
                    may_describe: &may,
                    may_delete: &may,
                };
                asked.decide(&view).into()
            }
            Ask::Elect(request) => {
                let asked = ElectLeaders {
                    request,
                    version: 2,
                    authorized: true,
                    arrived: at.now,
                };
                asked.decide(&view, at.now).into()
            }
            Ask::Configs(request) => {
                let asked = IncrementalAlterConfigs {
                    request,
                    forwarded: true,
                    may_alter: &|_, _| true,
                    may_act: true,
                };
                asked.decide(&view).into()
            }
            Ask::Reassign(request) => alter_partition_reassignments(&view, request).into(),
            Ask::List(request) => {
                Decision::answer(list_partition_reassignments(&view, request)).into()
            }
            Ask::Unregister(request) => {
                let id = BrokerId(request.broker_id);
                let response = |error: ErrorCode| UnregisterBrokerResponse {
                    error_code: error.0,
                    ..Default::default()
                };
                match unregister(&view, id) {
                    Ok(decision) => {
                        self.sessions.unregistered(id);
                        Decided {
                            records: decision.records,
                            atomic: true,
                            reply: response(ErrorCode::NONE).into(),
                            handing_over: None,
                        }
                    }
                    Err(error) => Decision::answer(response(error)).into(),
                }
            }
        })
    }
}
