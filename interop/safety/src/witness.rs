//! Asks each broker again and again what it says of leaders and offsets.

use std::fmt;
use std::time::Duration;

use klamm_client::{ErrorCode, ServerAddress, TcpConnector};
use klamm_net::{Connection, ConnectionOptions, ServerVersions, VersionsError};
use klamm_protocol::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic,
};
use klamm_protocol::messages::metadata::{MetadataRequest, MetadataRequestTopic, MetadataResponse};
use klamm_protocol::{Request, VersionRange};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::load::TOPIC;

const PAUSE: Duration = Duration::from_millis(30);
/// A broker that is paused does not answer.
const TIMEOUT: Duration = Duration::from_millis(500);
/// The versions that check the leader epoch and know OFFSET_NOT_AVAILABLE.
const LIST_OFFSETS: VersionRange = VersionRange::new(5, i16::MAX);
/// The versions that tell the leader epoch.
const METADATA: VersionRange = VersionRange::new(7, i16::MAX);
const LATEST: i64 = -1;
const CONSUMER: i32 = -1;

/// What a broker's metadata says of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) broker: u32,
    pub(crate) partition: usize,
    pub(crate) epoch: i32,
    pub(crate) leader: i32,
}

/// Which end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// The high watermark, as a consumer is told.
    HighWatermark,
    /// The end of the log, as a follower is told.
    Log,
}

/// An offset that a leader tells. Times are from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) broker: u32,
    pub(crate) partition: usize,
    pub(crate) epoch: i32,
    pub(crate) end: End,
    pub(crate) offset: i64,
    pub(crate) asked: Duration,
    pub(crate) answered: Duration,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (asked, answered) = (self.asked.as_secs_f64(), self.answered.as_secs_f64());
        write!(
            f,
            "broker {} told {} for partition {} in epoch {}, from {asked:.3} s to {answered:.3} s",
            self.broker, self.offset, self.partition, self.epoch
        )
    }
}

/// All that one broker says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Testimony {
    /// What differs from what was told before.
    pub(crate) told: Vec<Told>,
    pub(crate) seen: Vec<Seen>,
}

/// A broker that is asked.
pub(crate) struct Witness {
    broker: u32,
    server: ServerAddress,
    began: Instant,
    testimony: Testimony,
    /// What was told last, by partition.
    last: Vec<Option<Told>>,
}

impl Witness {
    /// `began` is from when on times are told.
    pub(crate) fn new(
        broker: u32,
        server: ServerAddress,
        partitions: usize,
        began: Instant,
    ) -> Self {
        Self {
            broker,
            server,
            began,
            testimony: Testimony::default(),
            last: vec![None; partitions],
        }
    }

    /// Asks until it is told to stop.
    pub(crate) async fn run(mut self, stopped: watch::Receiver<bool>) -> Testimony {
        while !*stopped.borrow() {
            // Whoever is dead or paused is asked again.
            let _ = self.ask_while_it_answers(&stopped).await;
            sleep(PAUSE).await;
        }
        self.testimony
    }

    async fn ask_while_it_answers(
        &mut self,
        stopped: &watch::Receiver<bool>,
    ) -> Result<(), VersionsError> {
        let (connection, versions) = connect(&self.server).await?;
        while !*stopped.borrow() {
            self.round(&connection, &versions).await?;
            sleep(PAUSE).await;
        }
        Ok(())
    }

    async fn round(
        &mut self,
        connection: &Connection,
        versions: &ServerVersions,
    ) -> Result<(), VersionsError> {
        let led = self.metadata(connection, versions).await?;
        if led.is_empty() {
            return Ok(());
        }
        // A follower's question is that of any other broker.
        let follower = self.broker as i32 % 3 + 1;
        for (end, asks) in [(End::HighWatermark, CONSUMER), (End::Log, follower)] {
            self.offsets(connection, versions, end, asks, &led).await?;
        }
        Ok(())
    }

    /// Who leads: gives the partitions that the broker says to lead, with their epochs.
    async fn metadata(
        &mut self,
        connection: &Connection,
        versions: &ServerVersions,
    ) -> Result<Vec<(usize, i32)>, VersionsError> {
        let answer = ask_metadata(connection, versions).await?;
        let mut led = Vec::new();
        for partition in answer.topics.iter().flat_map(|topic| &topic.partitions) {
            let told = Told {
                broker: self.broker,
                partition: partition.partition_index.unsigned_abs() as usize,
                epoch: partition.leader_epoch,
                leader: partition.leader_id,
            };
            let Some(last) = self.last.get_mut(told.partition) else {
                continue;
            };
            if last.replace(told) != Some(told) {
                self.testimony.told.push(told);
            }
            if told.leader == self.broker as i32 {
                led.push((told.partition, told.epoch));
            }
        }
        Ok(led)
    }

    async fn offsets(
        &mut self,
        connection: &Connection,
        versions: &ServerVersions,
        end: End,
        replica_id: i32,
        led: &[(usize, i32)],
    ) -> Result<(), VersionsError> {
        let partitions = led.iter().map(|(index, epoch)| ListOffsetsPartition {
            partition_index: *index as i32,
            current_leader_epoch: *epoch,
            timestamp: LATEST,
            ..ListOffsetsPartition::default()
        });
        let request = ListOffsetsRequest {
            replica_id,
            topics: vec![ListOffsetsTopic {
                name: TOPIC.into(),
                partitions: partitions.collect(),
                ..ListOffsetsTopic::default()
            }],
            ..ListOffsetsRequest::default()
        };
        let asked = self.began.elapsed();
        let answer = call(connection, versions, LIST_OFFSETS, &request).await?;
        let answered = self.began.elapsed();
        for partition in answer.topics.iter().flat_map(|topic| &topic.partitions) {
            let index = partition.partition_index.unsigned_abs() as usize;
            let epoch = led.iter().find(|(other, _)| *other == index);
            if let (ErrorCode::NONE, Some((_, epoch))) = (ErrorCode(partition.error_code), epoch) {
                self.testimony.seen.push(Seen {
                    broker: self.broker,
                    partition: index,
                    epoch: *epoch,
                    end,
                    offset: partition.offset,
                    asked,
                    answered,
                });
            }
        }
        Ok(())
    }
}

/// What a broker says of the cluster and the topic.
pub(crate) async fn metadata(server: &ServerAddress) -> Result<MetadataResponse, VersionsError> {
    let (connection, versions) = connect(server).await?;
    ask_metadata(&connection, &versions).await
}

async fn connect(server: &ServerAddress) -> Result<(Connection, ServerVersions), VersionsError> {
    let options = ConnectionOptions::default();
    let connector = TcpConnector { timeout: TIMEOUT };
    Connection::open_negotiated(&connector, server, &options, Instant::now() + TIMEOUT).await
}

async fn ask_metadata(
    connection: &Connection,
    versions: &ServerVersions,
) -> Result<MetadataResponse, VersionsError> {
    let request = MetadataRequest {
        topics: Some(vec![MetadataRequestTopic {
            name: Some(TOPIC.into()),
            ..MetadataRequestTopic::default()
        }]),
        ..MetadataRequest::default()
    };
    call(connection, versions, METADATA, &request).await
}

async fn call<R: Request>(
    connection: &Connection,
    versions: &ServerVersions,
    needed: VersionRange,
    request: &R,
) -> Result<R::Response, VersionsError> {
    let version = versions.latest::<R>(needed);
    let version = version.expect("klamm's brokers offer the latest");
    let deadline = Instant::now() + TIMEOUT;
    let answer = connection.call(version, request, deadline, |_| Duration::ZERO);
    Ok(answer.await?)
}
