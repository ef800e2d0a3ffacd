//! A records field: batches of every format and compression, and their records.
#![no_main]

use klamm_fuzz::bounded;
use klamm_protocol::Bytes;
use klamm_protocol::records::{
    Batch, BatchBuilder, BatchOptions, Batches, DecompressLimit, RecordBatch,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let field = Bytes::copy_from_slice(data);
    // A growing buffer takes up to twice the limit, which is then all that may be allocated.
    let limit = DecompressLimit(32 * field.len());
    bounded(field.len(), || {
        let mut batches = Batches::new(field.clone());
        for batch in batches.by_ref() {
            match batch {
                Ok(batch) => read(&batch, limit),
                Err(_) => break,
            }
        }
        assert!(batches.position() <= field.len());
    });
    for batch in Batches::new(field) {
        match batch {
            Ok(Batch::V2(batch)) => rebuild(&batch, limit),
            Ok(Batch::Legacy(_)) => {}
            Err(_) => break,
        }
    }
});

fn read(batch: &Batch, limit: DecompressLimit) {
    let _ = (batch.magic(), batch.last_offset(), batch.max_timestamp());
    let _ = (batch.compression(), batch.is_control());
    // Fuzzing seldom finds a checksum, so a wrong one stops nothing here.
    let _ = batch.verify_crc();
    let Ok(records) = batch.records(limit) else {
        return;
    };
    let _ = records.declared_count();
    for record in &records {
        let Ok(record) = record else {
            break;
        };
        let _ = (record.offset(), record.timestamp(), record.sequence());
        let _ = (record.key_bytes(), record.value_bytes());
        for header in record.headers().iter() {
            let _ = header.key_str();
        }
    }
}

/// Builds a batch of the same records and finds the same in it.
fn rebuild(batch: &RecordBatch, limit: DecompressLimit) {
    let Ok(records) = batch.records(limit) else {
        return;
    };
    let Ok(options) = BatchOptions::like(batch.header()) else {
        return;
    };
    let mut builder = BatchBuilder::new(options);
    for record in &records {
        let Ok(record) = record else {
            return;
        };
        if builder.append_record(&record).is_err() {
            return;
        }
    }
    let Ok(rebuilt) = builder.finish() else {
        return;
    };
    assert_eq!(rebuilt.verify_crc(), Ok(()));
    let again = rebuilt
        .records(DecompressLimit::DEFAULT)
        .expect("klamm reads what it wrote");
    let mut again = again.iter();
    for record in records.iter().flatten() {
        let other = again
            .next()
            .expect("no record is missing")
            .expect("klamm reads what it wrote");
        assert_eq!(other.key(), record.key());
        assert_eq!(other.value(), record.value());
        assert_eq!(other.offset(), record.offset());
        assert_eq!(other.timestamp(), record.timestamp());
        let headers = |headers: klamm_protocol::records::Headers<'_>| headers.iter().count();
        assert_eq!(headers(other.headers()), headers(record.headers()));
    }
    assert!(again.next().is_none(), "there are more records");
}
