//! Records that get into the log, and what they change.

use bytes::Bytes;
use klamm_protocol::data::clients::LeaderChangeMessage;
use klamm_protocol::data::clients::leader_change_message::Voter as LeaderChangeVoter;
use klamm_protocol::records::{Batch, Batches, RecordBatch};
use klamm_protocol::{LeaderEpoch, Offset};

use super::Raft;
use crate::role::Role;
use crate::time::Now;
use crate::{Append, AppendError, ControlRecord, Output, ReplicaKey, Voter};

/// Batches that fit the end of the log.
struct Checked {
    batches: Bytes,
    /// The epoch of each batch and the offset after it.
    ends: Vec<(LeaderEpoch, Offset)>,
    control: Vec<(Offset, ControlRecord)>,
}

impl Raft {
    /// Appends batches as the leader of `epoch`; the first starts at the end of the log
    /// ([`LogShape::end`](crate::LogShape::end)), and all of them have that epoch. Returns the end
    /// of the log with them: they are committed once the high watermark is there.
    pub fn append(
        &mut self,
        epoch: LeaderEpoch,
        batches: Bytes,
        now: Now,
    ) -> Result<Offset, AppendError> {
        if epoch != self.epoch || !self.is_leader() {
            return Err(AppendError::NotLeader(epoch));
        }
        let checked = self.check(batches, |of| of == epoch)?;
        if !checked.control.is_empty() {
            return Err(AppendError::Control);
        }
        self.install(checked);
        self.advance(now);
        Ok(self.log.end())
    }

    /// Appends what the leader has sent. A batch without its end is left out.
    pub(super) fn append_fetched(&mut self, records: Bytes) -> Result<(), AppendError> {
        let (last, current) = (self.log.last_epoch(), self.epoch);
        let checked = self.check(records, |epoch| (last..=current).contains(&epoch))?;
        self.install(checked);
        Ok(())
    }

    /// Checks batches without a change of the log.
    fn check(
        &self,
        batches: Bytes,
        may_have: impl Fn(LeaderEpoch) -> bool,
    ) -> Result<Checked, AppendError> {
        let mut checked = Checked {
            batches: Bytes::new(),
            ends: Vec::new(),
            control: Vec::new(),
        };
        let mut end = self.log.end();
        let mut epoch_before = LeaderEpoch(0);
        let mut rest = Batches::new(batches.clone());
        for batch in rest.by_ref() {
            let batch = match batch? {
                Batch::V2(batch) => batch,
                Batch::Legacy(batch) => return Err(AppendError::Format(batch.magic())),
            };
            batch.verify_crc()?;
            let (base, epoch) = (
                batch.header().base_offset,
                batch.header().partition_leader_epoch,
            );
            if base != end {
                return Err(AppendError::Gap { base, end });
            }
            if !may_have(epoch) || epoch < epoch_before || batch.header().last_offset() < base {
                return Err(AppendError::Epoch { base, epoch });
            }
            checked.control.extend(control_records(&batch)?);
            end = Offset(batch.header().last_offset().0 + 1);
            epoch_before = epoch;
            checked.ends.push((epoch, end));
        }
        if checked.ends.is_empty() {
            return Err(AppendError::Empty);
        }
        checked.batches = batches.slice(..rest.position());
        Ok(checked)
    }

    /// Puts checked batches into the log.
    fn install(&mut self, checked: Checked) {
        let base = self.log.end();
        for (epoch, end) in checked.ends {
            self.log.append(epoch, end);
        }
        for (offset, record) in &checked.control {
            self.voters.append(*offset, record);
        }
        let id = self.log.name_append();
        self.outputs.push_back(Output::Append(Append {
            id,
            base,
            end: self.log.end(),
            batches: checked.batches,
        }));
        let has_voters = checked
            .control
            .iter()
            .any(|(_, record)| matches!(record, ControlRecord::Voters(_)));
        if let Role::Leader(leader) = &mut self.role
            && has_voters
        {
            leader.set_voters(self.voters.voters());
        }
    }

    /// Begins the epoch's records: what is in the log becomes committed with them. A leader whose
    /// endpoints are not those that the log has for it, or whose voters are in the bootstrap
    /// snapshot alone, writes the voters as well.
    pub(super) fn append_epoch_start(&mut self, granting: &[ReplicaKey], now: Now) {
        let version = self.kraft_version();
        let voter = |key: ReplicaKey| LeaderChangeVoter {
            voter_id: key.id.0,
            ..LeaderChangeVoter::default()
        };
        let message = LeaderChangeMessage {
            // Apache Kafka writes the version without directory ids with dynamic voters too.
            version: 0,
            leader_id: self.settings.id.0,
            voters: self.voters().iter().map(|each| voter(each.key)).collect(),
            granting_voters: granting.iter().map(|key| voter(*key)).collect(),
            ..LeaderChangeMessage::default()
        };
        let mut records = vec![ControlRecord::LeaderChange(message)];
        if version.has_dynamic_voters() {
            let local = self.own_voter();
            let is_known = self.voters().voter(local.key.id) == Some(&local);
            let is_in_log = self
                .voters
                .voters_offset()
                .is_some_and(|at| at >= Offset(0));
            if !is_known || !is_in_log {
                records.push(ControlRecord::KRaftVersion(version));
                records.push(ControlRecord::Voters(self.voters().with(local)));
            }
        }
        self.append_control(records, now);
    }

    /// Appends control records of this node, which leads. Returns the end of the log with them.
    pub(super) fn append_control(&mut self, records: Vec<ControlRecord>, now: Now) -> Offset {
        let base = self.log.end();
        let end = Offset(base.0 + records.len() as i64);
        let batches = ControlRecord::batch(&records, base, self.epoch, now.timestamp_ms);
        self.install(Checked {
            batches,
            ends: vec![(self.epoch, end)],
            control: (base.0..).map(Offset).zip(records).collect(),
        });
        end
    }

    /// What the log is to say of this node.
    pub(super) fn own_voter(&self) -> Voter {
        Voter {
            key: self.settings.replica(),
            endpoints: self.settings.endpoints.clone(),
            kraft_versions: self.settings.kraft_versions,
        }
    }

    /// Counts what this node has durably among the voters' ends, if it leads.
    pub(super) fn own_end_moved(&mut self) {
        let (local, flushed) = (self.settings.replica(), self.log.flushed());
        if let Role::Leader(leader) = &mut self.role
            && leader.flushed(local, flushed)
        {
            self.publish_high_watermark();
        }
    }
}

fn control_records(batch: &RecordBatch) -> Result<Vec<(Offset, ControlRecord)>, AppendError> {
    if !batch.header().attributes.is_control() {
        return Ok(Vec::new());
    }
    Ok(ControlRecord::read(batch)?)
}
