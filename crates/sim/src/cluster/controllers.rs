//! Controllers on the voters: what KRaft tells them, what is asked of them, what they do in time.

mod append;
mod timers;

use std::time::Duration;

use klamm_controller::{ControllerConfig, Lost, Now, Sessions};
use klamm_metadata::Loader;
use klamm_protocol::data::metadata::AbortTransactionRecord;
use klamm_protocol::records::RecordBatch;
use klamm_protocol::{BrokerId, Offset};
use klamm_raft::Leadership;

use self::append::first_records;
use super::Cluster;
use super::events::{Alarm, Event};
use crate::asks::{Ask, Party, Reply};
use crate::controller::{Controller, Decided, Lead, Moment, Parked, Presence, load, records_of};
use crate::plan::{BrokerPlan, Flaw};

/// How often an active controller looks at its clock.
const TICK: Duration = Duration::from_millis(50);

/// What KRaft has told a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    Leadership(Leadership),
    Committed(Offset),
}

impl Cluster {
    /// Acts on what KRaft has told of late.
    pub(super) fn settle(&mut self) {
        while self.failed.is_none()
            && let Some((id, news)) = self.news.pop_front()
        {
            let done = match news {
                News::Leadership(leadership) => self.led(id, leadership),
                News::Committed(offset) => self.committed(id, offset),
            };
            self.fail_with(done);
        }
    }

    pub(super) fn fail_with(&mut self, result: Result<(), String>) {
        if let Err(what) = result {
            self.failed.get_or_insert(what);
        }
    }

    pub(super) fn lead(&mut self, id: BrokerId) -> Option<&mut Lead> {
        self.controllers.get_mut(&id)?.lead.as_mut()
    }

    pub(super) fn broker_plan(&self) -> &BrokerPlan {
        let plan = self.plan.brokers.as_ref();
        plan.expect("only a run with brokers has controllers")
    }

    fn has_flaw(&self, flaw: Flaw) -> bool {
        self.broker_plan().flaw == Some(flaw)
    }

    fn config(&self, id: BrokerId) -> ControllerConfig {
        ControllerConfig::new(id)
    }

    /// There is a new leader of the quorum.
    fn led(&mut self, id: BrokerId, leadership: Leadership) -> Result<(), String> {
        let Some(controller) = self.controllers.get_mut(&id) else {
            return Ok(());
        };
        let raft = self.nodes[&id].raft.as_ref();
        let committed = raft.and_then(|raft| raft.high_watermark());
        let disk = &self.nodes[&id].disk;
        if let Some(lead) = controller.lead.take() {
            controller.standby = match self.plan.brokers.as_ref().and_then(|plan| plan.flaw) {
                Some(Flaw::KeepsDecisions) => Loader::new(lead.image),
                _ => load(disk, committed.unwrap_or_default())?,
            };
            controller.applied = committed.unwrap_or_default();
            for parked in lead.parked {
                self.reply_to(id, parked.party, parked.ticket, Reply::NotController);
            }
        }
        match leadership.start {
            Some(_) => self.activate(id, leadership),
            None => Ok(()),
        }
    }

    fn activate(&mut self, id: BrokerId, leadership: Leadership) -> Result<(), String> {
        let Some(raft) = &self.nodes[&id].raft else {
            return Ok(());
        };
        let loader = load(&self.nodes[&id].disk, raft.log().end())?;
        let in_transaction = loader.in_transaction();
        let image = loader.into_image();
        let plan = self.broker_plan();
        let is_new = image.features().metadata_version().is_none();
        let lead = Lead {
            epoch: leadership.epoch,
            sessions: Sessions::new(plan.session, image.cluster(), Now(self.now)),
            presence: Presence::default(),
            lost: match plan.grace {
                Some(_) => Lost::new(image.cluster(), Now(self.now).after(plan.session)),
                None => Lost::default(),
            },
            parked: Vec::new(),
            rebalance_at: plan.rebalance_every.map(|every| self.now + every),
            unclean_at: self.now + plan.unclean_every,
            image,
        };
        let mut records = Vec::new();
        if in_transaction {
            records.push(AbortTransactionRecord::default().into());
        }
        if is_new {
            records.extend(first_records(plan));
        }
        if let Some(controller) = self.controllers.get_mut(&id) {
            controller.lead = Some(lead);
        }
        let life = self.nodes[&id].life;
        self.queue.push(
            self.now + TICK,
            Event::Alarm(Alarm::Controller { node: id, life }),
        );
        self.append(id, &records, true).map(|_| ())
    }

    /// More is committed, as far as a node knows.
    fn committed(&mut self, id: BrokerId, offset: Offset) -> Result<(), String> {
        if self.brokers.contains_key(&id) {
            return self.broker_follows(id, offset);
        }
        let Some(controller) = self.controllers.get_mut(&id) else {
            return Ok(());
        };
        let Some(lead) = &mut controller.lead else {
            follow(
                &mut controller.standby,
                &mut controller.applied,
                offset,
                |from| self.nodes[&id].disk.between(from, offset),
            )?;
            let image = controller.standby.image();
            return self.truth.holds(id, image, controller.applied);
        };
        let waiting = std::mem::take(&mut lead.parked);
        let (ready, waiting) = waiting.into_iter().partition(|parked| parked.at <= offset);
        lead.parked = waiting;
        let ready: Vec<Parked> = ready;
        for parked in ready {
            self.tell(id, parked)?;
        }
        Ok(())
    }

    /// Gives an answer whose time has come.
    fn tell(&mut self, id: BrokerId, parked: Parked) -> Result<(), String> {
        let Parked {
            party,
            ticket,
            ask,
            reply,
            arrived,
            ..
        } = parked;
        self.report.answers += 1;
        if self.trace.is_some() && !matches!(ask, Ask::Beat(_)) {
            self.log(Some(id), &shown(&format!("answers {reply:?} to {ask:?}")));
        }
        self.answers
            .told(&ask, &reply, arrived, &self.truth.model)?;
        self.reply_to(id, party, ticket, reply);
        Ok(())
    }

    /// A request has arrived at a controller.
    pub(super) fn asked(&mut self, id: BrokerId, party: Party, ticket: u64, ask: Ask) {
        self.note_presence(id, party, &ask);
        let config = self.config(id);
        let Some(raft) = &self.nodes[&id].raft else {
            return;
        };
        let at = Moment {
            config: &config,
            now: Now(self.now),
            next_offset: raft.log().end(),
        };
        let arrived = at.next_offset;
        let mut rng = self.rng.fork();
        let trusts = self.has_flaw(Flaw::TrustsEveryStop);
        let decided = self.lead(id).and_then(|lead| match &ask {
            Ask::Register(request) if trusts => {
                let known = lead.image.cluster().broker(BrokerId(request.broker_id));
                let mut request = request.clone();
                request.previous_broker_epoch = known.map_or(-1, |known| known.epoch.0);
                lead.decide(&request.into(), at, &mut rng)
            }
            ask => lead.decide(ask, at, &mut rng),
        });
        let Some(decided) = decided else {
            return self.reply_to(id, party, ticket, Reply::NotController);
        };
        let Decided {
            records,
            atomic,
            reply,
            handing_over,
        } = decided;
        if let Ask::Elect(request) = &ask
            && request.election_type == 1
            && let Some(lead) = self.controllers[&id].lead.as_ref()
        {
            self.truth.asked.unclean.insert((lead.epoch, arrived));
        }
        let appended = match self.append(id, &records, atomic) {
            Ok(Some(at)) => at,
            // It has lost the lead, or its life, over it.
            Ok(None) => return,
            Err(what) => return self.fail_with(Err(what)),
        };
        let parked = Parked {
            party,
            ticket,
            ask,
            reply,
            arrived,
            at: appended,
        };
        let committed = self.nodes[&id]
            .raft
            .as_ref()
            .and_then(|raft| raft.high_watermark());
        let early = self.has_flaw(Flaw::AnswersEarly);
        let Some(lead) = self.lead(id) else {
            return;
        };
        if let Some(broker) = handing_over {
            lead.sessions.handed_over(broker, Offset(appended.0 - 1));
        }
        if early || committed.is_some_and(|committed| appended <= committed) {
            let told = self.tell(id, parked);
            return self.fail_with(told);
        }
        lead.parked.push(parked);
    }

    fn note_presence(&mut self, id: BrokerId, party: Party, ask: &Ask) {
        let Party::Broker {
            id: broker,
            connection,
            ..
        } = party
        else {
            return;
        };
        let Some(lead) = self.lead(id) else {
            return;
        };
        let known = lead
            .image
            .cluster()
            .broker(broker)
            .map(|broker| broker.epoch);
        match ask {
            // Who is not registered yet claims to be nobody.
            Ask::Register(_) => {}
            Ask::Beat(request) => {
                let epoch = known.filter(|known| known.0 == request.broker_epoch);
                if epoch.is_some() {
                    lead.presence.claim(broker, connection, epoch);
                }
            }
            _ => lead.presence.claim(broker, connection, None),
        }
    }

    /// A replica fetches the metadata: that is news of the broker, too.
    pub(super) fn fetches_metadata(&mut self, id: BrokerId, from: BrokerId, connection: u64) {
        if self.brokers.contains_key(&from)
            && let Some(lead) = self.lead(id)
        {
            lead.presence.claim(from, connection, None);
        }
    }
}

/// Records and messages as a trace has them: what says nothing is left out.
fn shown(text: &str) -> String {
    [
        ", unknown_tagged_fields: TaggedFields(None)",
        ", throttle_time_ms: 0",
        ", error_message: None",
        ", leader: -2",
        ", leader_recovery_state: -1",
        ", cordoned_log_dirs: None",
        "isr: None, ",
        ", replicas: None",
        ", removing_replicas: None",
        ", adding_replicas: None",
        ", directories: None",
        ", eligible_leader_replicas: None",
        ", last_known_elr: None",
    ]
    .iter()
    .fold(text.to_owned(), |text, nothing| text.replace(nothing, ""))
}

/// Applies what is committed.
pub(super) fn follow<'a, I>(
    loader: &mut Loader,
    applied: &mut Offset,
    offset: Offset,
    between: impl FnOnce(Offset) -> I,
) -> Result<(), String>
where
    I: Iterator<Item = &'a RecordBatch>,
{
    for batch in between(*applied) {
        for record in records_of(batch)? {
            let done = loader.apply(record);
            done.map_err(|error| format!("a committed record does not fit: {error}"))?;
        }
    }
    *applied = (*applied).max(offset);
    Ok(())
}

impl Controller {
    /// The node's process is gone.
    pub(super) fn crash(&mut self) {
        *self = Self::default();
    }
}
