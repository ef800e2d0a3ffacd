//! What producers wrote last, from the files of a log.

use klamm_log::{Log, LogError};
use klamm_protocol::Offset;
use klamm_protocol::records::{Batch, Batches};
use klamm_replica::Producers;

/// How many bytes are read at once.
const READ_BYTES: usize = 1 << 20;

/// Makes it of the latest snapshot that can be read, and the batches after it.
pub(super) fn load(log: &Log) -> Result<Producers, LogError> {
    let mut producers = latest_snapshot(log)?;
    let mut next = producers.end();
    while next < log.end() {
        let bytes = log.read(next, log.end(), READ_BYTES)?.bytes()?;
        let before = next;
        for batch in Batches::new(bytes) {
            let batch = batch?;
            next = Offset(batch.last_offset().0 + 1);
            if let Batch::V2(batch) = batch {
                producers.replay(&batch)?;
            }
        }
        if next == before {
            // Compaction has removed what was before the end.
            break;
        }
    }
    Ok(producers)
}

fn latest_snapshot(log: &Log) -> Result<Producers, LogError> {
    let offsets = log.producer_snapshots()?;
    let usable = |offset: &Offset| (log.start()..=log.end()).contains(offset);
    for offset in offsets.into_iter().rev().filter(usable) {
        let Some(bytes) = log.read_producer_snapshot(offset)? else {
            continue;
        };
        match Producers::from_snapshot(&bytes, offset) {
            Ok(producers) => return Ok(producers),
            Err(error) => {
                tracing::warn!(%offset, %error, "an older snapshot of producers has to do");
            }
        }
    }
    Ok(Producers::new(log.start()))
}

/// Writes a snapshot of what is known. Of those between segments only this one stays.
pub(super) fn save(log: &Log, producers: &Producers) -> Result<(), LogError> {
    let at = producers.end();
    if log.is_empty() && producers.iter().next().is_none() {
        // A broker may have thousands of these, and each file is flushed.
        return Ok(());
    }
    match producers.to_snapshot() {
        Ok(bytes) => log.write_producer_snapshot(at, &bytes)?,
        // What it is made of came out of batches, so that it fits.
        Err(error) => tracing::error!(%error, "no snapshot of producers can be written"),
    }
    let segments: Vec<Offset> = log.segments().collect();
    log.retain_producer_snapshots(|offset| offset == at || segments.contains(&offset))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use klamm_log::{LogOptions, OpenFiles, OsDir, Recover};
    use klamm_protocol::records::{BatchBuilder, BatchOptions, NewRecord};
    use klamm_replica::ProducerId;

    use super::*;

    fn log(path: &std::path::Path) -> Log {
        let options = LogOptions {
            segment_bytes: 1 << 20,
            ..LogOptions::TOPIC
        };
        let dir = OsDir::create(path).unwrap();
        let opened = Log::open(dir, OpenFiles::new(9), options, Recover::All, Offset(0));
        opened.unwrap().0
    }

    fn append(log: &mut Log, sequence: i32) {
        let mut builder = BatchBuilder::new(BatchOptions {
            producer_id: 7,
            producer_epoch: 0,
            base_sequence: sequence,
            base_offset: log.end(),
            ..BatchOptions::default()
        });
        builder.append(&NewRecord::default()).unwrap();
        let bytes = builder.finish().unwrap().into_bytes();
        log.append(bytes, 0).unwrap();
    }

    #[test]
    fn producers_are_those_of_a_snapshot_and_of_what_follows() {
        let temporary = tempfile::tempdir().unwrap();
        let mut log = log(temporary.path());
        for sequence in 0..20 {
            append(&mut log, sequence);
        }
        let known = load(&log).unwrap();
        save(&log, &known).unwrap();
        append(&mut log, 20);
        let last = |producers: &Producers| {
            let producer = producers.producer(ProducerId(7)).unwrap();
            producer.batches().last().unwrap().last_sequence
        };
        let loaded = load(&log).unwrap();
        assert_eq!((last(&loaded), loaded.end()), (20, Offset(21)));
        // A snapshot has the last batch alone, and there is one more.
        assert_eq!(loaded.producer(ProducerId(7)).unwrap().batches().len(), 2);
        // A damaged snapshot does no harm.
        log.write_producer_snapshot(Offset(21), b"nonsense")
            .unwrap();
        assert_eq!(last(&load(&log).unwrap()), 20);
        assert_eq!(log.producer_snapshots().unwrap(), [Offset(20), Offset(21)]);
        save(&log, &loaded).unwrap();
        assert_eq!(log.producer_snapshots().unwrap(), [Offset(21)]);
    }
}
