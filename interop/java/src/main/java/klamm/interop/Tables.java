package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

/** The tables that Apache Kafka's own code holds. */
final class Tables {
    private final Catalog catalog;

    Tables(Catalog catalog) {
        this.catalog = catalog;
    }

    void register(Map<String, Peer.Op> ops) {
        ops.put("apis", args -> apis());
        ops.put("errors", args -> errors());
        ops.put("messages", args -> messages());
        ops.put("schemas", this::schemas);
    }

    private static JsonNode apis() {
        ArrayNode out = Peer.NODES.arrayNode();
        for (ApiMessageType type : ApiMessageType.values()) {
            ApiKeys key = ApiKeys.forId(type.apiKey());
            ObjectNode api = out.addObject();
            api.put("key", type.apiKey());
            api.put("name", type.name);
            short min = type.lowestSupportedVersion();
            short max = type.highestSupportedVersion(true);
            api.put("min", min);
            api.put("max", max);
            api.put("stable_max", type.highestSupportedVersion(false));
            ArrayNode request = api.putArray("request_headers");
            ArrayNode response = api.putArray("response_headers");
            for (short version = min; version <= max; version++) {
                request.add(type.requestHeaderVersion(version));
                response.add(type.responseHeaderVersion(version));
            }
            ArrayNode listeners = api.putArray("listeners");
            type.listeners().forEach(l -> listeners.add(l.name().toLowerCase(Locale.ROOT)));
            api.put("cluster_action", key.clusterAction);
            api.put("forwardable", key.forwardable);
        }
        return out;
    }

    private static JsonNode errors() {
        ArrayNode out = Peer.NODES.arrayNode();
        for (Errors error : Errors.values()) {
            ObjectNode row = out.addObject();
            row.put("code", error.code());
            row.put("name", error.name());
            row.put("retriable", error.exception() instanceof RetriableException);
            row.put("invalid_metadata", error.exception() instanceof InvalidMetadataException);
        }
        return out;
    }

    /** Every schema in the jars: its kind, versions, and the jar it is in. */
    private JsonNode messages() {
        ArrayNode out = Peer.NODES.arrayNode();
        for (Catalog.Entry entry : catalog.all()) {
            ObjectNode message = out.addObject();
            message.put("name", entry.name());
            message.put("kind", entry.schema().get("type").asText());
            message.put("min", entry.versions().min());
            message.put("max", entry.versions().max());
            message.put("jar", entry.jar());
            if (entry.schema().has("apiKey")) {
                message.put("key", entry.schema().get("apiKey").asInt());
            }
        }
        return out;
    }

    /** Writes every schema file into the directory {@code dir}, byte for byte as its jar has it. */
    private JsonNode schemas(JsonNode args) throws IOException {
        Path dir = Path.of(Peer.required(args, "dir").asText());
        for (Catalog.Entry entry : catalog.all()) {
            Files.write(dir.resolve(entry.name() + ".json"), entry.text());
        }
        return Peer.NODES.nullNode();
    }
}
