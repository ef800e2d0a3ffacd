package klamm.interop;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialDeletion;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.ShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** What clients do to a cluster, so that its logs have every kind of record. */
final class Traffic {
    private static final String TOPIC = "orders";
    private static final Duration POLL = Duration.ofMillis(200);
    private static final int DEADLINE_MS = 30_000;

    void register(Map<String, Peer.Op> ops) {
        ops.put("traffic", args -> {
            new Run(Peer.required(args, "bootstrap").asText()).all();
            return Peer.NODES.nullNode();
        });
    }

    private record Run(String bootstrap) {
        void all() throws Exception {
            try (Admin admin = Admin.create(client())) {
                topics(admin);
                for (String compression : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
                    produce(compression);
                }
                transactions();
                group("classic", "billing");
                group("consumer", "shipping");
                shareGroup(admin);
                security(admin);
                quotas(admin);
            }
        }

        private void topics(Admin admin) throws Exception {
            NewTopic orders = new NewTopic(TOPIC, 2, (short) 1);
            NewTopic gone = new NewTopic("gone", 1, (short) 1);
            get(admin.createTopics(
                List.of(orders.configs(Map.of("cleanup.policy", "compact")), gone)).all());
            get(admin.createPartitions(Map.of(TOPIC, NewPartitions.increaseTo(3))).all());
            get(admin.deleteTopics(List.of("gone")).all());
            set(admin, ConfigResource.Type.TOPIC, TOPIC, "retention.ms", "86400000");
            set(admin, ConfigResource.Type.BROKER, "", "log.cleaner.threads", "1");
        }

        private void produce(String compression) {
            try (Producer<String, String> producer = producer(Map.of(
                    "compression.type", compression, "linger.ms", "50"))) {
                for (int i = 0; i < 10; i++) {
                    ProducerRecord<String, String> record = new ProducerRecord<>(
                        TOPIC, 0, "key-" + i, i == 7 ? null : compression + " value " + i);
                    record.headers().add("origin", "interop".getBytes(StandardCharsets.UTF_8));
                    producer.send(record);
                }
            }
        }

        private void transactions() throws Exception {
            try (Producer<String, String> producer =
                    producer(Map.of("transactional.id", "till-1"))) {
                producer.initTransactions();
                for (boolean commits : List.of(true, false, true)) {
                    producer.beginTransaction();
                    producer.send(new ProducerRecord<>(TOPIC, 1, "paid", String.valueOf(commits)));
                    producer.send(new ProducerRecord<>(TOPIC, 2, "paid", String.valueOf(commits)));
                    producer.flush();
                    if (commits) {
                        producer.commitTransaction();
                    } else {
                        producer.abortTransaction();
                    }
                }
            }
        }

        /** Two members, so that assignments move; offsets committed alone and in a transaction. */
        private void group(String protocol, String group) throws Exception {
            try (Consumer<String, String> first = consumer(protocol, group);
                    Consumer<String, String> second = consumer(protocol, group)) {
                int seen = 0;
                long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
                while (seen < 20 || first.assignment().isEmpty() || second.assignment().isEmpty()) {
                    if (System.nanoTime() > deadline) {
                        throw new IllegalStateException(group + " did not get its records");
                    }
                    seen += first.poll(POLL).count() + second.poll(POLL).count();
                }
                first.commitSync();
                second.commitSync();
                if (!protocol.equals("classic")) {
                    return;
                }
                try (Producer<String, String> producer =
                        producer(Map.of("transactional.id", "till-2"))) {
                    producer.initTransactions();
                    producer.beginTransaction();
                    TopicPartition partition = first.assignment().iterator().next();
                    producer.sendOffsetsToTransaction(
                        Map.of(partition, new OffsetAndMetadata(1, Optional.of(0), "by till-2")),
                        first.groupMetadata());
                    producer.commitTransaction();
                }
            }
        }

        private void shareGroup(Admin admin) throws Exception {
            set(admin, ConfigResource.Type.GROUP, "packing", "share.auto.offset.reset", "earliest");
            Map<String, Object> config = client();
            config.put("group.id", "packing");
            try (ShareConsumer<String, String> consumer = new KafkaShareConsumer<>(
                    config, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(Set.of(TOPIC));
                int seen = 0;
                long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
                while (seen < 10) {
                    if (System.nanoTime() > deadline) {
                        throw new IllegalStateException("packing did not get its records");
                    }
                    for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                        seen++;
                    }
                    consumer.commitSync();
                }
            }
        }

        private void security(Admin admin) throws Exception {
            AclBinding acl = new AclBinding(
                new ResourcePattern(ResourceType.TOPIC, TOPIC, PatternType.LITERAL),
                new AccessControlEntry(
                    "User:alice", "*", AclOperation.READ, AclPermissionType.ALLOW));
            get(admin.createAcls(List.of(acl)).all());
            get(admin.deleteAcls(List.of(acl.toFilter())).all());
            ScramCredentialInfo info =
                new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
            get(admin.alterUserScramCredentials(List.of(
                new UserScramCredentialUpsertion("alice", info, "hunter2"))).all());
            get(admin.alterUserScramCredentials(List.of(
                new UserScramCredentialDeletion("alice", ScramMechanism.SCRAM_SHA_256))).all());
        }

        private void quotas(Admin admin) throws Exception {
            ClientQuotaEntity user = new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, "alice"));
            ClientQuotaAlteration.Op op = new ClientQuotaAlteration.Op("request_percentage", 12.5);
            ClientQuotaAlteration alteration = new ClientQuotaAlteration(user, List.of(op));
            get(admin.alterClientQuotas(List.of(alteration)).all());
        }

        private static void set(
                Admin admin, ConfigResource.Type type, String resource, String name, String value)
                throws Exception {
            AlterConfigOp op = new AlterConfigOp(
                new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
            get(admin.incrementalAlterConfigs(
                Map.of(new ConfigResource(type, resource), List.of(op))).all());
        }

        private Producer<String, String> producer(Map<String, Object> more) {
            Map<String, Object> config = client();
            config.putAll(more);
            return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
        }

        private Consumer<String, String> consumer(String protocol, String group) {
            Map<String, Object> config = client();
            config.put("group.id", group);
            config.put("group.protocol", protocol);
            if (protocol.equals("classic")) {
                // With the other protocol the broker says it.
                config.put("heartbeat.interval.ms", "300");
            }
            config.put("auto.offset.reset", "earliest");
            config.put("enable.auto.commit", "false");
            Consumer<String, String> consumer = new KafkaConsumer<>(
                config, new StringDeserializer(), new StringDeserializer());
            consumer.subscribe(new ArrayList<>(List.of(TOPIC)));
            return consumer;
        }

        private Map<String, Object> client() {
            return new HashMap<>(Map.of("bootstrap.servers", bootstrap));
        }
    }

    private static <T> T get(KafkaFuture<T> future) throws Exception {
        return future.get(DEADLINE_MS, TimeUnit.MILLISECONDS);
    }
}
