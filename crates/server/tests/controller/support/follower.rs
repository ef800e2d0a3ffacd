use klamm_metadata::{Image, Loader, Partition, Record};
use klamm_protocol::messages::fetch::{
    FetchPartition, FetchRequest, FetchTopic, PartitionData, ReplicaState,
};
use klamm_protocol::messages::fetch_snapshot::{
    FetchSnapshotRequest, RequestPartitionSnapshot, RequestSnapshotId, RequestTopicSnapshot,
};
use klamm_protocol::records::{Batch, Batches, DecompressLimit, RecordBatch};
use klamm_protocol::{BrokerId, ErrorCode, LeaderEpoch, Offset, PartitionIndex, Uuid};
use klamm_raft::METADATA_TOPIC_ID;

use super::{Client, Controller};

/// What follows the metadata log, as brokers do.
pub(crate) struct Follower {
    client: Client,
    replica: i32,
    directory: Uuid,
    epoch: LeaderEpoch,
    last_epoch: LeaderEpoch,
    pub(crate) end: Offset,
    committed: Offset,
    unapplied: Vec<RecordBatch>,
    loader: Loader,
    /// Whether it has taken a snapshot.
    pub(crate) took_snapshot: bool,
}

impl Follower {
    /// A replica with nothing, or a client that only looks where the id is -1.
    pub(crate) async fn new(controller: &Controller, replica: i32) -> Self {
        Self {
            client: controller.connect().await,
            replica,
            directory: Uuid::from_bytes([replica as u8; 16]),
            epoch: LeaderEpoch(0),
            last_epoch: LeaderEpoch(0),
            end: Offset(0),
            committed: Offset(-1),
            unapplied: Vec::new(),
            loader: Loader::default(),
            took_snapshot: false,
        }
    }

    /// Goes on with another connection, to the controller that runs now.
    pub(crate) async fn reconnect(&mut self, controller: &Controller) {
        self.client = controller.connect().await;
    }

    /// The cluster as far as it is committed and known here.
    pub(crate) fn image(&self) -> &Image {
        self.loader.image()
    }

    pub(crate) fn partition(&self, topic: &str, index: i32) -> &Partition {
        let topic = self.image().topics().by_name(topic).expect("the topic");
        topic
            .partition(PartitionIndex(index))
            .expect("the partition")
    }

    /// The offset of the last record that is known to be committed.
    pub(crate) fn applied(&self) -> i64 {
        self.committed.0.min(self.end.0) - 1
    }

    /// Fetches once, for at most so long.
    pub(crate) async fn fetch(&mut self, max_wait_ms: i32) {
        let request = FetchRequest {
            cluster_id: None,
            replica_state: ReplicaState {
                replica_id: self.replica,
                ..ReplicaState::default()
            },
            max_wait_ms,
            max_bytes: 8 << 20,
            topics: vec![FetchTopic {
                topic_id: METADATA_TOPIC_ID,
                partitions: vec![FetchPartition {
                    current_leader_epoch: self.epoch.0,
                    fetch_offset: self.end.0,
                    last_fetched_epoch: self.last_epoch.0,
                    replica_directory_id: self.directory,
                    high_watermark: self.committed.0,
                    ..FetchPartition::default()
                }],
                ..FetchTopic::default()
            }],
            ..FetchRequest::default()
        };
        let response = self.client.ask(&request).await;
        assert_eq!(response.error_code, 0);
        let partition = response.responses[0].partitions[0].clone();
        self.take(partition).await;
    }

    async fn take(&mut self, partition: PartitionData) {
        if partition.current_leader.leader_epoch > self.epoch.0 {
            self.epoch = LeaderEpoch(partition.current_leader.leader_epoch);
        }
        let snapshot = &partition.snapshot_id;
        if snapshot.end_offset >= 0 {
            return self
                .take_snapshot(snapshot.end_offset, snapshot.epoch)
                .await;
        }
        assert_eq!(
            partition.diverging_epoch.end_offset, -1,
            "nothing is lost in these tests"
        );
        if partition.error_code != 0 {
            // The epoch is known now.
            return;
        }
        for batch in whole(partition.records.unwrap_or_default()) {
            assert_eq!(batch.header().base_offset, self.end);
            self.end = Offset(batch.header().last_offset().0 + 1);
            self.last_epoch = batch.header().partition_leader_epoch;
            self.unapplied.push(batch);
        }
        self.committed = self.committed.max(Offset(partition.high_watermark));
        let is_committed = |batch: &RecordBatch| batch.header().last_offset() < self.committed;
        let committed = self
            .unapplied
            .iter()
            .filter(|batch| is_committed(batch))
            .count();
        for batch in self.unapplied.drain(..committed) {
            apply(&mut self.loader, &batch);
        }
    }

    async fn take_snapshot(&mut self, end: i64, epoch: i32) {
        let mut bytes = Vec::new();
        loop {
            let request = FetchSnapshotRequest {
                replica_id: self.replica,
                max_bytes: 1 << 20,
                topics: vec![RequestTopicSnapshot {
                    name: "__cluster_metadata".into(),
                    partitions: vec![RequestPartitionSnapshot {
                        current_leader_epoch: self.epoch.0,
                        snapshot_id: RequestSnapshotId {
                            end_offset: end,
                            epoch,
                            ..RequestSnapshotId::default()
                        },
                        position: bytes.len() as i64,
                        replica_directory_id: self.directory,
                        ..RequestPartitionSnapshot::default()
                    }],
                    ..RequestTopicSnapshot::default()
                }],
                ..FetchSnapshotRequest::default()
            };
            let response = self.client.ask(&request).await;
            assert_eq!(response.error_code, 0);
            let part = &response.topics[0].partitions[0];
            if ErrorCode(part.error_code) == ErrorCode::SNAPSHOT_NOT_FOUND {
                // A newer one has taken its place; the next Fetch tells which.
                return;
            }
            assert_eq!(part.error_code, 0);
            bytes.extend_from_slice(&part.unaligned_records);
            if bytes.len() as i64 == part.size {
                break;
            }
        }
        self.loader = Loader::default();
        for batch in whole(bytes.into()) {
            apply(&mut self.loader, &batch);
        }
        self.unapplied.clear();
        (self.end, self.last_epoch) = (Offset(end), LeaderEpoch(epoch));
        self.committed = self.committed.max(self.end);
        self.took_snapshot = true;
    }

    /// Follows until the cluster is as wanted.
    pub(crate) async fn until(&mut self, what: &str, holds: impl Fn(&Image) -> bool) {
        let deadline = super::deadline();
        while !holds(self.image()) {
            let is_late = tokio::time::Instant::now() > deadline;
            assert!(
                !is_late,
                "not in time: {what}\n{:#?}",
                self.image().cluster()
            );
            self.fetch(100).await;
        }
    }

    /// Follows until a broker is fenced, or is not.
    pub(crate) async fn until_fenced(&mut self, id: i32, fenced: bool) {
        let what = format!("broker {id} fenced: {fenced}");
        self.until(&what, |image| {
            let broker = image.cluster().broker(BrokerId(id));
            broker.is_some_and(|broker| broker.fenced == fenced)
        })
        .await;
    }

    /// Whether a broker that has registered is fenced, as far as this follower knows.
    pub(crate) fn is_fenced(&self, id: i32) -> bool {
        let broker = self.image().cluster().broker(BrokerId(id));
        broker.expect("registered").fenced
    }

    /// Follows the log for so many records. A controller whose idle interval is short writes one
    /// after another.
    pub(crate) async fn fetch_records(&mut self, count: i64) {
        let end = self.end.0 + count;
        while self.end.0 < end {
            self.fetch(100).await;
        }
    }

    /// Follows until a partition has a leader.
    pub(crate) async fn until_led(&mut self, topic: &str, index: i32, leader: i32) {
        let what = format!("{topic}-{index} led by {leader}");
        self.until(&what, |image| {
            let topic = image.topics().by_name(topic);
            let partition = topic.and_then(|topic| topic.partition(PartitionIndex(index)));
            partition.is_some_and(|partition| partition.leader() == BrokerId(leader))
        })
        .await;
    }
}

fn whole(bytes: bytes::Bytes) -> Vec<RecordBatch> {
    let batches = Batches::new(bytes).map(|batch| match batch.expect("a batch") {
        Batch::V2(batch) => batch,
        Batch::Legacy(batch) => panic!("an old batch: {batch:?}"),
    });
    batches.collect()
}

fn apply(loader: &mut Loader, batch: &RecordBatch) {
    if batch.header().attributes.is_control() {
        return;
    }
    let records = batch.records(DecompressLimit::DEFAULT).expect("records");
    for record in &records {
        let value = record.expect("a record").value_bytes().expect("a value");
        let record = Record::decode(&value).expect("a metadata record");
        loader.apply(record).expect("a record that fits");
    }
}
