package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;

/** Record batches and message sets, written and read by Apache Kafka. */
final class RecordBatches {
    void register(Map<String, Peer.Op> ops) {
        ops.put("build_records", this::build);
        ops.put("read_records", this::read);
        ops.put("control_batches", this::control);
    }

    /** A batch as described; {@code magic} 0 and 1 give message sets. */
    private JsonNode build(JsonNode args) {
        byte magic = (byte) args.path("magic").asInt(2);
        boolean append = args.path("timestamp_type").asText().equals("append");
        long appendTime = args.path("append_time").asLong(RecordBatch.NO_TIMESTAMP);
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        MemoryRecordsBuilder builder = new MemoryRecordsBuilder(
            out,
            magic,
            compression(args.path("compression").asText("none")),
            append ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
            args.path("base_offset").asLong(0),
            append ? appendTime : RecordBatch.NO_TIMESTAMP,
            args.path("producer_id").asLong(RecordBatch.NO_PRODUCER_ID),
            (short) args.path("producer_epoch").asInt(RecordBatch.NO_PRODUCER_EPOCH),
            args.path("base_sequence").asInt(RecordBatch.NO_SEQUENCE),
            args.path("transactional").asBoolean(),
            false,
            args.path("leader_epoch").asInt(RecordBatch.NO_PARTITION_LEADER_EPOCH),
            Integer.MAX_VALUE,
            args.path("delete_horizon").asLong(RecordBatch.NO_TIMESTAMP));
        for (JsonNode record : Peer.required(args, "records")) {
            builder.appendWithOffset(
                record.get("offset").asLong(),
                record.get("timestamp").asLong(),
                bytes(record.get("key")),
                bytes(record.get("value")),
                headers(record.path("headers")));
        }
        if (args.has("last_offset")) {
            builder.overrideLastOffset(args.get("last_offset").asLong());
        }
        return Peer.NODES.textNode(hex(builder.build()));
    }

    /** Every batch in some bytes, each checked against its checksum, with its records. */
    private JsonNode read(JsonNode args) {
        MemoryRecords records =
            MemoryRecords.readableRecords(ByteBuffer.wrap(Peer.bytes(args, "bytes")));
        ArrayNode batches = Peer.NODES.arrayNode();
        int size = 0;
        for (MutableRecordBatch batch : records.batches()) {
            batch.ensureValid();
            size += batch.sizeInBytes();
            batches.add(describe(batch));
        }
        ObjectNode answer = Peer.NODES.objectNode();
        answer.set("batches", batches);
        answer.put("left", records.sizeInBytes() - size);
        return answer;
    }

    private static ObjectNode describe(RecordBatch batch) {
        ObjectNode out = Peer.NODES.objectNode();
        out.put("magic", batch.magic());
        out.put("compression", batch.compressionType().name);
        out.put("timestamp_type", switch (batch.timestampType()) {
            case CREATE_TIME -> "create";
            case LOG_APPEND_TIME -> "append";
            default -> "none";
        });
        // A compressed message set knows its base offset only from its contents.
        out.put("base_offset", batch.baseOffset());
        out.put("last_offset", batch.lastOffset());
        out.put("max_timestamp", batch.maxTimestamp());
        out.put("crc", batch.checksum());
        out.put("producer_id", batch.producerId());
        out.put("producer_epoch", batch.producerEpoch());
        out.put("base_sequence", batch.baseSequence());
        out.put("transactional", batch.isTransactional());
        out.put("control", batch.isControlBatch());
        out.put("leader_epoch", batch.partitionLeaderEpoch());
        batch.deleteHorizonMs().ifPresent(ms -> out.put("delete_horizon", ms));
        ArrayNode records = out.putArray("records");
        for (Record record : batch) {
            record.ensureValid();
            records.add(describe(record, batch));
        }
        return out;
    }

    private static ObjectNode describe(Record record, RecordBatch batch) {
        ObjectNode out = Peer.NODES.objectNode();
        out.put("offset", record.offset());
        out.put("timestamp", record.timestamp());
        out.put("key", hex(record.key()));
        out.put("value", hex(record.value()));
        ArrayNode headers = out.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = header.value();
            headers.addArray().add(header.key()).add(value == null ? null : Peer.HEX.formatHex(value));
        }
        if (batch.isControlBatch()) {
            out.put("control_type", ControlRecordType.parse(record.key()).name());
        }
        return out;
    }

    /** One control batch of each kind that Apache Kafka writes, by the kind's name. */
    private JsonNode control(JsonNode args) {
        ObjectNode out = Peer.NODES.objectNode();
        out.put("COMMIT", hex(MemoryRecords.withEndTransactionMarker(
            7L, 1_700_000_000_000L, 5, 4_000L, (short) 3,
            new EndTransactionMarker(ControlRecordType.COMMIT, 11))));
        out.put("ABORT", hex(MemoryRecords.withEndTransactionMarker(
            8L, 1_700_000_000_001L, 5, 4_001L, (short) 4,
            new EndTransactionMarker(ControlRecordType.ABORT, 12))));
        out.put("LEADER_CHANGE", hex(MemoryRecords.withLeaderChangeMessage(
            9L, 2L, 6, ByteBuffer.allocate(512),
            new LeaderChangeMessage().setLeaderId(3).setVoters(new ArrayList<>(List.of(
                new LeaderChangeMessage.Voter().setVoterId(3),
                new LeaderChangeMessage.Voter().setVoterId(4)))))));
        out.put("SNAPSHOT_HEADER", hex(MemoryRecords.withSnapshotHeaderRecord(
            0L, 3L, 6, ByteBuffer.allocate(512),
            new SnapshotHeaderRecord().setLastContainedLogTimestamp(99L))));
        out.put("SNAPSHOT_FOOTER", hex(MemoryRecords.withSnapshotFooterRecord(
            10L, 4L, 6, ByteBuffer.allocate(512), new SnapshotFooterRecord())));
        out.put("KRAFT_VERSION", hex(MemoryRecords.withKRaftVersionRecord(
            11L, 5L, 6, ByteBuffer.allocate(512),
            new KRaftVersionRecord().setKRaftVersion((short) 1))));
        VotersRecord.EndpointCollection endpoints = new VotersRecord.EndpointCollection();
        endpoints.add(new VotersRecord.Endpoint()
            .setName("CONTROLLER").setHost("localhost").setPort(9093));
        out.put("KRAFT_VOTERS", hex(MemoryRecords.withVotersRecord(
            12L, 6L, 6, ByteBuffer.allocate(512),
            new VotersRecord().setVoters(List.of(new VotersRecord.Voter()
                .setVoterId(1)
                .setVoterDirectoryId(new Uuid(1, 2))
                .setEndpoints(endpoints)
                .setKRaftVersionFeature(new VotersRecord.KRaftVersionFeature()
                    .setMinSupportedVersion((short) 0)
                    .setMaxSupportedVersion((short) 1)))))));
        return out;
    }

    private static Compression compression(String name) {
        return Compression.of(CompressionType.forName(name)).build();
    }

    private static Header[] headers(JsonNode headers) {
        List<Header> list = new ArrayList<>();
        for (JsonNode header : headers) {
            list.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
        }
        return list.toArray(new Header[0]);
    }

    private static byte[] bytes(JsonNode hex) {
        return hex == null || hex.isNull() ? null : Peer.HEX.parseHex(hex.asText());
    }

    private static String hex(MemoryRecords records) {
        return hex(records.buffer());
    }

    private static String hex(ByteBuffer buffer) {
        if (buffer == null) {
            return null;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return Peer.HEX.formatHex(bytes);
    }
}
