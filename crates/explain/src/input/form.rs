//! What bytes are, told from how they begin and from the name of their file.

use klamm_protocol::records::BatchHeader;

use crate::log::IndexKind;

/// What people have: frames of a connection, a capture, or a file of a log directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Requests or responses, one after the other, with or without a body only.
    Frames,
    /// A capture of network traffic as libpcap writes it.
    Pcap,
    /// A capture in the format of Wireshark.
    Pcapng,
    /// A log segment: batches of records.
    Log,
    /// A snapshot of the metadata log (`.checkpoint`): batches of records too.
    Snapshot,
    /// An offset index (`.index`).
    OffsetIndex,
    /// A time index (`.timeindex`).
    TimeIndex,
    /// An index of aborted transactions (`.txnindex`).
    TransactionIndex,
    /// The state of producers (`.snapshot`).
    Producers,
    /// A text file: `meta.properties`, `quorum-state`, checkpoints of offsets and epochs.
    Text,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 10] = [
        Self::Frames,
        Self::Pcap,
        Self::Pcapng,
        Self::Log,
        Self::Snapshot,
        Self::OffsetIndex,
        Self::TimeIndex,
        Self::TransactionIndex,
        Self::Producers,
        Self::Text,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Frames => "frames",
            Self::Pcap => "pcap",
            Self::Pcapng => "pcapng",
            Self::Log => "log",
            Self::Snapshot => "snapshot",
            Self::OffsetIndex => "index",
            Self::TimeIndex => "timeindex",
            Self::TransactionIndex => "txnindex",
            Self::Producers => "producers",
            Self::Text => "text",
        }
    }

    /// What an index finds, if it is one.
    pub fn index_kind(self) -> Option<IndexKind> {
        match self {
            Self::OffsetIndex => Some(IndexKind::Offset),
            Self::TimeIndex => Some(IndexKind::Time),
            Self::TransactionIndex => Some(IndexKind::Transaction),
            _ => None,
        }
    }

    /// What bytes are that begin with `start`, in a file of this name. [`START_BYTES`] are enough.
    ///
    /// Captures say what they are, files of a log directory are named after it, and a batch has its
    /// magic where no frame has one. All else is taken for frames.
    pub fn tell(start: &[u8], name: Option<&str>) -> Self {
        capture(start)
            .or_else(|| name.and_then(named))
            .unwrap_or(if is_batch(start) {
                Self::Log
            } else {
                Self::Frames
            })
    }
}

/// How many bytes [`Form::tell`] looks at.
pub const START_BYTES: usize = BatchHeader::LEN;

fn capture(start: &[u8]) -> Option<Form> {
    let word = |at: usize| {
        let bytes = start.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_be_bytes(*bytes))
    };
    match word(0)? {
        // Microseconds and nanoseconds, in either byte order.
        0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1 => Some(Form::Pcap),
        0x0a0d_0d0a if matches!(word(8)?, 0x1a2b_3c4d | 0x4d3c_2b1a) => Some(Form::Pcapng),
        _ => None,
    }
}

/// What Apache Kafka keeps under a name. It appends `.deleted`, `.cleaned` and `.swap` to files on
/// their way out or in.
fn named(name: &str) -> Option<Form> {
    let name = [".deleted", ".cleaned", ".swap"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    if matches!(
        name,
        "meta.properties" | "partition.metadata" | "quorum-state" | "leader-epoch-checkpoint"
    ) || name.ends_with("-offset-checkpoint")
    {
        return Some(Form::Text);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    let is_offset = !stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_digit());
    match extension {
        "log" if is_offset => Some(Form::Log),
        "index" if is_offset => Some(Form::OffsetIndex),
        "timeindex" if is_offset => Some(Form::TimeIndex),
        "txnindex" if is_offset => Some(Form::TransactionIndex),
        "snapshot" if is_offset => Some(Form::Producers),
        "checkpoint" => Some(Form::Snapshot),
        _ => None,
    }
}

/// The offset that the name of a file in a log directory begins with.
pub fn base_offset(name: &str) -> Option<i64> {
    let end = name
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(name.len());
    name[..end].parse().ok()
}

/// Whether bytes begin as a batch does, and not as a frame: the first half of the offset is 0 in
/// logs of up to four billion records, and no frame has a size of 0.
fn is_batch(start: &[u8]) -> bool {
    let Some((before, [magic])) = start.get(..17).and_then(|start| start.split_last_chunk()) else {
        return false;
    };
    let length = before[8..]
        .first_chunk()
        .copied()
        .map_or(0, i32::from_be_bytes);
    before.starts_with(&[0; 4]) && (14..).contains(&length) && *magic <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_say_what_they_are() {
        for start in [
            [0xa1, 0xb2, 0xc3, 0xd4],
            [0xd4, 0xc3, 0xb2, 0xa1],
            [0xa1, 0xb2, 0x3c, 0x4d],
            [0x4d, 0x3c, 0xb2, 0xa1],
        ] {
            assert_eq!(
                Form::tell(&start, Some("00000000000000000000.log")),
                Form::Pcap
            );
        }
        let mut section = *b"\x0a\x0d\x0d\x0a\0\0\0\x1c\x1a\x2b\x3c\x4d";
        assert_eq!(Form::tell(&section, None), Form::Pcapng);
        section[8..].reverse();
        assert_eq!(Form::tell(&section, None), Form::Pcapng);
        assert_eq!(Form::tell(&section[..8], None), Form::Frames);
    }

    #[test]
    fn files_of_a_log_directory_are_known_by_name() {
        for (name, form) in [
            ("00000000000000000000.log", Form::Log),
            ("00000000000000000000.log.deleted", Form::Log),
            ("00000000000000000000.index", Form::OffsetIndex),
            ("00000000000000000000.timeindex", Form::TimeIndex),
            ("00000000000000000000.txnindex", Form::TransactionIndex),
            ("00000000000000000004.snapshot", Form::Producers),
            ("00000000000000000012-0000000001.checkpoint", Form::Snapshot),
            ("bootstrap.checkpoint", Form::Snapshot),
            ("leader-epoch-checkpoint", Form::Text),
            ("replication-offset-checkpoint", Form::Text),
            ("meta.properties", Form::Text),
            ("quorum-state", Form::Text),
            ("capture.log", Form::Frames),
            ("request.bin", Form::Frames),
        ] {
            assert_eq!(Form::tell(&[], Some(name)), form, "{name}");
        }
    }

    #[test]
    fn batches_are_told_from_frames() {
        let batch = crate::EMPTY_BATCH;
        assert_eq!(Form::tell(&batch, None), Form::Log);
        assert_eq!(Form::tell(&batch[..16], None), Form::Frames);
        let mut later = batch;
        later[..8].copy_from_slice(&u64::from(u32::MAX).to_be_bytes());
        assert_eq!(Form::tell(&later, Some("segment")), Form::Log);
        for key in crate::apis() {
            for version in key.coded_versions().iter() {
                let api = klamm_protocol::ApiVersion { key, version };
                for direction in crate::Direction::BOTH {
                    let frame = crate::smallest_frame(api, direction).unwrap();
                    assert_eq!(Form::tell(&frame, None), Form::Frames, "{api}");
                }
            }
        }
    }

    #[test]
    fn names_differ() {
        let names: std::collections::BTreeSet<_> = Form::ALL.map(Form::name).into();
        assert_eq!(names.len(), Form::ALL.len());
    }
}
