use std::cell::RefCell;

use klamm_protocol::{Bytes, Codec};

use crate::support::subjects;

/// What decoding may allocate at the same time, in bytes.
fn limit(frame: usize) -> u64 {
    64 * frame as u64 + 64 * 1024
}

/// The peak of decoding alone: `transcode` drops the value before it returns, but encodes in between,
/// which takes no more than the value does.
fn check(codec: &Codec, bytes: &Bytes, version: i16) -> u64 {
    let result = RefCell::new(None);
    let info = allocation_counter::measure(|| {
        *result.borrow_mut() = Some(codec.transcode(bytes, version).is_ok());
    });
    assert!(
        info.bytes_max <= limit(bytes.len()),
        "{} version {version}: {} bytes for a frame of {}: {bytes:?}",
        codec.name,
        info.bytes_max,
        bytes.len()
    );
    info.bytes_max
}

#[test]
fn decoding_allocates_within_the_limit() {
    let mut rng = fastrand::Rng::with_seed(5);
    for subject in subjects() {
        for version in subject.codec.versions.iter() {
            let bytes = subject.random_bytes(version, &mut rng);
            check(&subject.codec, &bytes, version);
            for _ in 0..10 {
                let mut bytes = bytes.to_vec();
                for _ in 0..rng.usize(1..8) {
                    if let Some(byte) = (!bytes.is_empty()).then(|| rng.usize(..bytes.len())) {
                        bytes[byte] = rng.u8(..);
                    }
                }
                check(&subject.codec, &bytes.into(), version);
            }
        }
    }
}

/// The bytes that could make a decoder allocate most: long runs in which any byte may be taken for a
/// count, of every element size and nesting.
#[test]
fn long_hostile_frames_allocate_within_the_limit() {
    const LEN: usize = 256 * 1024;
    let mut frames: Vec<Vec<u8>> = Vec::new();
    // A compact count of about 100,000 again and again; likewise as an int32, and small counts.
    frames.push([0xa0, 0x8d, 0x06].repeat(LEN / 3));
    frames.push([0, 1, 0x86, 0xa0].repeat(LEN / 4));
    for byte in [0u8, 1, 2, 3, 4, 0x7f] {
        frames.push(vec![byte; LEN]);
    }
    // Every prefix of a few bytes before a count, so that the count falls on the field it is for.
    for lead in 0..24 {
        for zero in [0u8, 1, 2] {
            let mut frame = vec![zero; lead];
            frame.extend([0xa0, 0x8d, 0x06]);
            frame.resize(LEN, 0);
            frames.push(frame.clone());
            frame.truncate(lead);
            frame.extend([0, 1, 0, 0]);
            frame.resize(LEN, 1);
            frames.push(frame);
        }
    }
    let frames: Vec<Bytes> = frames.into_iter().map(Bytes::from).collect();
    let mut peak = 0;
    for subject in subjects() {
        for version in [subject.codec.versions.min, subject.codec.versions.max] {
            for frame in &frames {
                peak = peak.max(check(&subject.codec, frame, version));
            }
        }
    }
    // Otherwise no frame reached an array, and the test shows nothing.
    assert!(
        peak > LEN as u64 * 8,
        "the worst frame took only {peak} bytes"
    );
}
