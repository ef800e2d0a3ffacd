use bytes::Bytes;
use klamm_java_peer::{json, unhex};
use klamm_protocol::records::{
    Batch, BatchBuilder, BatchOptions, Batches, Compression, ControlKey, DecompressLimit,
};

use crate::Context;
use crate::batch::{Description, read_by_java, read_by_klamm};

/// Random batches of each compression.
fn instances() -> usize {
    if klamm_suite::is_full() { 1_000 } else { 60 }
}

pub(crate) fn from_java(context: &mut Context) {
    each(context, 2, &Compression::ALL, |context, description, _| {
        let bytes = description.by_java(&mut context.java);
        check(context, &bytes, description);
    });
}

pub(crate) fn to_java(context: &mut Context) {
    each(
        context,
        2,
        &Compression::ALL,
        |context, description, rng| {
            let level = match description.compression {
                Compression::None | Compression::Snappy => None,
                Compression::Gzip => rng.choice([None, Some(1), Some(6), Some(9)]).unwrap(),
                Compression::Lz4 => rng.choice([None, Some(1), Some(17)]).unwrap(),
                Compression::Zstd => rng.choice([None, Some(-5), Some(1), Some(10)]).unwrap(),
            };
            check(context, &description.by_klamm(level), description);
        },
    );
}

pub(crate) fn equal_bytes(context: &mut Context) {
    each(
        context,
        2,
        &[Compression::None],
        |context, description, _| {
            let java = description.by_java(&mut context.java);
            assert_eq!(description.by_klamm(None), java, "{description:?}");
        },
    );
}

pub(crate) fn message_sets(context: &mut Context) {
    // Zstandard came after these formats.
    for magic in [0, 1] {
        let compressions = &Compression::ALL[..4];
        each(context, magic, compressions, |context, description, _| {
            let bytes = description.by_java(&mut context.java);
            check(context, &bytes, description);
        });
    }
}

pub(crate) fn control_batches(context: &mut Context) {
    let answer = context.java.call("control_batches", json!({})).unwrap();
    let answer = answer.as_object().unwrap();
    assert_eq!(answer.len(), 7);
    for (kind, bytes) in answer {
        let java = Bytes::from(unhex(bytes.as_str().unwrap()));
        let read = read_by_klamm(&java);
        assert_eq!(read["batches"][0]["records"][0]["control_type"], **kind);
        assert_eq!(read, read_by_java(&mut context.java, &java), "{kind}");

        let Batch::V2(batch) = Batches::new(java.clone()).next().unwrap().unwrap() else {
            panic!("{kind} in a message set");
        };
        let mut builder = BatchBuilder::new(BatchOptions::like(batch.header()).unwrap());
        let records = batch.records(DecompressLimit::DEFAULT).unwrap();
        let record = records.iter().next().unwrap().unwrap();
        let kind = ControlKey::parse(record.key()).unwrap().kind;
        builder
            .append_control(kind, record.timestamp(), record.value().unwrap())
            .unwrap();
        assert_eq!(builder.finish().unwrap().into_bytes(), java, "{kind}");
    }
    println!("  {} kinds", answer.len());
}

pub(crate) fn many_batches(context: &mut Context) {
    let mut rng = fastrand::Rng::with_seed(context.seed);
    let mut bytes = Vec::new();
    for compression in Compression::ALL {
        bytes.extend(Description::random(2, compression, &mut rng).by_klamm(None));
    }
    let whole = Bytes::from(bytes);
    let read = read_by_klamm(&whole);
    assert_eq!(read["batches"].as_array().unwrap().len(), 5);
    assert_eq!(read, read_by_java(&mut context.java, &whole));
    for cut in [1, 17, 60, 61] {
        let cut = whole.slice(..whole.len() - cut);
        assert_eq!(read_by_klamm(&cut), read_by_java(&mut context.java, &cut));
    }
}

/// Both read the same from the bytes, and the records are those of the description.
fn check(context: &mut Context, bytes: &Bytes, description: &Description) {
    let klamm = read_by_klamm(bytes);
    let java = read_by_java(&mut context.java, bytes);
    assert_eq!(klamm, java, "{description:?}");
    let batches = klamm["batches"].as_array().unwrap();
    let records: Vec<_> = batches
        .iter()
        .flat_map(|b| b["records"].as_array().unwrap())
        .cloned()
        .collect();
    assert_eq!(records, description.expected_records(), "{description:?}");
}

fn each(
    context: &mut Context,
    magic: i8,
    compressions: &[Compression],
    test: impl Fn(&mut Context, &Description, &mut fastrand::Rng),
) {
    let mut rng = fastrand::Rng::with_seed(context.seed);
    for &compression in compressions {
        for _ in 0..instances() {
            let description = Description::random(magic, compression, &mut rng);
            test(context, &description, &mut rng);
        }
    }
    let names: Vec<&str> = compressions
        .iter()
        .map(|compression| compression.name())
        .collect();
    println!(
        "  magic {magic}: {} batches of each of {}",
        instances(),
        names.join(", ")
    );
}
