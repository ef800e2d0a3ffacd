package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ElectionNotNeededException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** What an ordinary application does, with Apache Kafka's own clients: for captures. */
final class Session {
    void register(Map<String, Peer.Op> ops) {
        ops.put("session", Session::run);
    }

    /** Creates {@code topic}, elects its leaders, writes {@code records} and reads them in a group. */
    private static JsonNode run(JsonNode call) throws Exception {
        String bootstrap = Peer.required(call, "bootstrap").asText();
        String topic = Peer.required(call, "topic").asText();
        int records = Peer.required(call, "records").asInt();
        administer(bootstrap, topic);
        produce(bootstrap, topic, records);
        ObjectNode answer = Peer.NODES.objectNode();
        answer.put("consumed", consume(bootstrap, topic, records));
        return answer;
    }

    private static void administer(String bootstrap, String topic) throws Exception {
        try (Admin admin = Admin.create(properties(bootstrap, "java-admin"))) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(2), Optional.empty())))
                .all().get();
            admin.describeTopics(List.of(topic)).allTopicNames().get();
            admin.describeConfigs(List.of(new ConfigResource(ConfigResource.Type.TOPIC, topic)))
                .all().get();
            try {
                admin.electLeaders(ElectionType.PREFERRED, Set.of(new TopicPartition(topic, 0)))
                    .all().get();
            } catch (ExecutionException e) {
                // With one broker it leads already.
                if (!(e.getCause() instanceof ElectionNotNeededException)) {
                    throw e;
                }
            }
        }
    }

    private static void produce(String bootstrap, String topic, int records) throws Exception {
        for (String acks : List.of("all", "0")) {
            Map<String, Object> properties = properties(bootstrap, "java-producer-" + acks);
            properties.put("acks", acks);
            properties.put("enable.idempotence", acks.equals("all"));
            properties.put("compression.type", acks.equals("all") ? "zstd" : "none");
            properties.put("key.serializer", ByteArraySerializer.class);
            properties.put("value.serializer", ByteArraySerializer.class);
            try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
                for (int i = 0; i < records; i++) {
                    byte[] value = ("record " + i + " ").repeat(1 + i % 7)
                        .getBytes(StandardCharsets.UTF_8);
                    producer.send(new ProducerRecord<>(topic, i % 2, null, value));
                }
                producer.flush();
            }
        }
    }

    private static int consume(String bootstrap, String topic, int records) {
        Map<String, Object> properties = properties(bootstrap, "java-consumer");
        properties.put("group.id", topic + "-group");
        properties.put("auto.offset.reset", "earliest");
        properties.put("key.deserializer", ByteArrayDeserializer.class);
        properties.put("value.deserializer", ByteArrayDeserializer.class);
        int consumed = 0;
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
            consumer.subscribe(List.of(topic));
            long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
            while (consumed < 2 * records && System.nanoTime() < deadline) {
                consumed += consumer.poll(Duration.ofMillis(200)).count();
            }
            consumer.commitSync();
        }
        return consumed;
    }

    private static Map<String, Object> properties(String bootstrap, String clientId) {
        Map<String, Object> properties = new java.util.HashMap<>();
        properties.put("bootstrap.servers", bootstrap);
        properties.put("client.id", clientId);
        properties.put("enable.metrics.push", false);
        return properties;
    }
}
