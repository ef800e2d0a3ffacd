//! The messages that are measured: a request and a response of five APIs.

use std::hint::black_box;

use bytes::{Bytes, BytesMut};
use kafka_protocol::messages as peer;
use kafka_protocol::protocol::{Decodable, Encodable, Message as PeerMessage};
use klamm_protocol::messages::{api_versions, elect_leaders, fetch, metadata, produce};
use klamm_protocol::{Message, SmallString, SmallVec, Uuid, decode, encode, encode_segments};

use crate::row::{Row, Side};

const TOPICS: u32 = 1_000;
const PARTITIONS: i32 = 10;
const BATCHES: u32 = 100;
const BATCH_LEN: usize = 10 * 1024;

/// Every row, in the order of the report.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    both::<_, peer::ElectLeadersRequest>(elect_leaders_request(), &mut rows);
    both::<_, peer::ElectLeadersResponse>(elect_leaders_response(), &mut rows);
    both::<_, peer::MetadataRequest>(metadata_request(), &mut rows);
    both::<_, peer::MetadataResponse>(metadata_response(), &mut rows);
    both::<_, peer::ProduceRequest>(produce_request(), &mut rows);
    both::<_, peer::ProduceResponse>(produce_response(), &mut rows);
    both::<_, peer::FetchRequest>(fetch_request(), &mut rows);
    both::<_, peer::FetchResponse>(fetch_response(), &mut rows);
    both::<_, peer::ApiVersionsRequest>(api_versions_request(), &mut rows);
    both::<_, peer::ApiVersionsResponse>(api_versions_response(), &mut rows);
    rows
}

/// Adds the rows of a message, in the last version that both libraries know.
///
/// Each side encodes what it decoded from one frame, and before anything is timed both must have
/// encoded that very frame: they do the same work.
fn both<K, P>(message: K, rows: &mut Vec<Row>)
where
    K: Message,
    P: PeerMessage + Encodable + Decodable + 'static,
{
    let version = K::VERSIONS.max.min(P::VERSIONS.max);
    let frame = encode(&message, version).expect("the message is valid");
    let ours = decode::<K>(&frame, version).expect("klamm reads what it wrote");
    assert_eq!(ours.left, 0, "{} leaves bytes", K::NAME);
    assert_eq!(ours.value, message, "{} comes back", K::NAME);
    let theirs = P::decode(&mut frame.clone(), version).expect("the peer reads it too");
    assert_eq!(fresh(&theirs, version), frame, "{} by the peer", K::NAME);
    assert_eq!(sized(&theirs, version), frame, "{} by the peer", K::NAME);
    let segments = encode_segments(&ours.value, version).expect("the message is valid");
    let is_shared = segments.iter().count() > 1;
    assert_eq!(segments.into_bytes(), frame, "{} in segments", K::NAME);

    let row = |operation, ours, peer| Row {
        message: K::NAME,
        operation,
        version,
        len: frame.len(),
        ours,
        peer,
    };
    let peer_encodes = || {
        let (one, other) = (
            theirs.clone_by(version, &frame),
            theirs.clone_by(version, &frame),
        );
        vec![
            side("BytesMut::new", move || fresh(&one, version)),
            side("with compute_size", move || sized(&other, version)),
        ]
    };
    let value = ours.value.clone();
    let one_buffer = side(if is_shared { "one buffer" } else { "" }, move || {
        encode(black_box(&value), version)
    });
    rows.push(row("encode", one_buffer, peer_encodes()));
    if is_shared {
        let value = ours.value.clone();
        let in_segments = side("segments", move || {
            encode_segments(black_box(&value), version)
        });
        rows.push(row("encode", in_segments, peer_encodes()));
    }
    let (our_frame, peer_frame) = (frame.clone(), frame.clone());
    let our_decode = side("", move || decode::<K>(black_box(&our_frame), version));
    let peer_decode = side("from Bytes", move || {
        P::decode(&mut black_box(&peer_frame).clone(), version)
    });
    rows.push(row("decode", our_decode, vec![peer_decode]));
}

/// The peer's values are not all `Clone` under one trait, so another one is decoded.
trait CloneBy: Decodable {
    fn clone_by(&self, version: i16, frame: &Bytes) -> Self {
        Self::decode(&mut frame.clone(), version).expect("it was decoded before")
    }
}

impl<P: Decodable> CloneBy for P {}

/// A side that makes a value and drops it.
fn side<T>(how: &'static str, make: impl Fn() -> T + 'static) -> Side {
    Side {
        how,
        run: Box::new(move |times| {
            for _ in 0..times {
                black_box(make());
            }
        }),
    }
}

/// As in the peer's documentation: into a buffer that grows.
fn fresh<P: Encodable>(message: &P, version: i16) -> Bytes {
    let mut buf = BytesMut::new();
    black_box(message)
        .encode(&mut buf, version)
        .expect("the peer has encoded it before");
    buf.freeze()
}

/// As the peer's API allows too: into a buffer of the right size.
fn sized<P: Encodable>(message: &P, version: i16) -> Bytes {
    let message = black_box(message);
    let size = message
        .compute_size(version)
        .expect("the peer has encoded it before");
    let mut buf = BytesMut::with_capacity(size);
    message
        .encode(&mut buf, version)
        .expect("the peer has encoded it before");
    buf.freeze()
}

fn elect_leaders_request() -> elect_leaders::ElectLeadersRequest {
    let topic = |index| elect_leaders::TopicPartitions {
        topic: topic_name(index),
        partitions: (0..PARTITIONS).collect(),
        ..Default::default()
    };
    elect_leaders::ElectLeadersRequest {
        topic_partitions: Some((0..TOPICS).map(topic).collect()),
        timeout_ms: 30_000,
        ..Default::default()
    }
}

fn elect_leaders_response() -> elect_leaders::ElectLeadersResponse {
    // Two of ten were off their preferred leader, and one could not be elected.
    let result = |partition| elect_leaders::PartitionResult {
        partition_id: partition,
        error_code: match partition {
            0 | 1 => 0,
            2 => 80,
            _ => 84,
        },
        error_message: match partition {
            0 | 1 => None,
            2 => Some("The preferred leader was not available.".into()),
            _ => Some("Leader election not needed for topic partition.".into()),
        },
        ..Default::default()
    };
    let topic = |index| elect_leaders::ReplicaElectionResult {
        topic: topic_name(index),
        partition_result: (0..PARTITIONS).map(result).collect(),
        ..Default::default()
    };
    elect_leaders::ElectLeadersResponse {
        replica_election_results: (0..TOPICS).map(topic).collect(),
        ..Default::default()
    }
}

fn metadata_request() -> metadata::MetadataRequest {
    let topic = |index| metadata::MetadataRequestTopic {
        name: Some(topic_name(index)),
        ..Default::default()
    };
    metadata::MetadataRequest {
        topics: Some((0..TOPICS).map(topic).collect()),
        allow_auto_topic_creation: false,
        ..Default::default()
    }
}

fn metadata_response() -> metadata::MetadataResponse {
    let broker = |id: i32| metadata::MetadataResponseBroker {
        node_id: id,
        host: SmallString::from(format!("broker-{id}.kafka.example")),
        port: 9092,
        rack: Some(SmallString::from(format!("rack-{id}"))),
        ..Default::default()
    };
    let partition = |index: i32| {
        let replicas: SmallVec<[i32; 4]> = (0..3).map(|next| (index + next) % 3).collect();
        metadata::MetadataResponsePartition {
            partition_index: index,
            leader_id: replicas[0],
            leader_epoch: 7,
            isr_nodes: replicas.clone(),
            replica_nodes: replicas,
            ..Default::default()
        }
    };
    let topic = |index| metadata::MetadataResponseTopic {
        name: Some(topic_name(index)),
        topic_id: topic_id(index),
        partitions: (0..PARTITIONS).map(partition).collect(),
        ..Default::default()
    };
    metadata::MetadataResponse {
        brokers: (0..3).map(broker).collect(),
        cluster_id: Some("q1Sh-9_ISia_zwGINzRvyQ".into()),
        controller_id: 1,
        topics: (0..TOPICS).map(topic).collect(),
        ..Default::default()
    }
}

fn produce_request() -> produce::ProduceRequest {
    let partition = |index| produce::PartitionProduceData {
        index,
        records: Some(batch(index)),
        ..Default::default()
    };
    let topic = |index| produce::TopicProduceData {
        topic_id: topic_id(index),
        partition_data: (0..PARTITIONS).map(partition).collect(),
        ..Default::default()
    };
    produce::ProduceRequest {
        acks: -1,
        timeout_ms: 30_000,
        topic_data: (0..BATCHES / PARTITIONS as u32).map(topic).collect(),
        ..Default::default()
    }
}

fn produce_response() -> produce::ProduceResponse {
    let partition = |index| produce::PartitionProduceResponse {
        index,
        base_offset: 1_000_000 + i64::from(index),
        log_start_offset: 0,
        ..Default::default()
    };
    let topic = |index| produce::TopicProduceResponse {
        topic_id: topic_id(index),
        partition_responses: (0..PARTITIONS).map(partition).collect(),
        ..Default::default()
    };
    produce::ProduceResponse {
        responses: (0..BATCHES / PARTITIONS as u32).map(topic).collect(),
        ..Default::default()
    }
}

fn fetch_request() -> fetch::FetchRequest {
    let partition = |index| fetch::FetchPartition {
        partition: index,
        current_leader_epoch: 7,
        fetch_offset: 1_000_000 + i64::from(index),
        partition_max_bytes: 1 << 20,
        ..Default::default()
    };
    let topic = |index| fetch::FetchTopic {
        topic_id: topic_id(index),
        partitions: (0..PARTITIONS).map(partition).collect(),
        ..Default::default()
    };
    fetch::FetchRequest {
        max_wait_ms: 500,
        min_bytes: 1,
        max_bytes: 50 << 20,
        session_id: 42,
        session_epoch: 1,
        topics: (0..BATCHES / PARTITIONS as u32).map(topic).collect(),
        ..Default::default()
    }
}

fn fetch_response() -> fetch::FetchResponse {
    let partition = |index| fetch::PartitionData {
        partition_index: index,
        high_watermark: 1_000_100,
        last_stable_offset: 1_000_100,
        log_start_offset: 0,
        aborted_transactions: Some(Vec::new()),
        records: Some(batch(index)),
        ..Default::default()
    };
    let topic = |index| fetch::FetchableTopicResponse {
        topic_id: topic_id(index),
        partitions: (0..PARTITIONS).map(partition).collect(),
        ..Default::default()
    };
    fetch::FetchResponse {
        session_id: 42,
        responses: (0..BATCHES / PARTITIONS as u32).map(topic).collect(),
        ..Default::default()
    }
}

fn api_versions_request() -> api_versions::ApiVersionsRequest {
    api_versions::ApiVersionsRequest {
        client_software_name: "klamm".into(),
        client_software_version: "0.1.0".into(),
        ..Default::default()
    }
}

/// What a broker of 4.4.0 says: about 60 APIs, its features and their levels.
fn api_versions_response() -> api_versions::ApiVersionsResponse {
    const FEATURES: [&str; 6] = [
        "eligible.leader.replicas.version",
        "group.version",
        "kraft.version",
        "metadata.version",
        "share.version",
        "transaction.version",
    ];
    let api = |key| api_versions::ApiVersion {
        api_key: key,
        min_version: 0,
        max_version: key % 7,
        ..Default::default()
    };
    let supported = |name: &&'static str| api_versions::SupportedFeatureKey {
        name: SmallString::from_static(name),
        min_version: 0,
        max_version: 1,
        ..Default::default()
    };
    let finalized = |name: &&'static str| api_versions::FinalizedFeatureKey {
        name: SmallString::from_static(name),
        max_version_level: 1,
        min_version_level: 1,
        ..Default::default()
    };
    api_versions::ApiVersionsResponse {
        api_keys: (0..60).map(api).collect(),
        supported_features: FEATURES.iter().map(supported).collect(),
        finalized_features_epoch: 123,
        finalized_features: FEATURES.iter().map(finalized).collect(),
        ..Default::default()
    }
}

fn topic_name(index: u32) -> SmallString {
    SmallString::from(format!("orders.of-region-{index:04}"))
}

fn topic_id(index: u32) -> Uuid {
    let mut id = [0x5a; 16];
    id[12..].copy_from_slice(&index.to_be_bytes());
    Uuid::from_bytes(id)
}

/// Bytes in place of a batch: neither library looks into one here.
fn batch(seed: i32) -> Bytes {
    (0..BATCH_LEN)
        .map(|index| (index as i32 * 31 + seed) as u8)
        .collect::<Vec<u8>>()
        .into()
}
