//! Fields of what no schema describes: frames, batches, records.

/// Format, field and text; the format's own text without a field.
const FIELDS: &[(&str, &str, &str)] = &[
    (
        "RecordBatch v2",
        "",
        "Records that were produced together (KIP-98): 61 bytes about them, then the records.",
    ),
    (
        "Message v1",
        "",
        "A record with a timestamp in the format before KIP-98, or several that are compressed (KIP-32).",
    ),
    (
        "Message v0",
        "",
        "A record in the format before KIP-32, or several that are compressed.",
    ),
    ("frame", "size", "How many bytes follow: header and body."),
    (
        "RecordBatch",
        "BaseOffset",
        "The offset of the first record that the batch was written with; a producer sends 0.",
    ),
    (
        "RecordBatch",
        "BatchLength",
        "How many bytes of the batch follow this field.",
    ),
    (
        "RecordBatch",
        "PartitionLeaderEpoch",
        "The epoch of the leader that appended the batch; -1 before one did.",
    ),
    ("RecordBatch", "Magic", "The format of the batch: 2."),
    (
        "RecordBatch",
        "Crc",
        "CRC-32C of everything from the attributes to the end of the batch.",
    ),
    (
        "RecordBatch",
        "Attributes",
        "Bits: 0-2 compression, 3 timestamps are of the append, 4 transactional, 5 control, 6 base timestamp is the delete horizon.",
    ),
    (
        "RecordBatch",
        "LastOffsetDelta",
        "The last record's offset less the base offset; it stays when compaction removes that record.",
    ),
    (
        "RecordBatch",
        "BaseTimestamp",
        "What the records' timestamps count from, in milliseconds since 1970, or the delete horizon.",
    ),
    (
        "RecordBatch",
        "MaxTimestamp",
        "The largest timestamp of the records, or the time of the append, in milliseconds since 1970.",
    ),
    (
        "RecordBatch",
        "ProducerId",
        "The id of an idempotent or transactional producer; -1 without one.",
    ),
    (
        "RecordBatch",
        "ProducerEpoch",
        "The epoch of that producer; -1 without one.",
    ),
    (
        "RecordBatch",
        "BaseSequence",
        "The sequence number of the first record; -1 where the producer does not count.",
    ),
    (
        "RecordBatch",
        "RecordCount",
        "How many records the batch has.",
    ),
    ("Record", "Attributes", "No bit has a meaning yet."),
    (
        "Record",
        "TimestampDelta",
        "The record's timestamp less the base timestamp, in milliseconds.",
    ),
    (
        "Record",
        "OffsetDelta",
        "The record's offset less the base offset.",
    ),
    (
        "Record",
        "Key",
        "What the record is about; it decides the partition and what compaction keeps.",
    ),
    (
        "Record",
        "Value",
        "What the record says; null says that the key is gone.",
    ),
    (
        "Record",
        "Headers",
        "Names and values that travel with the record.",
    ),
    (
        "Header",
        "Key",
        "The header's name; it may occur more than once.",
    ),
    ("Header", "Value", "The header's value."),
    (
        "Message",
        "Offset",
        "The message's offset; of a compressed one, that of the last message inside.",
    ),
    (
        "Message",
        "MessageSize",
        "How many bytes of the message follow this field.",
    ),
    ("Message", "Crc", "CRC-32 of everything after it."),
    ("Message", "Magic", "The format of the message: 0 or 1."),
    (
        "Message",
        "Attributes",
        "Bits: 0-2 compression, 3 the timestamp is of the append.",
    ),
    (
        "Message",
        "Timestamp",
        "When the message was created or appended, in milliseconds since 1970.",
    ),
    ("Message", "Key", "What the message is about."),
    (
        "Message",
        "Value",
        "What the message says, or the messages that are compressed in it.",
    ),
];

pub(super) fn find(format: &str, field: &str) -> Option<&'static str> {
    let row = FIELDS
        .iter()
        .find(|(known, name, _)| *known == format && *name == field);
    row.map(|(_, _, text)| *text)
}
