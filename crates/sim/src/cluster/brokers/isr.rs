//! Leaders that ask the controller for another ISR.

use klamm_metadata::Place;
use klamm_protocol::messages::alter_partition::{
    AlterPartitionRequest, AlterPartitionResponse, BrokerState, RequestPartitionData,
    RequestTopicData, ResponsePartitionData,
};
use klamm_protocol::{BrokerId, ErrorCode, PartitionEpoch};

use crate::broker::{Errand, Wanted};
use crate::checker;
use crate::cluster::Cluster;

impl Cluster {
    /// A follower that has everything is to be in sync.
    pub(super) fn grow_isr(&mut self, id: BrokerId, place: Place, follower: BrokerId) {
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        let registered = broker.image().cluster().broker(follower);
        let active = registered.filter(|registered| registered.is_active());
        let epoch = active.map(|registered| registered.epoch.0);
        let Some(replica) = broker.online(place) else {
            return;
        };
        let (Some(lead), Some(known)) = (&mut replica.lead, replica.known) else {
            return;
        };
        let Some(state) = lead.followers.get(&follower).copied() else {
            return;
        };
        let has_everything = state.end >= replica.high_watermark && state.end >= lead.start;
        let may = epoch == Some(state.epoch) && !lead.isr.contains(&follower);
        if lead.wanted.is_some() || !has_everything || !may {
            return;
        }
        let epochs = lead.isr.iter().map(|member| {
            let fetched = lead.followers.get(member);
            (*member, fetched.map_or(-1, |fetched| fetched.epoch))
        });
        lead.wanted = Some(Wanted {
            isr: epochs.chain([(follower, state.epoch)]).collect(),
            partition_epoch: known.partition_epoch,
            asked: false,
            refused: false,
        });
    }

    /// Followers that lag are to be in sync no more.
    pub(super) fn look_after_isrs(&mut self, id: BrokerId) {
        let (now, lag) = (self.now, self.broker_plan().lag);
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        let since = now.saturating_sub(lag);
        for replica in broker.replicas.values_mut() {
            let end = replica.log.end();
            let (Some(lead), Some(known)) = (&mut replica.lead, replica.known) else {
                continue;
            };
            let lead_began = lead.began;
            let lags = |member: &BrokerId| match lead.followers.get(member) {
                _ if *member == id => false,
                Some(follower) => follower.end < end && follower.caught_up.max(lead_began) < since,
                None => lead_began < since,
            };
            if lead.wanted.is_some() || !lead.isr.iter().any(lags) {
                continue;
            }
            let stays = lead
                .isr
                .iter()
                .filter(|member| !lags(member))
                .map(|member| {
                    let fetched = lead.followers.get(member);
                    (*member, fetched.map_or(-1, |fetched| fetched.epoch))
                });
            lead.wanted = Some(Wanted {
                isr: stays.collect(),
                partition_epoch: known.partition_epoch,
                asked: false,
                refused: false,
            });
        }
        self.ask_for_isrs(id);
    }

    /// Asks for every ISR that is wanted, unless such a request is under way.
    pub(super) fn ask_for_isrs(&mut self, id: BrokerId) {
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        let Some(broker_epoch) = broker.run.epoch else {
            return;
        };
        if broker.is_out_on(Errand::AlterPartition) {
            return;
        }
        let mut topics = Vec::new();
        for (place, replica) in &mut broker.replicas {
            let (Some(lead), Some(known)) = (&mut replica.lead, replica.known) else {
                continue;
            };
            let Some(wanted) = lead.wanted.as_mut().filter(|wanted| !wanted.refused) else {
                continue;
            };
            wanted.asked = true;
            let own = |member: BrokerId, epoch| if member == id { broker_epoch } else { epoch };
            let state = |(member, epoch): &(BrokerId, i64)| BrokerState {
                broker_id: member.0,
                broker_epoch: own(*member, *epoch),
                ..Default::default()
            };
            topics.push(RequestTopicData {
                topic_id: place.topic,
                partitions: vec![RequestPartitionData {
                    partition_index: place.index.0,
                    leader_epoch: known.leader_epoch.0,
                    new_isr_with_epochs: wanted.isr.iter().map(state).collect(),
                    partition_epoch: wanted.partition_epoch.0,
                    ..Default::default()
                }],
                ..Default::default()
            });
            let mut members: Vec<i32> = wanted.isr.iter().map(|(member, _)| member.0).collect();
            members.sort_unstable();
            let asked = (*place, wanted.partition_epoch.0, members);
            self.truth.asked.isr.insert(asked);
        }
        if topics.is_empty() {
            return;
        }
        let request = AlterPartitionRequest {
            broker_id: id.0,
            broker_epoch,
            topics,
            ..Default::default()
        };
        self.go_on(id, Errand::AlterPartition, request.into());
    }

    /// The controller has decided on ISRs.
    pub(super) fn isr_answered(&mut self, id: BrokerId, response: &AlterPartitionResponse) {
        if response.error_code != 0 {
            return;
        }
        for topic in &response.topics {
            for told in &topic.partitions {
                let place = checker::place(topic.topic_id, told.partition_index);
                self.isr_decided(id, place, told);
                self.advance(id, place);
            }
        }
    }

    fn isr_decided(&mut self, id: BrokerId, place: Place, told: &ResponsePartitionData) {
        let broker = self.brokers.get_mut(&id).expect("brokers stay");
        let Some(replica) = broker.online(place) else {
            return;
        };
        let (Some(lead), Some(known)) = (&mut replica.lead, &mut replica.known) else {
            return;
        };
        // An answer may be to an earlier wish, which was settled since.
        let was_asked = lead.wanted.as_ref().is_some_and(|wanted| wanted.asked);
        match ErrorCode(told.error_code) {
            ErrorCode::NONE => {
                let is_news = told.leader_epoch == known.leader_epoch.0
                    && told.leader_id == id.0
                    && told.partition_epoch > known.partition_epoch.0;
                if is_news {
                    known.partition_epoch = PartitionEpoch(told.partition_epoch);
                    lead.isr = told.isr[..].into();
                    lead.wanted = None;
                } else if told.partition_epoch == known.partition_epoch.0 {
                    // It is so already.
                    lead.wanted = None;
                }
            }
            // It is for certain that it was not done, and that it is not going to be.
            _ if !was_asked => {}
            ErrorCode::INELIGIBLE_REPLICA => lead.wanted = None,
            ErrorCode::NOT_CONTROLLER => {}
            _ => {
                if let Some(wanted) = &mut lead.wanted {
                    wanted.refused = true;
                }
            }
        }
    }
}
