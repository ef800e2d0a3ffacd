package org.apache.kafka.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.AbstractMap.SimpleEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import kafka.server.ControllerConfigurationValidator;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.BrokerIdNotRegisteredException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.FeatureLevelRecord;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.apache.kafka.server.common.KRaftVersion;
import org.apache.kafka.server.config.DefaultSupportedConfigChecker;
import org.apache.kafka.timeline.SnapshotRegistry;

/**
 * The parts of Apache Kafka's controller that keep configs and features, driven through a history of
 * requests. They are visible in this package alone.
 */
public final class Managers {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private final Set<String> topics = new HashSet<>();
    private final Set<Integer> nodes = new HashSet<>();
    private final FeatureControlManager features;
    private final ConfigurationControlManager configs;

    private Managers(JsonNode cluster) {
        int id = cluster.get("node").asInt();
        cluster.get("topics").forEach(topic -> topics.add(topic.asText()));
        nodes.add(id);
        List<Integer> voters = new ArrayList<>();
        cluster.get("voters").forEach(voter -> voters.add(voter.asInt()));
        Map<Integer, Map<String, VersionRange>> brokers = supported(cluster.get("brokers"));
        Map<Integer, Map<String, VersionRange>> controllers =
            supported(cluster.get("controllers"));
        nodes.addAll(brokers.keySet());
        nodes.addAll(voters);
        SnapshotRegistry registry =
            new SnapshotRegistry(new org.apache.kafka.common.utils.internals.LogContext());
        features = new FeatureControlManager.Builder()
            .setSnapshotRegistry(registry)
            .setQuorumFeatures(new QuorumFeatures(
                id, QuorumFeatures.defaultSupportedFeatureMap(false), voters))
            .setClusterFeatureSupportDescriber(new ClusterFeatureSupportDescriber() {
                @Override
                public Iterator<Map.Entry<Integer, Map<String, VersionRange>>> brokerSupported() {
                    return brokers.entrySet().iterator();
                }

                @Override
                public Iterator<Map.Entry<Integer, Map<String, VersionRange>>>
                        controllerSupported() {
                    return controllers.entrySet().iterator();
                }
            })
            .setKRaftVersionAccessor(new KRaftVersionAccessor() {
                @Override
                public KRaftVersion kraftVersion() {
                    return KRaftVersion.LATEST_PRODUCTION;
                }

                @Override
                public void upgradeKRaftVersion(int epoch, KRaftVersion version, boolean validate) {
                    throw new UnsupportedOperationException("kraft.version is not tried here");
                }
            })
            .build();
        Map<String, Object> properties = properties(cluster.get("properties"));
        KafkaConfig config = new KafkaConfig(properties);
        configs = new ConfigurationControlManager.Builder()
            .setSnapshotRegistry(registry)
            .setKafkaConfigSchema(KafkaRaftServer.configSchema())
            .setExistenceChecker(this::checkExists)
            .setValidator(new ControllerConfigurationValidator(config))
            .setStaticConfig(config.originals())
            .setNodeId(id)
            .setFeatureControl(features)
            .setSupportedConfigChecker(new DefaultSupportedConfigChecker())
            .build();
        cluster.get("features").properties().forEach(feature -> replay(new FeatureLevelRecord()
            .setName(feature.getKey())
            .setFeatureLevel((short) feature.getValue().asInt())));
        cluster.get("configs").forEach(stored -> replay(new ConfigRecord()
            .setResourceType((byte) stored.get(0).asInt())
            .setResourceName(stored.get(1).asText())
            .setName(stored.get(2).asText())
            .setValue(stored.get(3).textValue())));
    }

    /** Answers and records of each step; the records take effect before the next one. */
    public static JsonNode run(JsonNode args) {
        Managers managers = new Managers(args.get("cluster"));
        ArrayNode answers = NODES.arrayNode();
        for (JsonNode step : args.get("steps")) {
            ObjectNode answer = answers.addObject();
            try {
                managers.carryOut(step, answer);
            } catch (RuntimeException e) {
                answer.put("thrown", e.toString());
            }
        }
        return answers;
    }

    private void carryOut(JsonNode step, ObjectNode answer) {
        boolean forwarded = step.path("forwarded").asBoolean();
        switch (step.get("do").asText()) {
            case "incremental" -> finish(
                configs.incrementalAlterConfigs(incremental(step), false, forwarded),
                step, answer, Managers::byResource);
            case "legacy" -> finish(
                configs.legacyAlterConfigs(legacy(step), false, forwarded),
                step, answer, Managers::byResource);
            case "features" -> finish(update(step), step, answer, error -> {
                ArrayNode results = NODES.arrayNode();
                results.addArray().add("features").add("").add(error(error));
                return results;
            });
            default -> throw new IllegalArgumentException("unknown step " + step);
        }
    }

    private ControllerResult<ApiError> update(JsonNode step) {
        Map<String, Short> levels = new LinkedHashMap<>();
        Map<String, FeatureUpdate.UpgradeType> types = new HashMap<>();
        for (JsonNode update : step.get("updates")) {
            levels.put(update.get(0).asText(), (short) update.get(1).asInt());
            types.put(update.get(0).asText(),
                FeatureUpdate.UpgradeType.fromCode(update.get(2).asInt()));
        }
        return configs.updateFeatures(levels, types, step.path("validate_only").asBoolean(), 1);
    }

    private <T> void finish(
        ControllerResult<T> result,
        JsonNode step,
        ObjectNode answer,
        java.util.function.Function<T, JsonNode> written
    ) {
        answer.set("results", written.apply(result.response()));
        ArrayNode records = answer.putArray("records");
        if (step.path("validate_only").asBoolean()) {
            return;
        }
        for (ApiMessageAndVersion record : result.records()) {
            records.add(MetadataJsonConverters.writeJson(record.message(), record.version()));
            replay(record.message());
        }
    }

    private void replay(ApiMessage record) {
        if (record instanceof ConfigRecord config) {
            configs.replay(config);
        } else if (record instanceof FeatureLevelRecord feature) {
            features.replay(feature);
        }
    }

    private void checkExists(ConfigResource resource) {
        String name = resource.name();
        switch (resource.type()) {
            case BROKER -> {
                if (!name.isEmpty() && !nodes.contains(Integer.parseInt(name))) {
                    throw new BrokerIdNotRegisteredException("No node with id " + name + " found.");
                }
            }
            case TOPIC -> {
                if (!topics.contains(name)) {
                    throw new UnknownTopicOrPartitionException(
                        "The topic '" + name + "' does not exist.");
                }
            }
            default -> { }
        }
    }

    private static Map<ConfigResource, Map<String, Map.Entry<OpType, String>>> incremental(
        JsonNode step
    ) {
        Map<ConfigResource, Map<String, Map.Entry<OpType, String>>> changes =
            new LinkedHashMap<>();
        for (JsonNode resource : step.get("resources")) {
            Map<String, Map.Entry<OpType, String>> ops = new LinkedHashMap<>();
            for (JsonNode op : resource.get(2)) {
                ops.put(op.get(0).asText(), new SimpleEntry<>(
                    OpType.forId((byte) op.get(1).asInt()), op.get(2).textValue()));
            }
            changes.put(resource(resource), ops);
        }
        return changes;
    }

    private static Map<ConfigResource, Map<String, String>> legacy(JsonNode step) {
        Map<ConfigResource, Map<String, String>> changes = new LinkedHashMap<>();
        for (JsonNode resource : step.get("resources")) {
            Map<String, String> values = new LinkedHashMap<>();
            resource.get(2).forEach(op -> values.put(op.get(0).asText(), op.get(2).textValue()));
            changes.put(resource(resource), values);
        }
        return changes;
    }

    private static ConfigResource resource(JsonNode resource) {
        return new ConfigResource(
            ConfigResource.Type.forId((byte) resource.get(0).asInt()), resource.get(1).asText());
    }

    private static JsonNode byResource(Map<ConfigResource, ApiError> results) {
        ArrayNode list = NODES.arrayNode();
        results.forEach((resource, error) -> list.addArray()
            .add(resource.type().id()).add(resource.name()).add(error(error)));
        return list;
    }

    private static JsonNode error(ApiError error) {
        return NODES.arrayNode().add(error.error().code()).add(error.message());
    }

    private static Map<String, Object> properties(JsonNode given) {
        Map<String, Object> properties = new HashMap<>();
        given.properties().forEach(key -> properties.put(key.getKey(), key.getValue().asText()));
        properties.put("process.roles", "controller");
        properties.put("node.id", "100");
        properties.put("controller.quorum.voters", "100@localhost:1");
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listeners", "CONTROLLER://localhost:1");
        return properties;
    }

    private static Map<Integer, Map<String, VersionRange>> supported(JsonNode given) {
        Map<Integer, Map<String, VersionRange>> nodes = new TreeMap<>();
        given.properties().forEach(node -> {
            Map<String, VersionRange> ranges = new HashMap<>();
            node.getValue().properties().forEach(range -> ranges.put(range.getKey(), VersionRange.of(
                (short) range.getValue().get(0).asInt(), (short) range.getValue().get(1).asInt())));
            nodes.put(Integer.parseInt(node.getKey()), ranges);
        });
        return nodes;
    }
}
