use klamm_protocol::messages::elect_leaders::{ElectLeadersRequest, ElectLeadersResponse};
use klamm_protocol::messages::metadata::MetadataResponse;
use klamm_protocol::{Bytes, Message, TranscodeError, decode};

use crate::support::{seed, subjects};

#[test]
fn a_message_cut_anywhere_is_an_error() {
    let mut rng = fastrand::Rng::with_seed(3);
    for subject in subjects() {
        for version in subject.codec.versions.iter() {
            let bytes = subject.random_bytes(version, &mut rng);
            for end in 0..bytes.len() {
                let result = subject.codec.transcode(&bytes.slice(..end), version);
                assert!(
                    matches!(result, Err(TranscodeError::Decode(_))),
                    "{} version {version} cut at {end} of {}: {result:?}",
                    subject.codec.name,
                    bytes.len()
                );
            }
        }
    }
}

#[test]
fn what_flipped_bits_decode_to_encodes_again() {
    let seed = seed();
    let mut rng = fastrand::Rng::with_seed(seed);
    for subject in subjects() {
        for version in subject.codec.versions.iter() {
            for _ in 0..20 {
                let mut bytes = subject.random_bytes(version, &mut rng).to_vec();
                if bytes.is_empty() {
                    continue;
                }
                for _ in 0..rng.usize(1..4) {
                    let index = rng.usize(..bytes.len());
                    bytes[index] ^= 1 << rng.u32(..8);
                }
                let bytes = Bytes::from(bytes);
                // An error is a fair answer; a value that cannot be written again is not.
                match subject.codec.transcode(&bytes, version) {
                    Ok(once) => {
                        let twice = subject.codec.transcode(&once.bytes, version).unwrap();
                        assert_eq!(twice.bytes, once.bytes);
                    }
                    Err(TranscodeError::Decode(_)) => {}
                    Err(error @ TranscodeError::Encode(_)) => panic!(
                        "{} version {version}, KLAMM_SEED={seed}: {error}",
                        subject.codec.name
                    ),
                }
            }
        }
    }
}

fn error<M: Message>(bytes: &'static [u8], version: i16) -> String {
    decode::<M>(&Bytes::from_static(bytes), version)
        .unwrap_err()
        .to_string()
}

#[test]
fn errors_say_what_is_wrong() {
    assert_eq!(
        error::<ElectLeadersRequest>(&[0, 2], 2),
        "claims 1 elements of at least 3 bytes where 0 bytes are left"
    );
    assert_eq!(
        error::<ElectLeadersRequest>(&[0x7f, 0xff, 0xff, 0xff, 0, 0], 0),
        "claims 2147483647 elements of at least 3 bytes where 2 bytes are left"
    );
    assert_eq!(
        error::<ElectLeadersRequest>(&[0xff, 0xff, 0xff, 0xfe], 0),
        "length -2 is negative"
    );
    assert_eq!(
        error::<ElectLeadersResponse>(&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], 0),
        "field ElectLeadersResponse.ReplicaElectionResults is null, which it may not be in this version"
    );
    assert_eq!(
        error::<ElectLeadersRequest>(&[0, 0, 0], 2),
        "needs 4 bytes where 1 are left"
    );
    assert_eq!(
        error::<ElectLeadersRequest>(&[0, 0xff, 0xff, 0xff, 0xff, 0x7f], 2),
        "varint is longer than 5 bytes or out of range"
    );
    assert_eq!(
        error::<MetadataResponse>(
            &[0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0xff, 0, 0, 0, 0, 0, 0, 0, 0],
            0
        ),
        "string is not valid UTF-8"
    );
}

#[test]
fn tags_out_of_order_and_of_a_wrong_size_are_errors() {
    let request = |tags: &[u8]| [&[0, 0, 0, 0, 0, 0][..], tags].concat();
    let error = |tags: &[u8]| {
        let bytes = Bytes::from(request(tags));
        decode::<ElectLeadersRequest>(&bytes, 2)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(error(&[2, 5, 0, 5, 0]), "tag 5 comes after tag 5");
    assert_eq!(error(&[2, 5, 0, 4, 0]), "tag 4 comes after tag 5");
    assert_eq!(error(&[1, 5, 3, 1]), "needs 3 bytes where 1 are left");
    assert_eq!(
        error(&[0x80, 0x80, 4]),
        "claims 65536 elements of at least 2 bytes where 0 bytes are left"
    );
}
