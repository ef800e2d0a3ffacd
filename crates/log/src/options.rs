/// What Kafka calls the topic's configs, as far as the log itself goes by them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// `segment.bytes`: a batch that would make a segment longer begins another.
    pub segment_bytes: u32,
    /// `segment.ms`: a batch so much later than a segment's first begins another.
    pub segment_ms: Option<i64>,
    /// `index.interval.bytes`: about one index entry for so many bytes.
    pub index_interval_bytes: u32,
    /// `segment.index.bytes`: the most that an index may have.
    pub index_bytes: u32,
    /// Whether every offset is there. It is so in the metadata log and wherever `cleanup.policy` was
    /// never `compact`; a gap is damage there.
    pub contiguous: bool,
}

impl LogOptions {
    /// The most bytes that a segment may have: index entries are int32.
    pub const MAX_SEGMENT_BYTES: u32 = i32::MAX as u32;

    /// Kafka's defaults for a topic.
    pub const TOPIC: Self = Self {
        segment_bytes: 1024 * 1024 * 1024,
        segment_ms: Some(7 * 24 * 60 * 60 * 1000),
        index_interval_bytes: 4096,
        index_bytes: 10 * 1024 * 1024,
        contiguous: false,
    };

    /// Kafka's defaults for the metadata log (`metadata.log.segment.bytes` and so on).
    pub const METADATA: Self = Self {
        contiguous: true,
        ..Self::TOPIC
    };

    pub(crate) fn segment_bytes(&self) -> u64 {
        self.segment_bytes.min(Self::MAX_SEGMENT_BYTES).into()
    }
}
