//! DescribeLogDirs and DeleteRecords.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use klamm_protocol::messages::delete_records::{
    DeleteRecordsPartition, DeleteRecordsPartitionResult, DeleteRecordsRequest,
    DeleteRecordsResponse, DeleteRecordsTopicResult,
};
use klamm_protocol::messages::describe_log_dirs::{
    DescribeLogDirsPartition, DescribeLogDirsRequest, DescribeLogDirsResponse,
    DescribeLogDirsResult, DescribeLogDirsTopic,
};
use klamm_protocol::{ErrorCode, Offset, SmallString};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use super::hosted::{Hosted, Moment};
use super::log_dir::LogDir;
use super::{Replicas, Shared};

/// DeleteRecords' offset that stands for all that is committed.
const ALL_COMMITTED: i64 = -1;

impl Replicas {
    /// Answers DescribeLogDirs.
    pub(crate) async fn describe_log_dirs(
        &self,
        request: DescribeLogDirsRequest,
    ) -> DescribeLogDirsResponse {
        self.blocking(move |shared| shared.describe_log_dirs(&request))
            .await
    }

    /// Deletes records, and answers when every replica has, or time is up.
    pub(crate) async fn delete_records(
        &self,
        request: DeleteRecordsRequest,
    ) -> DeleteRecordsResponse {
        let timeout = u64::try_from(request.timeout_ms).unwrap_or(0);
        let deadline = Instant::now() + Duration::from_millis(timeout);
        let begun = self.blocking(move |shared| {
            let moment = shared.moment();
            let topics = request.topics.into_iter().map(|topic| {
                let begin = |asked: &DeleteRecordsPartition| {
                    let begun = shared.begin_deletion(&topic.name, asked, &moment);
                    (asked.partition_index, begun)
                };
                let begun: Vec<_> = topic.partitions.iter().map(begin).collect();
                (topic.name, begun)
            });
            topics.collect::<Vec<_>>()
        });
        let mut topics = Vec::new();
        for (name, partitions) in begun.await {
            let mut answers = Vec::new();
            for (index, begun) in partitions {
                answers.push(deletion_answer(index, begun, deadline).await);
            }
            topics.push(DeleteRecordsTopicResult {
                name,
                partitions: answers,
                ..DeleteRecordsTopicResult::default()
            });
        }
        DeleteRecordsResponse {
            topics,
            ..DeleteRecordsResponse::default()
        }
    }
}

/// A deletion that is done everywhere, or will be.
enum Deletion {
    Done(Offset),
    Awaited(oneshot::Receiver<Offset>),
}

async fn deletion_answer(
    index: i32,
    begun: Result<Deletion, ErrorCode>,
    deadline: Instant,
) -> DeleteRecordsPartitionResult {
    let ended = match begun {
        Ok(Deletion::Done(low)) => Ok(low),
        Ok(Deletion::Awaited(result)) => match timeout_at(deadline, result).await {
            Ok(Ok(low)) => Ok(low),
            // Another leads, or the replica is gone.
            Ok(Err(_)) => Err(ErrorCode::NOT_LEADER_OR_FOLLOWER),
            Err(_) => Err(ErrorCode::REQUEST_TIMED_OUT),
        },
        Err(error) => Err(error),
    };
    DeleteRecordsPartitionResult {
        partition_index: index,
        low_watermark: ended.map_or(-1, |low| low.0),
        error_code: ended.err().unwrap_or(ErrorCode::NONE).0,
        ..DeleteRecordsPartitionResult::default()
    }
}

impl Shared {
    fn begin_deletion(
        &self,
        topic: &str,
        asked: &DeleteRecordsPartition,
        moment: &Moment,
    ) -> Result<Deletion, ErrorCode> {
        let hosted = self.find_by_name(&moment.image, topic, asked.partition_index)?;
        let before = match asked.offset {
            ALL_COMMITTED => None,
            offset => Some(Offset(offset)),
        };
        self.with(&hosted, moment, |state| {
            if !state.topic.deletes {
                // What compaction keeps is not to be deleted by offset.
                return Ok(Err(ErrorCode::POLICY_VIOLATION));
            }
            let before = match state.replica.delete_records(before) {
                Ok(before) => before,
                Err(error) => return Ok(Err(error.into())),
            };
            state.carry_out(moment, &hosted)?;
            Ok(Ok(match state.await_deletion(before, moment) {
                Ok(low) => Deletion::Done(low),
                Err(result) => Deletion::Awaited(result),
            }))
        })?
    }

    fn describe_log_dirs(&self, request: &DescribeLogDirsRequest) -> DescribeLogDirsResponse {
        let wanted: Option<BTreeSet<(&str, i32)>> = request.topics.as_ref().map(|topics| {
            let partitions = topics.iter().flat_map(|topic| {
                let indexes = topic.partitions.iter();
                indexes.map(|index| (&*topic.topic, *index))
            });
            partitions.collect()
        });
        let is_wanted = |hosted: &Hosted| match &wanted {
            Some(wanted) => wanted.contains(&(&*hosted.name.topic, hosted.name.partition.0)),
            None => true,
        };
        let hosted = self.all_hosted();
        let moment = self.moment();
        let results = self.dirs.iter().map(|dir| {
            let inside = hosted
                .iter()
                .filter(|hosted| Arc::ptr_eq(&hosted.dir, dir) && is_wanted(hosted));
            self.describe_dir(dir, inside, &moment)
        });
        let unusable = self.unusable.iter().map(|path| DescribeLogDirsResult {
            error_code: ErrorCode::KAFKA_STORAGE_ERROR.0,
            ..untold(path)
        });
        DescribeLogDirsResponse {
            results: results.chain(unusable).collect(),
            ..DescribeLogDirsResponse::default()
        }
    }

    fn describe_dir<'h>(
        &self,
        dir: &LogDir,
        inside: impl Iterator<Item = &'h Arc<Hosted>>,
        moment: &Moment,
    ) -> DescribeLogDirsResult {
        let mut result = untold(dir.path());
        if dir.is_failed() {
            result.error_code = ErrorCode::KAFKA_STORAGE_ERROR.0;
            return result;
        }
        let mut topics: BTreeMap<SmallString, Vec<DescribeLogDirsPartition>> = BTreeMap::new();
        for hosted in inside {
            let size = self.with(hosted, moment, |state| {
                let log = state.replica.log();
                // How far it is behind what is known to be committed.
                let lag = log.high_watermark().0 - log.end().0;
                Ok((state.log.len(), lag.max(0)))
            });
            let Ok((size, lag)) = size else {
                continue;
            };
            let partition = DescribeLogDirsPartition {
                partition_index: hosted.name.partition.0,
                partition_size: i64::try_from(size).unwrap_or(i64::MAX),
                offset_lag: lag,
                ..DescribeLogDirsPartition::default()
            };
            let topic = hosted.name.topic.as_str().into();
            topics.entry(topic).or_default().push(partition);
        }
        let topics = topics
            .into_iter()
            .map(|(name, partitions)| DescribeLogDirsTopic {
                name,
                partitions,
                ..DescribeLogDirsTopic::default()
            });
        result.topics = topics.collect();
        match dir.partitions().space() {
            Ok(space) => {
                let bytes = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
                result.total_bytes = bytes(space.total);
                result.usable_bytes = bytes(space.usable);
            }
            Err(error) => tracing::warn!(%error, "the room on the disk is unknown"),
        }
        result
    }
}

/// A directory that nothing is said of.
fn untold(path: &Path) -> DescribeLogDirsResult {
    DescribeLogDirsResult {
        log_dir: path.display().to_string().into(),
        total_bytes: -1,
        usable_bytes: -1,
        ..DescribeLogDirsResult::default()
    }
}
