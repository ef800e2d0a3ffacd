//! Records: from clients to leaders, from leaders to followers.

use std::collections::BTreeMap;
use std::time::Duration;

use klamm_metadata::Place;
use klamm_protocol::BrokerId;

use crate::broker::Follower;
use crate::cluster::Cluster;
use crate::cluster::mail::{FetchFrom, Fetched, Found, Mail};
use crate::data::DataRecord;
use crate::plan::Flaw;

/// How many records of a partition a follower gets at a time.
const MAX_RECORDS: usize = 20;
/// How long a follower waits for a leader's answer.
const FETCH_TIMEOUT: Duration = Duration::from_millis(500);

impl Cluster {
    /// A client's record has arrived at a broker, which takes it if it leads and enough replicas are
    /// in sync.
    pub(in crate::cluster) fn produced(&mut self, id: BrokerId, place: Place, record: u64) {
        let acknowledges_early = self.broker_plan().flaw == Some(Flaw::AcknowledgesEarly);
        let flushes = self.rng.u8(..4) == 0;
        let Some(replica) = self.brokers.get_mut(&id).and_then(|b| b.online(place)) else {
            return;
        };
        let (Some(lead), Some(known)) = (&mut replica.lead, replica.known) else {
            return;
        };
        if lead.isr.len() < lead.min_isr {
            return;
        }
        let offset = replica.log.end();
        let epoch = known.leader_epoch;
        replica.log.append([DataRecord { epoch, id: record }]);
        if flushes {
            replica.log.flush();
        }
        lead.waiting.push_back((offset, record));
        if acknowledges_early {
            replica.high_watermark = replica.log.end();
        }
        self.advance(id, place);
    }

    /// Moves a leader's high watermark, and acknowledges what it covers.
    pub(in crate::cluster) fn advance(&mut self, id: BrokerId, place: Place) {
        let Some(replica) = self.brokers.get_mut(&id).and_then(|b| b.online(place)) else {
            return;
        };
        let (Some(lead), Some(known)) = (&mut replica.lead, replica.known) else {
            return;
        };
        let reached = lead.reached(id, replica.log.end()).unwrap_or(0);
        replica.high_watermark = replica.high_watermark.max(reached);
        let mut done = Vec::new();
        while let Some((offset, _)) = lead.waiting.front()
            && *offset < replica.high_watermark
        {
            done.extend(replica.log.record(*offset).map(|record| (*offset, record)));
            lead.waiting.pop_front();
        }
        let (min_isr, isr) = (lead.min_isr, lead.isr.clone());
        for (offset, record) in done {
            // Who has no replica any more, as where the topic was deleted, had it.
            let has = |member: &&BrokerId| {
                let replica = self.brokers[*member].replicas.get(&place);
                replica.is_none_or(|replica| replica.log.record(offset) == Some(record))
            };
            let copies = isr.iter().filter(has).count();
            let epoch = known.leader_epoch;
            if self.trace.is_some() {
                let what = format!("acknowledges {place}, {offset} in {epoch}: {copies} copies");
                self.log(Some(id), &what);
            }
            // A disk may have lost its copy since the leader heard of it.
            let copies = if self.report.lost > 0 {
                min_isr
            } else {
                copies
            };
            let truth = &mut self.truth;
            let added = truth
                .acknowledged
                .add(place, epoch, offset, record, (copies, min_isr));
            self.fail_with(added);
        }
    }

    /// Fetches from every leader.
    pub(super) fn fetch_all(&mut self, id: BrokerId) {
        let now = self.now;
        let broker = &self.brokers[&id];
        let mut wanted: BTreeMap<BrokerId, Vec<FetchFrom>> = BTreeMap::new();
        for (place, replica) in &broker.replicas {
            let Some(known) = replica.known else {
                continue;
            };
            let is_online = !broker.failed.contains(&replica.dir);
            if let Some(leader) = known
                .leader
                .known()
                .filter(|leader| *leader != id && is_online)
            {
                wanted.entry(leader).or_default().push(FetchFrom {
                    place: *place,
                    leader_epoch: known.leader_epoch,
                    offset: replica.log.end(),
                    last_epoch: replica.log.last_epoch(),
                });
            }
        }
        let (life, broker_epoch) = (self.nodes[&id].life, broker.run.epoch.unwrap_or(-1));
        for (to, partitions) in wanted {
            let fetching = &mut self
                .brokers
                .get_mut(&id)
                .expect("brokers stay")
                .run
                .fetching;
            if fetching.get(&to).is_some_and(|until| now < *until) {
                continue;
            }
            fetching.insert(to, now + FETCH_TIMEOUT);
            let from = id;
            self.post(
                id,
                to,
                Mail::Fetch {
                    to,
                    from,
                    life,
                    broker_epoch,
                    partitions,
                },
            );
        }
    }

    /// A follower's fetch has arrived.
    pub(in crate::cluster) fn fetch_asked(
        &mut self,
        id: BrokerId,
        (from, life, broker_epoch): (BrokerId, u64, i64),
        partitions: &[FetchFrom],
    ) {
        let now = self.now;
        let mut answers = Vec::new();
        for asked in partitions {
            let Some(replica) = self
                .brokers
                .get_mut(&id)
                .and_then(|b| b.online(asked.place))
            else {
                continue;
            };
            let (Some(lead), Some(known)) = (&mut replica.lead, replica.known) else {
                continue;
            };
            if known.leader_epoch != asked.leader_epoch {
                continue;
            }
            let end = replica.log.end();
            let common = asked.last_epoch.map(|epoch| replica.log.end_of(epoch));
            let parts = common.filter(|common| {
                common.is_none_or(|(epoch, end)| {
                    Some(epoch) != asked.last_epoch || end < asked.offset
                })
            });
            let found = match parts {
                Some(common) => Found::Diverging(common),
                None => {
                    let old = lead
                        .followers
                        .get(&from)
                        .filter(|old| old.epoch == broker_epoch);
                    let (fetched_at, end_then) = old.map_or((now, end), |old| old.last);
                    let before = old.map_or(Duration::ZERO, |old| old.caught_up);
                    let follower = Follower {
                        end: asked.offset,
                        epoch: broker_epoch,
                        caught_up: match asked.offset {
                            offset if offset >= end => now,
                            // It has what the leader had then, so it was caught up then.
                            offset if offset >= end_then => fetched_at.max(before),
                            _ => before,
                        },
                        last: (now, end),
                    };
                    lead.followers.insert(from, follower);
                    Found::Records(replica.log.from(asked.offset, MAX_RECORDS))
                }
            };
            let place = asked.place;
            self.advance(id, place);
            self.grow_isr(id, place, from);
            let replica = &self.brokers[&id].replicas[&place];
            answers.push(Fetched {
                place,
                leader_epoch: asked.leader_epoch,
                offset: asked.offset,
                high_watermark: replica.high_watermark,
                found,
            });
        }
        self.ask_for_isrs(id);
        let mail = Mail::Fetched {
            to: from,
            life,
            from: id,
            partitions: answers,
        };
        self.post(id, from, mail);
    }

    /// A leader has answered a fetch.
    pub(in crate::cluster) fn fetch_told(
        &mut self,
        id: BrokerId,
        from: BrokerId,
        partitions: Vec<Fetched>,
    ) {
        let flushes = self.rng.u8(..4) == 0;
        let Some(broker) = self.brokers.get_mut(&id) else {
            return;
        };
        broker.run.fetching.remove(&from);
        for fetched in partitions {
            let Some(replica) = broker.online(fetched.place) else {
                continue;
            };
            let is_its = replica.known.is_some_and(|known| {
                known.leader == from && known.leader_epoch == fetched.leader_epoch
            });
            // A late answer to an earlier fetch says nothing any more.
            if !is_its || fetched.offset != replica.log.end() {
                continue;
            }
            let log = &mut replica.log;
            match fetched.found {
                Found::Records(records) => log.append(records),
                Found::Diverging(None) => log.truncate(0),
                Found::Diverging(Some((epoch, end))) => {
                    let own = log.end_of(epoch).map_or(0, |(_, own)| own);
                    log.truncate(end.min(own));
                }
            }
            if flushes {
                log.flush();
            }
            let reached = fetched.high_watermark.min(log.end());
            replica.high_watermark = replica.high_watermark.max(reached).min(log.end());
        }
    }
}
