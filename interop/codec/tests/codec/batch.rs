//! A batch as a plain description: built by klamm or by Java, and read back by either.

use bytes::Bytes;
use klamm_java_peer::{Peer, Value, hex, json, unhex};
use klamm_protocol::records::{
    Batch, BatchBuilder, BatchOptions, Batches, Codec, Compression, ControlKey, DecompressLimit,
    Header, NewRecord, Record, TimestampType,
};
use klamm_protocol::{LeaderEpoch, Offset};

/// What is to be built.
#[derive(Clone, Debug)]
pub(crate) struct Description {
    pub(crate) magic: i8,
    pub(crate) compression: Compression,
    pub(crate) options: BatchOptions,
    pub(crate) records: Vec<Content>,
}

/// A record.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    offset: i64,
    timestamp: i64,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: Vec<(String, Option<Vec<u8>>)>,
}

impl Description {
    /// A random batch; message sets (magic 0 and 1) have no headers and know no producer.
    pub(crate) fn random(magic: i8, compression: Compression, rng: &mut fastrand::Rng) -> Self {
        let base_offset = if rng.bool() { 0 } else { rng.i64(0..1 << 40) };
        let mut next = base_offset + if rng.u8(..4) == 0 { rng.i64(0..50) } else { 0 };
        let mut records = Vec::new();
        for _ in 0..rng.usize(1..12) {
            records.push(Content::random(magic, next, rng));
            // Compaction leaves gaps; a compressed message set numbers its messages 0, 1, 2.
            next += if magic == 2 && rng.u8(..4) == 0 {
                rng.i64(2..300)
            } else {
                1
            };
        }
        let mut options = BatchOptions {
            base_offset: Offset(if magic == 2 {
                base_offset
            } else {
                records[0].offset
            }),
            append_time: (magic > 0 && rng.u8(..4) == 0).then(|| rng.i64(0..1 << 41)),
            ..BatchOptions::default()
        };
        if magic == 2 {
            options.partition_leader_epoch = LeaderEpoch(rng.i32(-1..1000));
            options.last_offset = (rng.u8(..4) == 0).then(|| Offset(next + rng.i64(0..50)));
            options.delete_horizon = (rng.u8(..4) == 0).then(|| rng.i64(0..1 << 41));
            if rng.bool() {
                options.producer_id = rng.i64(0..);
                options.producer_epoch = rng.i16(0..);
                options.base_sequence = rng.i32(0..);
                options.transactional = rng.bool();
            }
        }
        Self {
            magic,
            compression,
            options,
            records,
        }
    }

    /// The bytes as Java writes them.
    pub(crate) fn by_java(&self, java: &mut Peer) -> Bytes {
        let options = &self.options;
        let mut args = json!({
            "magic": self.magic,
            "compression": self.compression.name(),
            "timestamp_type": if options.append_time.is_some() { "append" } else { "create" },
            "base_offset": options.base_offset.0,
            "producer_id": options.producer_id,
            "producer_epoch": options.producer_epoch,
            "base_sequence": options.base_sequence,
            "transactional": options.transactional,
            "leader_epoch": options.partition_leader_epoch.0,
            "records": self.records.iter().map(|r| r.json(r.timestamp)).collect::<Vec<_>>(),
        });
        if let Some(time) = options.append_time {
            args["append_time"] = time.into();
        }
        if let Some(horizon) = options.delete_horizon {
            args["delete_horizon"] = horizon.into();
        }
        if let Some(offset) = options.last_offset {
            args["last_offset"] = offset.0.into();
        }
        let answer = java.call("build_records", args);
        let answer = answer.unwrap_or_else(|e| panic!("{self:?}: {e}"));
        unhex(answer.as_str().unwrap()).into()
    }

    /// The bytes as klamm writes them, at a level of the compression.
    pub(crate) fn by_klamm(&self, level: Option<i32>) -> Bytes {
        let codec = Codec {
            compression: self.compression,
            level,
        };
        let mut builder = BatchBuilder::new(BatchOptions {
            codec,
            ..self.options.clone()
        });
        for record in &self.records {
            let headers: Vec<Header<'_>> = record.headers.iter().map(header).collect();
            let new = NewRecord {
                timestamp: record.timestamp,
                key: record.key.as_deref(),
                value: record.value.as_deref(),
                headers: &headers,
            };
            builder.append_at(Offset(record.offset), &new).unwrap();
        }
        builder.finish().unwrap().into_bytes()
    }

    /// The records as they are to be read.
    pub(crate) fn expected_records(&self) -> Vec<Value> {
        let time = |record: &Content| match (self.magic, self.options.append_time) {
            (0, _) => -1,
            (_, Some(time)) => time,
            (_, None) => record.timestamp,
        };
        self.records
            .iter()
            .map(|record| record.json(time(record)))
            .collect()
    }
}

impl Content {
    fn random(magic: i8, offset: i64, rng: &mut fastrand::Rng) -> Self {
        let headers = if magic == 2 && rng.bool() {
            rng.usize(0..4)
        } else {
            0
        };
        Self {
            offset,
            timestamp: if rng.u8(..8) == 0 {
                -1
            } else {
                rng.i64(0..1 << 41)
            },
            key: random_bytes(rng),
            value: random_bytes(rng),
            headers: (0..headers)
                .map(|_| {
                    let key = ["", "k", "trace-id", "clé", "漢字"];
                    (rng.choice(key).unwrap().to_owned(), random_bytes(rng))
                })
                .collect(),
        }
    }

    fn json(&self, timestamp: i64) -> Value {
        let text = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(hex);
        json!({
            "offset": self.offset,
            "timestamp": timestamp,
            "key": text(&self.key),
            "value": text(&self.value),
            "headers": self.headers.iter().map(|(k, v)| json!([k, text(v)])).collect::<Vec<_>>(),
        })
    }
}

fn header(pair: &(String, Option<Vec<u8>>)) -> Header<'_> {
    Header {
        key: pair.0.as_bytes(),
        value: pair.1.as_deref(),
    }
}

fn random_bytes(rng: &mut fastrand::Rng) -> Option<Vec<u8>> {
    match rng.u8(..8) {
        0 => None,
        1 => Some(Vec::new()),
        // Some blocks of lz4 and snappy are 64 and 32 KiB long: more than one, and compressible.
        2 if rng.u8(..10) == 0 => {
            let word = [rng.u8(..), rng.u8(..), rng.u8(..)];
            let repeated = word.repeat(rng.usize(20_000..60_000));
            Some(repeated)
        }
        3 if rng.u8(..10) == 0 => Some(
            (0..rng.usize(60_000..150_000))
                .map(|_| rng.u8(..))
                .collect(),
        ),
        _ => Some((0..rng.usize(1..200)).map(|_| rng.u8(..)).collect()),
    }
}

/// Every batch in some bytes, as klamm reads them, in the form in which Java is asked for them.
pub(crate) fn read_by_klamm(bytes: &Bytes) -> Value {
    let mut batches = Batches::new(bytes.clone());
    let read: Vec<Value> = batches
        .by_ref()
        .map(|batch| describe(&batch.unwrap()))
        .collect();
    json!({ "batches": read, "left": bytes.len() - batches.position() })
}

/// Every batch in some bytes, as Java reads them.
pub(crate) fn read_by_java(java: &mut Peer, bytes: &Bytes) -> Value {
    let answer = java.call("read_records", json!({ "bytes": hex(bytes) }));
    answer.unwrap_or_else(|e| panic!("{e}: {}", hex(bytes)))
}

fn describe(batch: &Batch) -> Value {
    batch.verify_crc().unwrap();
    let records = batch.records(DecompressLimit::DEFAULT).unwrap();
    let records: Vec<Record<'_>> = records.iter().map(Result::unwrap).collect();
    let control = batch.is_control();
    let mut out = json!({
        "magic": batch.magic(),
        "compression": batch.compression().unwrap().name(),
        "base_offset": records[0].offset().0,
        "last_offset": batch.last_offset().0,
        "max_timestamp": batch.max_timestamp(),
        "control": control,
        "timestamp_type": "none",
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "transactional": false,
        "leader_epoch": -1,
        "records": records.iter().map(|record| describe_record(record, control)).collect::<Vec<_>>(),
    });
    let timestamp_type = |timestamp_type| match timestamp_type {
        TimestampType::CreateTime => "create",
        TimestampType::LogAppendTime => "append",
    };
    match batch {
        Batch::V2(batch) => {
            let header = batch.header();
            out["base_offset"] = header.base_offset.0.into();
            out["crc"] = header.crc.into();
            out["timestamp_type"] = timestamp_type(header.timestamp_type()).into();
            out["producer_id"] = header.producer_id.into();
            out["producer_epoch"] = header.producer_epoch.into();
            out["base_sequence"] = header.base_sequence.into();
            out["transactional"] = header.attributes.is_transactional().into();
            out["leader_epoch"] = header.partition_leader_epoch.0.into();
            if let Some(horizon) = header.delete_horizon() {
                out["delete_horizon"] = horizon.into();
            }
        }
        Batch::Legacy(batch) => {
            out["crc"] = batch.crc().into();
            if let Some(kind) = batch.timestamp_type() {
                out["timestamp_type"] = timestamp_type(kind).into();
            }
        }
    }
    out
}

fn describe_record(record: &Record<'_>, control: bool) -> Value {
    let headers = record.headers().iter();
    let headers = headers.map(|header| json!([header.key_str().unwrap(), header.value.map(hex)]));
    let mut out = json!({
        "offset": record.offset().0,
        "timestamp": record.timestamp(),
        "key": record.key().map(hex),
        "value": record.value().map(hex),
        "headers": headers.collect::<Vec<_>>(),
    });
    if control {
        let key = ControlKey::parse(record.key()).unwrap();
        out["control_type"] = key.kind.to_string().into();
    }
    out
}
