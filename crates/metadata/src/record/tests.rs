use klamm_protocol::data::metadata::*;

use super::*;

#[test]
fn every_metadata_schema_is_a_record() {
    let mut keys: Vec<_> = metadata::CODECS
        .iter()
        .map(|codec| (codec.api_key.unwrap(), codec.name))
        .collect();
    keys.sort_unstable();
    let mut seen = Vec::new();
    for key in 0..64u8 {
        // A body of zeros is a value of most types; what the others lack is no matter of their key.
        let mut bytes = vec![1, key, 0];
        bytes.extend([0; 200]);
        if Record::decode(&Bytes::from(bytes)) != Err(RecordError::UnknownType(key.into())) {
            seen.push(i16::from(key));
        }
    }
    assert_eq!(seen, keys.iter().map(|(key, _)| *key).collect::<Vec<_>>());
    assert_eq!(keys.len(), 27);
}

#[test]
fn the_frame_is_kafkas() {
    let record = Record::from(FeatureLevelRecord {
        name: "metadata.version".into(),
        feature_level: 33,
        ..Default::default()
    });
    let bytes = record.encode(0).unwrap();
    assert_eq!(&bytes[..], b"\x01\x0c\x00\x11metadata.version\x00\x21\x00");
    assert_eq!(Record::decode(&bytes), Ok(record));
}

#[test]
fn hostile_bytes_are_errors() {
    let decode = |bytes: &'static [u8]| Record::decode(&Bytes::from_static(bytes));
    assert_eq!(
        decode(b"\x00\x14\x00\x00"),
        Err(RecordError::FrameVersion(0))
    );
    assert_eq!(
        decode(b"\x01\x06\x00\x00"),
        Err(RecordError::UnknownType(6))
    );
    assert_eq!(
        decode(b"\x01\x14\x00\x00"),
        Ok(NoOpRecord::default().into())
    );
    assert_eq!(
        decode(b"\x01\x14\x00\x00\x00\x00"),
        Err(RecordError::Trailing(2))
    );
    let unknown = decode(b"\x01\x14\x80\x80\x04\x00");
    let name = "NoOpRecord";
    assert_eq!(
        unknown,
        Err(RecordError::UnknownVersion {
            name,
            version: 65536
        })
    );
    let whole = b"\x01\x0c\x00\x11metadata.version\x00\x21\x00";
    for end in 0..whole.len() {
        assert!(
            matches!(decode(&whole[..end]), Err(RecordError::Decode(_))),
            "{end}"
        );
    }
}

#[test]
fn a_version_that_a_type_lacks_cannot_be_written() {
    let record = Record::from(NoOpRecord::default());
    assert!(matches!(
        record.encode(1),
        Err(EncodeError::UnsupportedVersion { .. })
    ));
}

#[test]
fn the_version_written_follows_the_metadata_version() {
    let version = |record: &Record, text: &str| record.version(text.parse().unwrap());
    let broker = Record::from(RegisterBrokerRecord::default());
    let written = [
        "3.3-IV3", "3.4-IV0", "3.7-IV2", "4.2-IV1", "4.3-IV0", "4.4-IV2",
    ];
    assert_eq!(
        written.map(|text| version(&broker, text)),
        [1, 2, 3, 3, 4, 4]
    );
    let partition = Record::from(PartitionRecord::default());
    let change = Record::from(PartitionChangeRecord::default());
    for (text, expected) in [
        ("3.7-IV1", 0),
        ("3.7-IV2", 1),
        ("4.0-IV0", 1),
        ("4.0-IV1", 2),
    ] {
        assert_eq!(version(&partition, text), expected);
        assert_eq!(version(&change, text), expected);
    }
    let registration = |fenced, in_controlled_shutdown, log_dirs, cordoned_log_dirs| {
        Record::from(BrokerRegistrationChangeRecord {
            fenced,
            in_controlled_shutdown,
            log_dirs,
            cordoned_log_dirs,
            ..Default::default()
        })
    };
    let directory = klamm_protocol::Uuid::from_bytes([7; 16]);
    let changes = [
        registration(1, 0, vec![], None),
        registration(1, 1, vec![], None),
        registration(0, 0, vec![directory], None),
        registration(0, 0, vec![], Some(vec![])),
    ];
    assert_eq!(
        changes.map(|change| version(&change, "4.4-IV2")),
        [0, 1, 2, 3]
    );
}
