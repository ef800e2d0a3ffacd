package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.Resource;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** What Apache Kafka's own Admin client says of a cluster, and the changes tests prepare with. */
final class Clusters {
    private static final int TIMEOUT_MS = 30_000;

    /** One client a cluster, kept: starting one costs more than most calls. */
    private final Map<String, Admin> admins = new HashMap<>();

    void register(Map<String, Peer.Op> ops) {
        ops.put("brokers", this::brokers);
        ops.put("quorum", this::quorum);
        ops.put("topics", this::topics);
        ops.put("create_topic", this::createTopic);
        ops.put("delete_topics", this::deleteTopics);
        ops.put("configure", this::configure);
        ops.put("reassign", this::reassign);
        ops.put("acls", this::acls);
    }

    /** The brokers that are alive, and the node that brokers name as their controller. */
    private JsonNode brokers(JsonNode args) throws Exception {
        var result = admin(args).describeCluster();
        ObjectNode out = Peer.NODES.objectNode();
        TreeSet<Integer> ids = new TreeSet<>();
        for (Node node : get(result.nodes())) {
            ids.add(node.id());
        }
        ArrayNode alive = out.putArray("alive");
        ids.forEach(alive::add);
        out.put("controller", get(result.controller()).id());
        return out;
    }

    private JsonNode quorum(JsonNode args) throws Exception {
        QuorumInfo info = get(admin(args).describeMetadataQuorum().quorumInfo());
        ObjectNode out = Peer.NODES.objectNode();
        out.put("leader", info.leaderId());
        out.put("epoch", info.leaderEpoch());
        out.put("high_watermark", info.highWatermark());
        return out;
    }

    /** The partitions of {@code topics}, or of all, with leader (-1 for none), ISR and ELR. */
    private JsonNode topics(JsonNode args) throws Exception {
        Admin admin = admin(args);
        Collection<String> names = new ArrayList<>();
        if (args.has("topics")) {
            args.get("topics").forEach(topic -> names.add(topic.asText()));
        } else {
            names.addAll(get(admin.listTopics().names()));
        }
        ArrayNode out = Peer.NODES.arrayNode();
        Map<String, TopicDescription> topics =
            new TreeMap<>(get(admin.describeTopics(names).allTopicNames()));
        for (TopicDescription topic : topics.values()) {
            for (TopicPartitionInfo partition : topic.partitions()) {
                ObjectNode row = out.addObject();
                row.put("topic", topic.name());
                row.put("partition", partition.partition());
                row.put("leader", partition.leader() == null ? -1 : partition.leader().id());
                ids(row.putArray("replicas"), partition.replicas());
                ids(row.putArray("isr"), partition.isr());
                ids(row.putArray("elr"), partition.elr());
                ids(row.putArray("last_known_elr"), partition.lastKnownElr());
            }
        }
        return out;
    }

    /** {@code topic}, {@code replicas} as one list a partition, {@code configs}. */
    private JsonNode createTopic(JsonNode args) throws Exception {
        String name = Peer.required(args, "topic").asText();
        NewTopic topic;
        if (args.has("replicas")) {
            Map<Integer, List<Integer>> assignment = new TreeMap<>();
            for (JsonNode replicas : args.get("replicas")) {
                List<Integer> ids = new ArrayList<>();
                replicas.forEach(id -> ids.add(id.asInt()));
                assignment.put(assignment.size(), ids);
            }
            topic = new NewTopic(name, assignment);
        } else {
            topic = new NewTopic(
                name,
                Peer.required(args, "partitions").asInt(),
                (short) Peer.required(args, "replication").asInt());
        }
        Map<String, String> configs = new HashMap<>();
        args.path("configs").properties().forEach(
            entry -> configs.put(entry.getKey(), entry.getValue().asText()));
        get(admin(args).createTopics(List.of(topic.configs(configs))).all());
        return Peer.NODES.nullNode();
    }

    private JsonNode deleteTopics(JsonNode args) throws Exception {
        List<String> names = new ArrayList<>();
        Peer.required(args, "topics").forEach(topic -> names.add(topic.asText()));
        get(admin(args).deleteTopics(names).all());
        return Peer.NODES.nullNode();
    }

    /** Sets {@code configs} of a {@code topic}, or of a {@code broker} ("" is all of them). */
    private JsonNode configure(JsonNode args) throws Exception {
        ConfigResource resource = args.has("topic")
            ? new ConfigResource(ConfigResource.Type.TOPIC, args.get("topic").asText())
            : new ConfigResource(ConfigResource.Type.BROKER, args.get("broker").asText());
        List<AlterConfigOp> changes = new ArrayList<>();
        Peer.required(args, "configs").properties().forEach(entry -> changes.add(
            new AlterConfigOp(
                new ConfigEntry(entry.getKey(), entry.getValue().asText()),
                AlterConfigOp.OpType.SET)));
        get(admin(args).incrementalAlterConfigs(Map.of(resource, changes)).all());
        return Peer.NODES.nullNode();
    }

    /** Moves {@code partition} of {@code topic} to {@code replicas}. */
    private JsonNode reassign(JsonNode args) throws Exception {
        List<Integer> replicas = new ArrayList<>();
        Peer.required(args, "replicas").forEach(id -> replicas.add(id.asInt()));
        TopicPartition partition = new TopicPartition(
            Peer.required(args, "topic").asText(), Peer.required(args, "partition").asInt());
        get(admin(args).alterPartitionReassignments(Map.of(
            partition, java.util.Optional.of(new NewPartitionReassignment(replicas)))).all());
        return Peer.NODES.nullNode();
    }

    /** Gives everyone {@code permissions} on the cluster, a map from operations to allow or deny. */
    private JsonNode acls(JsonNode args) throws Exception {
        ResourcePattern cluster = new ResourcePattern(
            ResourceType.CLUSTER, Resource.CLUSTER_NAME, PatternType.LITERAL);
        List<AclBinding> acls = new ArrayList<>();
        Peer.required(args, "permissions").properties().forEach(entry -> {
            AclOperation operation = AclOperation.fromString(entry.getKey());
            AclPermissionType permission = AclPermissionType.fromString(entry.getValue().asText());
            acls.add(new AclBinding(
                cluster, new AccessControlEntry("User:*", "*", operation, permission)));
        });
        // One request: after an ACL that leaves ALTER out, a second one would be refused.
        get(admin(args).createAcls(acls).all());
        return Peer.NODES.nullNode();
    }

    private Admin admin(JsonNode args) {
        return admins.computeIfAbsent(key(args), bootstrap -> Admin.create(Map.of(
            args.path("controllers").asBoolean()
                ? AdminClientConfig.BOOTSTRAP_CONTROLLERS_CONFIG
                : AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap,
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 10_000,
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, TIMEOUT_MS,
            AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 200)));
    }

    private static String key(JsonNode args) {
        return Peer.required(args, "bootstrap").asText();
    }

    private static void ids(ArrayNode out, List<Node> nodes) {
        if (nodes != null) {
            nodes.forEach(node -> out.add(node.id()));
        }
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        try {
            return future.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
