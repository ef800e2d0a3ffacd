use klamm_metadata::{Broker, Endpoint, Image, Operation, Partition};
use klamm_protocol::{BrokerId, ErrorCode, SmallVec};

/// The topics that Kafka's coordinators keep for themselves.
const INTERNAL_TOPICS: [&str; 3] = [
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
];

/// What may be done to a topic. Brokers ask no authorizer: everybody may.
const TOPIC_OPERATIONS: [Operation; 8] = [
    Operation::Read,
    Operation::Write,
    Operation::Create,
    Operation::Delete,
    Operation::Alter,
    Operation::Describe,
    Operation::DescribeConfigs,
    Operation::AlterConfigs,
];

/// The cluster as clients of one listener see it: brokers without a listener of that name are not
/// there for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterView<'a> {
    pub(super) image: &'a Image,
    pub(super) listener: &'a str,
}

impl<'a> ClusterView<'a> {
    /// The brokers that are not fenced, with their endpoints.
    pub(super) fn alive(self) -> impl Iterator<Item = (&'a Broker, &'a Endpoint)> {
        let all = self.all();
        all.filter(|(broker, _)| !broker.fenced)
    }

    /// The same with those that are fenced.
    pub(super) fn all(self) -> impl Iterator<Item = (&'a Broker, &'a Endpoint)> {
        let brokers = self.image.cluster().brokers();
        brokers.filter_map(move |broker| Some((broker, broker.listeners.get(self.listener)?)))
    }

    /// A broker to ask what is for the controller. All hand it over; where this one is not alive
    /// another is named.
    pub(super) fn controller(self, own: BrokerId) -> BrokerId {
        let mut alive = self.alive().map(|(broker, _)| broker.id);
        let first = alive.next();
        let is_alive = first == Some(own) || alive.any(|id| id == own);
        let named = if is_alive { Some(own) } else { first };
        named.unwrap_or(BrokerId::NONE)
    }

    /// The partition's leader, or why it cannot be asked. `knows_listeners` says whether the client
    /// knows of listeners that a broker does not have.
    pub(super) fn leader(
        self,
        partition: &Partition,
        knows_listeners: bool,
    ) -> Result<BrokerId, ErrorCode> {
        let leader = partition.leader();
        match self.image.cluster().broker(leader) {
            None => Err(ErrorCode::LEADER_NOT_AVAILABLE),
            Some(broker) if broker.listeners.contains_key(self.listener) => Ok(leader),
            Some(_) if knows_listeners => Err(ErrorCode::LISTENER_NOT_FOUND),
            Some(_) => Err(ErrorCode::LEADER_NOT_AVAILABLE),
        }
    }

    /// The replicas that cannot be read from.
    pub(super) fn offline(self, partition: &Partition) -> SmallVec<[i32; 4]> {
        let is_offline = |id: BrokerId| match self.image.cluster().broker(id) {
            None => true,
            Some(broker) => {
                let directory = partition.directory(id);
                broker.fenced
                    || !broker.listeners.contains_key(self.listener)
                    || directory.is_some_and(|id| !broker.has_online_dir(id))
            }
        };
        partition.replicas().filtered(is_offline).to_wire()
    }
}

/// Whether a topic is one of Kafka's own.
pub(super) fn is_internal(topic: &str) -> bool {
    INTERNAL_TOPICS.contains(&topic)
}

/// What a client may do to a topic, as bits.
pub(super) fn topic_operations() -> i32 {
    let bits = TOPIC_OPERATIONS.iter();
    bits.fold(0, |bits, operation| bits | 1 << operation.to_wire())
}
