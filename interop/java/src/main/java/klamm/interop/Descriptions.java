package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import kafka.server.ConfigHelper;
import kafka.server.KafkaConfig;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.DescribeClientQuotasRequestDataJsonConverter;
import org.apache.kafka.common.message.DescribeClientQuotasResponseDataJsonConverter;
import org.apache.kafka.common.message.DescribeConfigsRequestData;
import org.apache.kafka.common.message.DescribeConfigsRequestDataJsonConverter;
import org.apache.kafka.common.message.DescribeConfigsResponseData;
import org.apache.kafka.common.message.DescribeConfigsResponseDataJsonConverter;
import org.apache.kafka.common.message.DescribeUserScramCredentialsRequestDataJsonConverter;
import org.apache.kafka.common.message.DescribeUserScramCredentialsResponseDataJsonConverter;
import org.apache.kafka.common.metadata.MetadataJsonConverters;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.KRaftMetadataCache;
import org.apache.kafka.server.common.KRaftVersion;
import scala.jdk.javaapi.CollectionConverters;

/** What Apache Kafka's nodes say of the metadata that some records make. */
final class Descriptions {
    private static final short CONFIGS = 4;
    private static final short QUOTAS = 1;
    private static final short SCRAM = 0;

    void register(Map<String, Peer.Op> ops) {
        ops.put("describe", Descriptions::describe);
    }

    /** The answers to {@code asked}, each {@code [what, request]}, after {@code records}. */
    private static JsonNode describe(JsonNode args) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        for (JsonNode record : Peer.required(args, "records")) {
            delta.replay(MetadataJsonConverters.readJson(
                record.get(1), (short) record.get(0).asInt(), (short) 0));
        }
        KRaftMetadataCache cache = new KRaftMetadataCache(100, () -> KRaftVersion.KRAFT_VERSION_1);
        cache.setImage(delta.apply(MetadataProvenance.EMPTY));
        ConfigHelper configs = new ConfigHelper(cache, config(args, cache), cache);
        ArrayNode answers = Peer.NODES.arrayNode();
        for (JsonNode asked : Peer.required(args, "asked")) {
            answers.add(answer(asked.get(0).asText(), asked.get(1), configs, cache));
        }
        return answers;
    }

    private static JsonNode answer(
        String what, JsonNode request, ConfigHelper configs, KRaftMetadataCache cache
    ) {
        return switch (what) {
            case "configs" -> {
                DescribeConfigsRequestData data =
                    DescribeConfigsRequestDataJsonConverter.read(request, CONFIGS);
                DescribeConfigsResponseData response = new DescribeConfigsResponseData();
                response.setResults(new ArrayList<>(CollectionConverters.asJava(
                    configs.describeConfigs(
                        CollectionConverters.asScala(data.resources()).toList(),
                        data.includeSynonyms(),
                        false))));
                yield DescribeConfigsResponseDataJsonConverter.write(response, CONFIGS);
            }
            case "quotas" -> DescribeClientQuotasResponseDataJsonConverter.write(
                cache.describeClientQuotas(
                    DescribeClientQuotasRequestDataJsonConverter.read(request, QUOTAS)), QUOTAS);
            case "scram" -> DescribeUserScramCredentialsResponseDataJsonConverter.write(
                cache.describeScramCredentials(
                    DescribeUserScramCredentialsRequestDataJsonConverter.read(request, SCRAM)),
                SCRAM);
            default -> throw new IllegalArgumentException("nobody describes " + what);
        };
    }

    private static KafkaConfig config(JsonNode args, KRaftMetadataCache cache) {
        Map<String, Object> properties = new HashMap<>();
        Peer.required(args, "properties").properties()
            .forEach(line -> properties.put(line.getKey(), line.getValue().asText()));
        KafkaConfig config = new KafkaConfig(properties);
        config.dynamicConfig().initialize(scala.Option.empty());
        config.dynamicConfig().updateDefaultConfig(of(cache, ""), false);
        config.dynamicConfig().updateBrokerConfig(100, of(cache, "100"), false);
        return config;
    }

    private static java.util.Properties of(KRaftMetadataCache cache, String node) {
        return cache.config(new ConfigResource(ConfigResource.Type.BROKER, node));
    }
}
