//! Random histories, compared with a list of batches.

use fastrand::Rng;
use klamm_log::testing::{Crash, MemDir};
use klamm_log::{Log, LogOptions, Recover};
use klamm_protocol::records::RecordBatch;
use klamm_protocol::{LeaderEpoch, Offset};

use crate::support::{SMALL, all, batch, open, read, whole};

/// What the log should be.
#[derive(Default)]
struct Model {
    batches: Vec<RecordBatch>,
    start: i64,
    end: i64,
    flushed: i64,
    epoch: i32,
    /// That of the last batch which was deleted, and may still be in a segment.
    deleted_epoch: i32,
    clock: i64,
}

struct History {
    rng: Rng,
    dir: MemDir,
    log: Option<Log>,
    model: Model,
    options: LogOptions,
    trace: Vec<String>,
}

#[test]
fn random_histories() {
    for seed in 0..150 {
        History::new(seed).run();
    }
}

impl History {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let options = LogOptions {
            segment_ms: rng.bool().then_some(50),
            contiguous: rng.bool(),
            segment_bytes: rng.u32(700..3000),
            ..SMALL
        };
        let dir = MemDir::default();
        let (log, _) = open(&dir, options, Recover::All).unwrap();
        Self {
            rng,
            dir,
            log: Some(log),
            model: Model::default(),
            options,
            trace: vec![format!("seed {seed}, {options:?}")],
        }
    }

    fn run(mut self) {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..60 {
                self.step();
                self.check();
            }
        }));
        assert!(outcome.is_ok(), "it came so:\n{}", self.trace.join("\n"));
    }

    fn step(&mut self) {
        match self.rng.u32(0..100) {
            0..38 => self.append(),
            38..57 => self.append_assigning(),
            57..60 => self.begin_epoch(),
            60..68 => self.flush(),
            68..71 => self
                .log()
                .roll()
                .map(|()| self.model.flushed = self.model.end)
                .unwrap(),
            71..78 => self.truncate(),
            78..84 => self.delete_before(),
            84..85 => self.reset(),
            85..91 => self.close(),
            _ => self.crash(),
        }
    }

    fn log(&mut self) -> &mut Log {
        self.log.as_mut().expect("it is open between two steps")
    }

    fn new_batch(&mut self) -> RecordBatch {
        if self.rng.u32(0..5) == 0 {
            self.model.epoch += self.rng.i32(1..3);
        }
        if !self.options.contiguous && self.rng.u32(0..4) == 0 {
            self.model.end += self.rng.i64(1..30);
        }
        self.model.clock += self.rng.i64(-5..20);
        let (count, len) = (self.rng.usize(1..6), self.rng.usize(0..80));
        let new = batch(
            self.model.end,
            self.model.epoch,
            count,
            len,
            self.model.clock,
        );
        self.model.end += count as i64;
        self.model.batches.push(new.clone());
        new
    }

    fn append(&mut self) {
        let mut bytes = Vec::new();
        for _ in 0..self.rng.usize(1..5) {
            bytes.extend_from_slice(self.new_batch().bytes());
        }
        self.trace.push(format!("append up to {}", self.model.end));
        let clock = self.model.clock;
        let appended = self.log().append(bytes.into(), clock).unwrap().unwrap();
        assert_eq!(appended.last.0 + 1, self.model.end);
    }

    fn append_assigning(&mut self) {
        let (at, epoch, clock) = (self.model.end, self.model.epoch, self.model.clock);
        let (count, len) = (self.rng.usize(1..6), self.rng.usize(0..80));
        self.trace.push(format!("append {count} at {at}"));
        let bytes = batch(0, -1, count, len, clock).into_bytes();
        let appended = self
            .log()
            .append_assigning(bytes.clone(), LeaderEpoch(epoch), None, clock);
        assert_eq!(appended.unwrap().first, Offset(at));
        let stamp = klamm_protocol::records::Stamp {
            base_offset: Some(Offset(at)),
            partition_leader_epoch: Some(LeaderEpoch(epoch)),
            max_timestamp: None,
        };
        self.model
            .batches
            .push(RecordBatch::parse(bytes).unwrap().restamped(&stamp));
        self.model.end += count as i64;
    }

    /// As a leader does, before it writes anything.
    fn begin_epoch(&mut self) {
        self.model.epoch += self.rng.i32(1..3);
        let epoch = LeaderEpoch(self.model.epoch);
        self.trace.push(format!("begin epoch {epoch}"));
        self.log().begin_epoch(epoch).unwrap();
    }

    fn flush(&mut self) {
        self.trace.push(format!("flush up to {}", self.model.end));
        assert_eq!(self.log().flush().unwrap(), Offset(self.model.end));
        self.model.flushed = self.model.end;
    }

    fn truncate(&mut self) {
        let offset = self.rng.i64(self.model.start..=self.model.end);
        self.trace.push(format!("truncate to {offset}"));
        let end = self.log().truncate_to(Offset(offset)).unwrap();
        // A batch goes as a whole.
        let model = &mut self.model;
        if offset < model.end {
            model
                .batches
                .retain(|batch| batch.header().last_offset().0 < offset);
            model.end = match model.batches.last() {
                Some(last) => last.header().last_offset().0 + 1,
                None => model.start,
            };
        }
        assert_eq!(end, Offset(model.end));
        model.flushed = model.flushed.min(model.end);
        // What comes next may be of any epoch that does not precede what is left.
        let last = model.batches.last();
        let last = last.map(|last| last.header().partition_leader_epoch.0);
        model.epoch = last.unwrap_or(model.deleted_epoch);
        let epochs = self.log().epochs().entries();
        assert!(epochs.iter().all(|entry| entry.start < end), "{epochs:?}");
    }

    fn delete_before(&mut self) {
        let offset = self.rng.i64(self.model.start..=self.model.end);
        self.trace.push(format!("delete before {offset}"));
        self.log().delete_before(Offset(offset)).unwrap();
        self.model.start = offset;
        if offset == self.model.end {
            self.model.flushed = offset;
        }
        self.forget_deleted();
    }

    /// Batches that reach beyond the start stay.
    fn forget_deleted(&mut self) {
        let start = self.model.start;
        let batches = &mut self.model.batches;
        let deleted = batches.extract_if(.., |batch| batch.header().last_offset().0 < start);
        if let Some(last) = deleted.last() {
            self.model.deleted_epoch = last.header().partition_leader_epoch.0;
        }
    }

    fn reset(&mut self) {
        let offset = self.model.end + self.rng.i64(0..20);
        self.trace.push(format!("reset to {offset}"));
        self.log().reset_to(Offset(offset)).unwrap();
        self.model.batches.clear();
        (self.model.start, self.model.end, self.model.flushed) = (offset, offset, offset);
    }

    fn close(&mut self) {
        self.trace.push("close".into());
        let log = self.log.take().unwrap();
        assert_eq!(log.close().unwrap(), Offset(self.model.end));
        self.model.flushed = self.model.end;
        let recover = match self.rng.u32(0..3) {
            0 => Recover::All,
            1 => Recover::From(Offset(self.model.flushed)),
            _ => Recover::Nothing,
        };
        self.open(recover);
        assert_eq!(self.log().end(), Offset(self.model.end));
    }

    fn crash(&mut self) {
        self.log = None;
        let crash = [Crash::Process, Crash::Lose, Crash::Random][self.rng.usize(0..3)];
        self.trace
            .push(format!("crash, {crash:?}, {} flushed", self.model.flushed));
        let rng = &mut self.rng;
        self.dir.crash(crash, |below| rng.usize(0..below));
        let recover = match self.rng.bool() {
            true => Recover::All,
            false => Recover::From(Offset(self.model.flushed)),
        };
        self.open(recover);
        let end = self.log().end().0;
        self.trace.push(format!("reopened, ends at {end}"));
        let range = self.model.flushed..=self.model.end;
        assert!(range.contains(&end), "{end} of {range:?}");
        if crash == Crash::Process {
            assert_eq!(end, self.model.end);
        }
        self.model
            .batches
            .retain(|batch| batch.header().base_offset.0 < end);
        self.model.end = end;
        self.model.flushed = end;
        // What was lost may have been deleted already.
        self.model.start = self.model.start.min(end);
    }

    fn open(&mut self, recover: Recover) {
        let (log, _) = klamm_log::Log::open(
            std::sync::Arc::new(self.dir.clone()),
            klamm_log::OpenFiles::new(2),
            self.options,
            recover,
            Offset(self.model.start),
        )
        .unwrap();
        self.log = Some(log);
    }

    fn check(&mut self) {
        let log = self.log.as_ref().unwrap();
        let model = &self.model;
        assert_eq!((log.start().0, log.end().0), (model.start, model.end));
        assert_eq!(all(log), model.batches);
        // Epochs of which no record is left may be known as well.
        for batch in &model.batches {
            let header = batch.header();
            let offset = header.base_offset.max(log.start());
            assert_eq!(log.epochs().of(offset), Some(header.partition_leader_epoch));
            assert_eq!(
                log.epochs().of(header.last_offset()),
                log.epochs().of(offset)
            );
        }
        if let Some(offset) =
            (model.start < model.end).then(|| self.rng.i64(model.start..model.end))
        {
            let first = model
                .batches
                .iter()
                .find(|batch| batch.header().last_offset().0 >= offset);
            if let Some(first) = first {
                assert_eq!(whole(read(log, Offset(offset)))[0], *first);
            }
            let up_to = self.rng.i64(offset..=model.end);
            let bytes = log
                .read(Offset(offset), Offset(up_to), 1 << 20)
                .unwrap()
                .bytes()
                .unwrap();
            for batch in klamm_protocol::records::Batches::new(bytes) {
                assert!(batch.unwrap().last_offset().0 < up_to);
            }
        }
    }
}
