package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.DirectoryId;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionChangeRecord;
import org.apache.kafka.common.metadata.PartitionChangeRecordJsonConverter;
import org.apache.kafka.controller.PartitionChangeBuilder;
import org.apache.kafka.metadata.LeaderRecoveryState;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.server.common.MetadataVersion;

/** Apache Kafka's own decisions on changes of partitions: elections, ELR, ends of reassignments. */
final class Changes {
    void register(Map<String, Peer.Op> ops) {
        ops.put("changes", Changes::decide);
    }

    /** The record of each case, null where nothing changes. */
    private static JsonNode decide(JsonNode args) {
        ArrayNode records = Peer.NODES.arrayNode();
        for (JsonNode wanted : Peer.required(args, "cases")) {
            records.add(decideOne(wanted));
        }
        return records;
    }

    private static JsonNode decideOne(JsonNode wanted) {
        int[] replicas = array(wanted, "replicas");
        PartitionRegistration partition = new PartitionRegistration.Builder()
            .setReplicas(replicas)
            .setDirectories(DirectoryId.migratingArray(replicas.length))
            .setIsr(array(wanted, "isr"))
            .setElr(array(wanted, "elr"))
            .setLastKnownElr(array(wanted, "last_known_elr"))
            .setRemovingReplicas(array(wanted, "removing"))
            .setAddingReplicas(array(wanted, "adding"))
            .setLeader(wanted.get("leader").asInt())
            .setLeaderRecoveryState(recovery(wanted, "recovery"))
            .setLeaderEpoch(0)
            .setPartitionEpoch(0)
            .build();
        Set<Integer> live = new HashSet<>(list(wanted, "live"));
        short level = (short) wanted.get("metadata_version").asInt();
        PartitionChangeBuilder builder = new PartitionChangeBuilder(
            partition,
            Uuid.ONE_UUID,
            0,
            live::contains,
            MetadataVersion.fromFeatureLevel(level),
            wanted.get("min_isr").asInt(),
            wanted.get("elr_enabled").asBoolean());
        builder.setElection(PartitionChangeBuilder.Election.valueOf(wanted.get("election").asText()))
            .setTargetIsr(list(wanted, "target_isr"))
            .setTargetLeaderRecoveryState(recovery(wanted, "target_recovery"))
            .setTargetReplicas(list(wanted, "target_replicas"))
            .setTargetRemoving(list(wanted, "target_removing"))
            .setTargetAdding(list(wanted, "target_adding"))
            .setDefaultDirProvider(broker -> DirectoryId.UNASSIGNED);
        if (wanted.has("unclean_shutdown")) {
            builder.setUncleanShutdownReplicas(list(wanted, "unclean_shutdown"));
        }
        return builder.build()
            .map(record -> PartitionChangeRecordJsonConverter.write(
                (PartitionChangeRecord) record.message(), record.version()))
            .orElse(Peer.NODES.nullNode());
    }

    private static LeaderRecoveryState recovery(JsonNode wanted, String name) {
        return LeaderRecoveryState.of((byte) wanted.get(name).asInt());
    }

    private static List<Integer> list(JsonNode wanted, String name) {
        List<Integer> brokers = new ArrayList<>();
        for (JsonNode broker : Peer.required(wanted, name)) {
            brokers.add(broker.asInt());
        }
        return brokers;
    }

    private static int[] array(JsonNode wanted, String name) {
        return list(wanted, name).stream().mapToInt(Integer::intValue).toArray();
    }
}
