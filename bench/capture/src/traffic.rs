//! A capture of made-up but ordinary traffic: producers that write batches, consumers that fetch
//! them, and the small requests that go with both, in packets of Ethernet's usual size.

use std::io::{self, Write};

use bytes::Bytes;
use klamm_protocol::frame::{encode_request, encode_response};
use klamm_protocol::messages::{fetch, heartbeat, metadata, produce};
use klamm_protocol::{Request, SmallString, Uuid};

/// Data of a full segment.
const SEGMENT: usize = 1448;
/// The connections of producers and of consumers.
const CONNECTIONS: u16 = 16;
/// Bytes of a batch that a producer writes.
const BATCH: usize = 16 << 10;
/// Bytes of a partition's records in a Fetch response.
const FETCHED: usize = 96 << 10;

/// Writes a capture of about `bytes` bytes. The same length gives the same file.
pub(crate) fn write(out: &mut impl Write, bytes: u64) -> io::Result<u64> {
    let mut wire = Wire::begin(out)?;
    let talk = Talk::new();
    let mut connections: Vec<Connection> = (0..CONNECTIONS).map(Connection::new).collect();
    for connection in &mut connections {
        connection.open(&mut wire)?;
    }
    let mut round = 0;
    while wire.written < bytes {
        for (index, connection) in connections.iter_mut().enumerate() {
            let id = connection.next_id();
            let (request, response) = match (index % 4, round % 8) {
                (_, 0) => talk.metadata(id),
                (_, 4) => talk.heartbeat(id),
                (0, _) => talk.fetch(id),
                _ => talk.produce(id),
            };
            connection.send(true, &request, &mut wire)?;
            connection.send(false, &response, &mut wire)?;
        }
        round += 1;
    }
    Ok(wire.written)
}

/// What is said.
struct Talk {
    client_id: SmallString,
    batch: Bytes,
    fetched: Bytes,
}

impl Talk {
    fn new() -> Self {
        let mut rng = fastrand::Rng::with_seed(1);
        // Records are mostly compressed, and look like noise.
        let mut noise = |len: usize| {
            let mut bytes = vec![0; len];
            rng.fill(&mut bytes);
            Bytes::from(bytes)
        };
        Self {
            client_id: "an-ordinary-client".into(),
            batch: noise(BATCH),
            fetched: noise(FETCHED),
        }
    }

    fn pair<R: Request>(
        &self,
        id: i32,
        version: i16,
        request: &R,
        response: &R::Response,
    ) -> (Vec<u8>, Vec<u8>) {
        let request = encode_request(id, Some(&self.client_id), version, request);
        let response = encode_response::<R>(id, version, response);
        let all = |segments: klamm_protocol::Segments| segments.into_bytes().to_vec();
        (
            all(request.expect("the request fits its version")),
            all(response.expect("the response fits its version")),
        )
    }

    fn produce(&self, id: i32) -> (Vec<u8>, Vec<u8>) {
        let partition = |index| produce::PartitionProduceData {
            index,
            records: Some(self.batch.clone()),
            ..Default::default()
        };
        let answer = |index| produce::PartitionProduceResponse {
            index,
            base_offset: i64::from(id),
            ..Default::default()
        };
        let request = produce::ProduceRequest {
            acks: -1,
            timeout_ms: 30_000,
            topic_data: vec![produce::TopicProduceData {
                topic_id: topic_id(),
                partition_data: (0..4).map(partition).collect(),
                ..Default::default()
            }],
            ..Default::default()
        };
        let response = produce::ProduceResponse {
            responses: vec![produce::TopicProduceResponse {
                topic_id: topic_id(),
                partition_responses: (0..4).map(answer).collect(),
                ..Default::default()
            }],
            ..Default::default()
        };
        self.pair(id, 13, &request, &response)
    }

    fn fetch(&self, id: i32) -> (Vec<u8>, Vec<u8>) {
        let asked = |partition| fetch::FetchPartition {
            partition,
            fetch_offset: i64::from(id),
            partition_max_bytes: 1 << 20,
            ..Default::default()
        };
        let answer = |partition_index| fetch::PartitionData {
            partition_index,
            high_watermark: i64::from(id),
            records: Some(self.fetched.clone()),
            ..Default::default()
        };
        let request = fetch::FetchRequest {
            max_wait_ms: 500,
            min_bytes: 1,
            max_bytes: 50 << 20,
            topics: vec![fetch::FetchTopic {
                topic_id: topic_id(),
                partitions: (0..8).map(asked).collect(),
                ..Default::default()
            }],
            ..Default::default()
        };
        let response = fetch::FetchResponse {
            responses: vec![fetch::FetchableTopicResponse {
                topic_id: topic_id(),
                partitions: (0..8).map(answer).collect(),
                ..Default::default()
            }],
            ..Default::default()
        };
        self.pair(id, 17, &request, &response)
    }

    fn metadata(&self, id: i32) -> (Vec<u8>, Vec<u8>) {
        let broker = |node_id| metadata::MetadataResponseBroker {
            node_id,
            host: "broker.example".into(),
            port: 9092,
            ..Default::default()
        };
        let partition = |partition_index| metadata::MetadataResponsePartition {
            partition_index,
            leader_id: partition_index % 3,
            ..Default::default()
        };
        let response = metadata::MetadataResponse {
            brokers: (0..3).map(broker).collect(),
            topics: vec![metadata::MetadataResponseTopic {
                topic_id: topic_id(),
                name: Some("a-topic".into()),
                partitions: (0..12).map(partition).collect(),
                ..Default::default()
            }],
            ..Default::default()
        };
        self.pair(id, 12, &metadata::MetadataRequest::default(), &response)
    }

    fn heartbeat(&self, id: i32) -> (Vec<u8>, Vec<u8>) {
        let request = heartbeat::HeartbeatRequest {
            group_id: "a-group".into(),
            member_id: "a-member-with-a-long-id-as-they-have".into(),
            ..Default::default()
        };
        self.pair(id, 4, &request, &heartbeat::HeartbeatResponse::default())
    }
}

fn topic_id() -> Uuid {
    Uuid::from_bytes([0x5a; 16])
}

/// The file that packets go to.
struct Wire<'a, W> {
    out: &'a mut W,
    written: u64,
    micros: u64,
}

impl<'a, W: Write> Wire<'a, W> {
    fn begin(out: &'a mut W) -> io::Result<Self> {
        let mut header = 0xa1b2_c3d4u32.to_le_bytes().to_vec();
        header.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
        out.write_all(&header)?;
        Ok(Self {
            out,
            written: header.len() as u64,
            micros: 1_700_000_000_000_000,
        })
    }

    fn packet(&mut self, headers: &[u8], data: &[u8]) -> io::Result<()> {
        self.micros += 12;
        let len = (headers.len() + data.len()) as u32;
        let (seconds, micros) = (self.micros / 1_000_000, self.micros % 1_000_000);
        for number in [seconds as u32, micros as u32, len, len] {
            self.out.write_all(&number.to_le_bytes())?;
        }
        self.out.write_all(headers)?;
        self.out.write_all(data)?;
        self.written += 16 + u64::from(len);
        Ok(())
    }
}

struct Connection {
    port: u16,
    next: [u32; 2],
    id: i32,
}

const SYN: u8 = 0x02;
const ACK: u8 = 0x10;

impl Connection {
    fn new(index: u16) -> Self {
        Self {
            port: 40_000 + index,
            next: [1_000_000 * u32::from(index), 77],
            id: 0,
        }
    }

    fn next_id(&mut self) -> i32 {
        self.id += 1;
        self.id
    }

    fn open(&mut self, wire: &mut Wire<'_, impl Write>) -> io::Result<()> {
        for (is_from_client, flags) in [(true, SYN), (false, SYN | ACK)] {
            wire.packet(&self.headers(is_from_client, flags, 0), &[])?;
            let next = &mut self.next[usize::from(!is_from_client)];
            *next = next.wrapping_add(1);
        }
        wire.packet(&self.headers(true, ACK, 0), &[])
    }

    /// Sends bytes; every other segment is acknowledged.
    fn send(
        &mut self,
        is_from_client: bool,
        bytes: &[u8],
        wire: &mut Wire<'_, impl Write>,
    ) -> io::Result<()> {
        for (index, data) in bytes.chunks(SEGMENT).enumerate() {
            wire.packet(&self.headers(is_from_client, ACK, data.len()), data)?;
            let next = &mut self.next[usize::from(!is_from_client)];
            *next = next.wrapping_add(data.len() as u32);
            if index % 2 == 1 {
                wire.packet(&self.headers(!is_from_client, ACK, 0), &[])?;
            }
        }
        Ok(())
    }

    /// Ethernet, IPv4, and TCP with a timestamp.
    fn headers(&self, is_from_client: bool, flags: u8, len: usize) -> Vec<u8> {
        let mut headers = vec![0; 12];
        headers.extend([8, 0, 0x45, 0]);
        headers.extend((20 + 32 + len as u16).to_be_bytes());
        headers.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        let (mut ends, mut ports) = ([[10, 0, 0, 1], [10, 0, 0, 2]], [self.port, 9092]);
        let [mut sequence, mut ack] = self.next;
        if !is_from_client {
            ends.reverse();
            ports.reverse();
            std::mem::swap(&mut sequence, &mut ack);
        }
        headers.extend(ends.concat());
        headers.extend(ports.map(u16::to_be_bytes).concat());
        headers.extend(sequence.to_be_bytes());
        headers.extend(if flags & ACK == 0 { 0 } else { ack }.to_be_bytes());
        headers.extend([8 << 4, flags, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 8, 10]);
        headers.extend([0; 8]);
        headers
    }
}
