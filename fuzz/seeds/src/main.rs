//! Writes the seeds below `fuzz/corpus`: run it from `fuzz/` when a schema has come or gone.
//!
//! They are made from the schemas and by hand, without randomness, so that the same schemas make
//! the same files.

mod explained;

use std::error::Error;
use std::fs;
use std::path::Path;

use klamm_protocol::records::{
    BatchBuilder, BatchOptions, Codec, Compression, ControlType, Header, NewRecord,
};
use klamm_protocol::{ApiKey, MessageKind, Offset, codecs};
use klamm_schema::value::{self, RandomOptions};
use klamm_schema::{Schema, load_dir};

/// Frames in one seed.
const FRAMES: usize = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let schemas = schemas(Path::new("../crates/protocol/schemas"))?;
    let corpus = Path::new("corpus");
    for (target, seeds) in [
        ("message", messages(&schemas)?),
        ("frames", frames(&schemas)?),
        ("records", records()?),
        ("explain", explained::seeds(frames(&schemas)?, records()?)?),
        (
            "capture",
            captures(Path::new("../crates/explain/tests/captures"))?,
        ),
    ] {
        let dir = corpus.join(target);
        fs::create_dir_all(&dir)?;
        for Seed { name, bytes } in &seeds {
            fs::write(dir.join(name), bytes)?;
        }
        println!("{target}: {} seeds", seeds.len());
    }
    Ok(())
}

/// A file of the corpus.
struct Seed {
    name: String,
    bytes: Vec<u8>,
}

impl Seed {
    fn new(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            bytes,
        }
    }
}

fn schemas(root: &Path) -> Result<Vec<Schema>, Box<dyn Error>> {
    let mut schemas = Vec::new();
    for folder in fs::read_dir(root)? {
        schemas.extend(load_dir(&folder?.path())?);
    }
    Ok(schemas)
}

fn schema<'a>(schemas: &'a [Schema], name: &str) -> Result<&'a Schema, Box<dyn Error>> {
    let found = schemas.iter().find(|schema| schema.name == name);
    found.ok_or_else(|| format!("{name} has no schema").into())
}

/// The smallest instance of each message in its last version, and a fuller one.
fn messages(schemas: &[Schema]) -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut seeds = Vec::new();
    for (index, codec) in codecs().enumerate() {
        let schema = schema(schemas, codec.name)?;
        let version = codec.versions.max;
        let mut lead = u16::try_from(index)?.to_be_bytes().to_vec();
        lead.push(u8::try_from(version - codec.versions.min)?);
        let mut numbers = Numbers(index as u64);
        let full = value::random(schema, version, RandomOptions::default(), &mut || {
            numbers.next()
        });
        let smallest = value::smallest(schema, version);
        for (form, value) in [("smallest", smallest), ("full", full)] {
            let body = value::encode(schema, version, &value);
            if body.len() <= 512 {
                let bytes = [&lead[..], &body].concat();
                let name = format!("{}-v{version}-{form}", codec.name);
                seeds.push(Seed::new(name, bytes));
            }
        }
    }
    Ok(seeds)
}

/// The smallest request of each API in its first and last version, a few in one stream.
fn frames(schemas: &[Schema]) -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut frames = Vec::new();
    for codec in codecs().filter(|codec| codec.kind == MessageKind::Request) {
        let schema = schema(schemas, codec.name)?;
        let key = ApiKey(codec.api_key.ok_or("a request without a key")?);
        for version in [codec.versions.min, codec.versions.max] {
            let mut frame = Vec::new();
            frame.extend(key.0.to_be_bytes());
            frame.extend(version.to_be_bytes());
            frame.extend([0, 0, 0, 7]);
            frame.extend([0, 1, b'k']);
            if key.request_header_version(version) == 2 {
                frame.push(0);
            }
            frame.extend(value::encode(
                schema,
                version,
                &value::smallest(schema, version),
            ));
            let len = u32::try_from(frame.len())?.to_be_bytes();
            frames.push([&len[..], &frame].concat());
        }
    }
    let streams = frames.chunks(FRAMES).enumerate();
    Ok(streams
        .map(|(index, frames)| Seed::new(format!("requests-{index:02}"), frames.concat()))
        .collect())
}

/// Batches of each compression, a control batch, and the older formats.
fn records() -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut seeds = Vec::new();
    for compression in Compression::ALL {
        let mut builder = BatchBuilder::new(BatchOptions {
            base_offset: Offset(1000),
            codec: Codec::new(compression),
            ..BatchOptions::default()
        });
        for index in 0..3 {
            let headers = [Header::new("trace", b"1234")];
            builder.append(&NewRecord {
                timestamp: 1_700_000_000_000 + index,
                key: Some(b"key"),
                value: (index != 1).then_some(&b"value value value value value"[..]),
                headers: &headers,
            })?;
        }
        let batch = builder.finish()?.into_bytes().to_vec();
        seeds.push(Seed::new(format!("batch-{}", compression.name()), batch));
    }
    let mut builder = BatchBuilder::new(BatchOptions {
        producer_id: 9,
        producer_epoch: 1,
        transactional: true,
        control: true,
        ..BatchOptions::default()
    });
    builder.append_control(ControlType::Commit, 1_700_000_000_000, &[0, 0, 0, 0, 0, 3])?;
    let control = builder.finish()?.into_bytes().to_vec();
    let whole = seeds.iter().flat_map(|seed| seed.bytes.clone()).collect();
    seeds.push(Seed::new("batch-control", control));
    seeds.push(Seed::new("batches", whole));
    seeds.push(Seed::new(
        "message-set-v0",
        message(0, 0, b"value").repeat(2),
    ));
    seeds.push(Seed::new(
        "message-set-v1",
        message(1, 0, b"value").repeat(2),
    ));
    Ok(seeds)
}

/// A message of format 0 or 1. Its checksum is wrong, which stops no fuzz target.
fn message(magic: u8, attributes: u8, value: &[u8]) -> Vec<u8> {
    let mut message = vec![0xde, 0xad, 0xbe, 0xef, magic, attributes];
    if magic == 1 {
        message.extend(1_700_000_000_000i64.to_be_bytes());
    }
    message.extend((-1i32).to_be_bytes());
    message.extend((value.len() as u32).to_be_bytes());
    message.extend(value);
    let offset = 5i64.to_be_bytes();
    let len = (message.len() as u32).to_be_bytes();
    [&offset[..], &len, &message].concat()
}

/// Numbers that look random and are always the same (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// The first packets of captures of real clients, each after the size of the pieces that it is read
/// in.
fn captures(recorded: &Path) -> Result<Vec<Seed>, Box<dyn Error>> {
    const MOST_BYTES: usize = 8 << 10;
    const HEADER: usize = 24;
    const RECORD: usize = 16;
    let mut seeds = Vec::new();
    for client in ["java", "librdkafka"] {
        let file = fs::read(recorded.join(client).with_extension("pcap"))?;
        let mut end = HEADER;
        while let Some(len) = file.get(end + 8..end + 12) {
            let next = end + RECORD + u32::from_le_bytes(len.try_into()?) as usize;
            if next > MOST_BYTES {
                break;
            }
            end = next;
        }
        for step in [0xff, 0x10] {
            let bytes = [&[step], &file[..end]].concat();
            seeds.push(Seed::new(format!("{client}-{step:02x}"), bytes));
        }
    }
    Ok(seeds)
}
