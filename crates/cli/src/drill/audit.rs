//! What is in the partitions, compared with what was sent.

use std::time::Duration;

use klamm_client::{
    ClientConfig, Consumer, ConsumerOptions, OffsetReset, PartitionIndex, SmallString,
    TopicPartition,
};

use super::load::Sent;
use crate::errors::Problem;
use crate::table::plural;

/// How long the next records may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What became of the records of all partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Audit {
    pub(super) sent: u64,
    pub(super) acked: u64,
    /// Acknowledged, and not there.
    pub(super) lost: u64,
    /// There more than once.
    pub(super) doubled: u64,
    /// Before a record that was sent earlier.
    pub(super) out_of_order: u64,
    /// Not acknowledged, and there all the same.
    pub(super) unacked_and_there: u64,
}

/// The numbers of the records in each partition that acknowledged some, in the order of their
/// offsets.
pub(super) async fn read(
    config: ClientConfig,
    topic: &SmallString,
    sent: &[Vec<Sent>],
) -> Result<Vec<Vec<u64>>, Problem> {
    let options = ConsumerOptions {
        offset_reset: OffsetReset::Earliest,
        ..ConsumerOptions::default()
    };
    let consumer = Consumer::connect(config, options).await;
    let mut consumer = consumer.map_err(|error| unread(&error.to_string()))?;
    // Where nothing was acknowledged there may be nothing.
    let has_none = |sent: &Vec<Sent>| sent.iter().all(|sent| sent.failure.is_some());
    let mut is_read: Vec<bool> = sent.iter().map(has_none).collect();
    let wanted = is_read.iter().enumerate().filter(|(_, is_read)| !**is_read);
    let wanted =
        wanted.map(|(index, _)| TopicPartition::new(topic.clone(), PartitionIndex(index as i32)));
    consumer.assign(wanted);
    let mut numbers = vec![Vec::new(); sent.len()];
    while !is_read.iter().all(|is_read| *is_read) {
        let read = consumer.poll(PATIENCE).await;
        let read = read.map_err(|error| unread(&error.to_string()))?;
        if read.is_empty() {
            let left = is_read.iter().filter(|is_read| !**is_read).count();
            let what = format!("nothing more comes of {}", plural(left, "partition"));
            return Err(unread(&what));
        }
        for read in read {
            let at = usize::try_from(read.partition().partition.0).unwrap_or(usize::MAX);
            let Some(numbers) = numbers.get_mut(at) else {
                continue;
            };
            for record in read.records() {
                // What is no record of the drill counts as a number that was never sent.
                let value = record
                    .ok()
                    .and_then(|record| record.value()?.try_into().ok());
                numbers.push(value.map_or(u64::MAX, u64::from_be_bytes));
            }
            is_read[at] = read.next_offset() >= read.high_watermark();
        }
    }
    Ok(numbers)
}

fn unread(why: &str) -> Problem {
    Problem::failure("the records could not be read back").because(why)
}

/// Compares what was sent with what is there.
pub(super) fn audit(sent: &[Vec<Sent>], there: &[Vec<u64>]) -> Audit {
    let mut audit = Audit::default();
    for (sent, there) in sent.iter().zip(there) {
        let mut times = vec![0u32; sent.len()];
        let mut last = None;
        for number in there {
            let known = usize::try_from(*number).ok();
            match known.and_then(|at| times.get_mut(at)) {
                Some(times) => {
                    *times += 1;
                    audit.doubled += u64::from(*times > 1);
                }
                None => audit.doubled += 1,
            }
            audit.out_of_order += u64::from(last.is_some_and(|last| *number < last));
            last = last.max(Some(*number));
        }
        audit.sent += sent.len() as u64;
        for (sent, times) in sent.iter().zip(times) {
            let is_acked = sent.failure.is_none();
            audit.acked += u64::from(is_acked);
            audit.lost += u64::from(is_acked && times == 0);
            audit.unacked_and_there += u64::from(!is_acked && times > 0);
        }
    }
    audit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(acked: &[bool]) -> Vec<Sent> {
        let sent = acked.iter().map(|acked| Sent {
            at: Duration::ZERO,
            ended: Duration::ZERO,
            failure: (!acked).then(|| "no".into()),
        });
        sent.collect()
    }

    #[test]
    fn every_fault_is_found() {
        let all = vec![sent(&[true, true, false, true]), sent(&[true])];
        let sound = Audit {
            sent: 5,
            acked: 4,
            ..Audit::default()
        };
        assert_eq!(audit(&all, &[vec![0, 1, 3], vec![0]]), sound);
        let there = Audit {
            unacked_and_there: 1,
            ..sound
        };
        assert_eq!(audit(&all, &[vec![0, 1, 2, 3], vec![0]]), there);
        let lost = Audit { lost: 2, ..sound };
        assert_eq!(audit(&all, &[vec![0, 3], vec![]]), lost);
        let doubled = Audit {
            doubled: 1,
            ..sound
        };
        assert_eq!(audit(&all, &[vec![0, 1, 3, 3], vec![0]]), doubled);
        // A number that nobody sent is one too many.
        assert_eq!(audit(&all, &[vec![0, 1, 3, 9], vec![0]]), doubled);
        let out_of_order = Audit {
            out_of_order: 1,
            ..sound
        };
        assert_eq!(audit(&all, &[vec![1, 0, 3], vec![0]]), out_of_order);
    }
}
