//! The framings that codecs are found in, and the limits on what they may become.

#![cfg(feature = "compression")]

use super::super::codec::{compress, decompress};
use super::*;

const GZIP: Compression = Compression::Gzip;
const SNAPPY: Compression = Compression::Snappy;
const LZ4: Compression = Compression::Lz4;
const ZSTD: Compression = Compression::Zstd;

/// Text that compresses a little, zeros that compress a lot, noise that does not.
fn samples() -> Vec<Vec<u8>> {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut samples = Vec::new();
    for len in [0, 1, 10, 1000, 32 << 10, (64 << 10) + 1, 200_000] {
        samples.push(vec![0; len]);
        samples.push((0..len).map(|_| rng.u8(..)).collect());
        samples.push((0..len).map(|_| b"abcd"[rng.usize(..4)]).collect());
    }
    samples
}

#[test]
fn everything_comes_back_with_the_limit_at_its_size_and_not_below() {
    for compression in &Compression::ALL[1..] {
        for sample in samples() {
            let compressed = compress((*compression).into(), &sample, 0).unwrap();
            let limit = |limit| decompress(*compression, 2, &compressed, DecompressLimit(limit));
            assert_eq!(limit(sample.len()).as_ref(), Ok(&sample), "{compression}");
            if let Some(less) = sample.len().checked_sub(1) {
                let error = RecordsError::Limit {
                    compression: *compression,
                    limit: less,
                };
                assert_eq!(limit(less), Err(error), "{compression} {}", sample.len());
            }
        }
    }
}

#[test]
fn room_is_left_for_a_header() {
    for compression in Compression::ALL {
        let out = compress(compression.into(), b"some bytes", 61).unwrap();
        assert_eq!(out[..61], [0; 61]);
        if compression != Compression::None {
            let limit = DecompressLimit::DEFAULT;
            assert_eq!(
                decompress(compression, 2, &out[61..], limit).unwrap(),
                b"some bytes"
            );
        }
    }
}

#[test]
fn snappy_is_written_in_javas_framing_and_read_in_every_one() {
    let text = b"snappy, snappy, snappy".repeat(3000);
    let stream = compress(SNAPPY.into(), &text, 0).unwrap();
    assert_eq!(stream[..16], *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01");
    let raw = snap::raw::Encoder::new().compress_vec(&text).unwrap();
    let twice = [&stream[..], &stream].concat();
    let read = |bytes: &[u8]| decompress(SNAPPY, 2, bytes, DecompressLimit::DEFAULT);
    assert_eq!(read(&raw).unwrap(), text);
    assert_eq!(read(&twice).unwrap(), text.repeat(2));
    assert_eq!(read(&stream[..16]).unwrap(), b"");
    for cut in 17..19 {
        assert!(read(&stream[..cut]).is_err());
    }
}

/// 0xffffffff bytes are claimed in five.
#[test]
fn a_snappy_block_that_claims_too_much_is_not_believed() {
    let result = decompress(
        SNAPPY,
        2,
        b"\xff\xff\xff\xff\x0f\0",
        DecompressLimit(usize::MAX),
    );
    assert!(
        matches!(result, Err(RecordsError::Decompress { .. })),
        "{result:?}"
    );
}

#[test]
fn gzip_members_are_joined() {
    let twice = compress(GZIP.into(), b"one ", 0).unwrap().repeat(2);
    assert_eq!(
        decompress(GZIP, 2, &twice, DecompressLimit::DEFAULT).unwrap(),
        b"one one "
    );
}

#[test]
fn zstd_frames_are_joined_and_need_not_say_their_size() {
    let twice = compress(ZSTD.into(), b"one ", 0).unwrap().repeat(2);
    assert_eq!(
        decompress(ZSTD, 2, &twice, DecompressLimit::DEFAULT).unwrap(),
        b"one one "
    );
    let zeros = vec![0; 1 << 20];
    let streamed = zstd::stream::encode_all(&zeros[..], 3).unwrap();
    assert_eq!(
        decompress(ZSTD, 2, &streamed, DecompressLimit(1 << 20)).unwrap(),
        zeros
    );
}

/// `flags` without version bits, then what stands between the descriptor and the checksum.
fn lz4_frame(flags: u8, more: &[u8], after: &[u8]) -> Vec<u8> {
    let mut frame = b"\x04\x22\x4d\x18".to_vec();
    frame.extend([0x40 | flags, 0x40]);
    frame.extend(more);
    frame.push((twox_hash::XxHash32::oneshot(0, &frame[4..]) >> 8) as u8);
    frame.extend(after);
    frame
}

#[test]
fn lz4_headers_are_checked_from_format_1_on() {
    let good = lz4_frame(0x20, b"", b"\x03\0\0\x80abc\0\0\0\0");
    assert_eq!(good[..7], compress(LZ4.into(), b"", 0).unwrap()[..7]);
    let mut bad = good.clone();
    bad[6] ^= 1;
    for magic in 0..3 {
        let read = |bytes: &[u8]| decompress(LZ4, magic, bytes, DecompressLimit::DEFAULT);
        assert_eq!(read(&good).unwrap(), b"abc");
        assert_eq!(read(&bad).is_ok(), magic == 0);
    }
}

#[test]
fn lz4_frames_of_every_kind_are_read() {
    let read = |bytes: &[u8]| decompress(LZ4, 2, bytes, DecompressLimit::DEFAULT);
    // A content size, and a checksum after the block.
    let sum = twox_hash::XxHash32::oneshot(0, b"abc").to_le_bytes();
    let mut after = [&b"\x03\0\0\x80abc"[..], &sum, b"\0\0\0\0"].concat();
    assert_eq!(
        read(&lz4_frame(0x38, &3u64.to_le_bytes(), &after)).unwrap(),
        b"abc"
    );
    after[7] ^= 1;
    assert!(read(&lz4_frame(0x38, &3u64.to_le_bytes(), &after)).is_err());
    // Linked blocks: the second copies four bytes from four back.
    let linked = b"\x04\0\0\x80abcd\x05\0\0\0\x00\x04\0\x10e\0\0\0\0";
    assert_eq!(read(&lz4_frame(0, b"", linked)).unwrap(), b"abcdabcde");
    for (flags, more, after) in [
        (0x21, &b"\0\0\0\0"[..], &b"\0\0\0\0"[..]),
        (0x20, b"", b""),
        (0x20, b"", b"\x03\0\0\x80ab"),
        (0x20, b"", b"\x01\0\x01\x80"),
        (0xa0, b"", b"\0\0\0\0"),
    ] {
        assert!(read(&lz4_frame(flags, more, after)).is_err());
    }
    assert!(read(b"").is_err());
}
