//! Seeds of the target `explain`.

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use klamm_explain::{Contents, Direction, apis, smallest_frame};
use klamm_protocol::ApiVersion;

use crate::Seed;

// What the first byte says.
const REQUESTS: u8 = 0;
const RESPONSE: u8 = 1;
const SEGMENT: u8 = 2;
const INDEX: u8 = 3;
const PRODUCERS: u8 = 4;

/// The second byte of a segment for pieces of 657 bytes; the number of its topic is added.
const PIECES: u8 = 41 * (TOPICS + 1);
const TOPICS: u8 = Contents::TOPICS.len() as u8;

/// The most bytes of a file.
const MOST_BYTES: usize = 8 << 10;

/// Requests, the smallest response of each API, batches, and files of a real broker.
pub(crate) fn seeds(requests: Vec<Seed>, batches: Vec<Seed>) -> Result<Vec<Seed>, Box<dyn Error>> {
    let mut seeds = Vec::new();
    for seed in requests {
        seeds.push(led(&[REQUESTS, 0], &seed.bytes, seed.name));
    }
    for (index, key) in apis().enumerate() {
        let versions = key.coded_versions();
        let version = versions.max;
        let frame = smallest_frame(ApiVersion { key, version }, Direction::Response)?;
        let count = u8::try_from(version - versions.min)?;
        let lead = [RESPONSE, u8::try_from(index)?, count];
        seeds.push(led(&lead, &frame, format!("response-{}", key.0)));
    }
    for seed in batches {
        seeds.push(led(&[SEGMENT, PIECES + TOPICS], &seed.bytes, seed.name));
    }
    for directory in fs::read_dir("../crates/explain/tests/logs")? {
        files(&directory?.path(), &mut seeds)?;
    }
    Ok(seeds)
}

fn led(lead: &[u8], bytes: &[u8], name: String) -> Seed {
    Seed::new(name, [lead, bytes].concat())
}

/// The files of a partition's directory.
fn files(directory: &Path, seeds: &mut Vec<Seed>) -> Result<(), Box<dyn Error>> {
    let name = directory.file_name().and_then(OsStr::to_str);
    let name = name.ok_or("a directory without a name")?;
    let contents = Contents::of_directory(name);
    let mut topics = Contents::TOPICS.iter();
    let topic = topics.position(|(of, _)| *of == contents);
    let topic = u8::try_from(topic.unwrap_or(Contents::TOPICS.len()))?;
    for file in fs::read_dir(directory)? {
        let path = file?.path();
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let lead = match extension {
            "log" | "checkpoint" => [SEGMENT, PIECES + topic],
            "index" => [INDEX, 0],
            "timeindex" => [INDEX, 1],
            "txnindex" => [INDEX, 2],
            "snapshot" => [PRODUCERS, 0],
            _ => continue,
        };
        let bytes = fs::read(&path)?;
        let bytes = &bytes[..bytes.len().min(MOST_BYTES)];
        seeds.push(led(&lead, bytes, format!("{name}-{extension}")));
    }
    Ok(())
}
