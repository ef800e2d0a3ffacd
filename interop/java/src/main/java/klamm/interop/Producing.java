package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;

/**
 * Idempotent producers, one a topic, that go on while brokers come and go, and a reader that looks
 * whether what was acknowledged is there: once, and in the order in which it was sent.
 */
final class Producing {
    private static final int MOST_IN_FLIGHT = 200;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long DEADLINE_MS = 60_000;
    private static final int DELIVERY_MS = 600_000;

    private final Map<String, Run> runs = new HashMap<>();

    void register(Map<String, Peer.Op> ops) {
        ops.put("produce_start", args -> {
            Run run = new Run(
                Peer.required(args, "bootstrap").asText(),
                topic(args),
                args.path("pause_ms").asInt(1),
                args.path("bytes").asInt(0));
            if (runs.putIfAbsent(topic(args), run) != null) {
                throw new IllegalStateException("it produces already");
            }
            run.start();
            return Peer.NODES.nullNode();
        });
        ops.put("produce_count", args ->
            Peer.NODES.numberNode(runs.get(topic(args)).acknowledged.size()));
        ops.put("produce_stop", args -> runs.remove(topic(args)).finish());
    }

    private static String topic(JsonNode args) {
        return Peer.required(args, "topic").asText();
    }

    private static final class Run extends Thread {
        private final Map<String, Object> client;
        private final String topic;
        /** Between two records: a steady load, and not as much as the machine can take. */
        private final int pauseMs;
        /** What each record has beside its number. */
        private final byte[] more;
        private final Set<Long> acknowledged = new ConcurrentSkipListSet<>();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private volatile boolean stopping;

        Run(String bootstrap, String topic, int pauseMs, int bytes) {
            super("producing");
            setDaemon(true);
            this.client = Map.of("bootstrap.servers", bootstrap);
            this.topic = topic;
            this.pauseMs = pauseMs;
            this.more = new byte[bytes];
        }

        @Override
        public void run() {
            Map<String, Object> config = new HashMap<>(client);
            config.put("acks", "all");
            config.put("enable.idempotence", "true");
            config.put("delivery.timeout.ms", DELIVERY_MS);
            Semaphore inFlight = new Semaphore(MOST_IN_FLIGHT);
            try (Producer<Long, Long> producer =
                    new KafkaProducer<>(config, new LongSerializer(), new LongSerializer())) {
                int partitions = producer.partitionsFor(topic).size();
                // A broker takes the first batch of a producer whatever its sequence. Of several in
                // flight one that hears of a new topic late would refuse the first, and take the next.
                for (long number = 0; number < partitions; number++) {
                    producer.send(record(number, partitions)).get();
                    acknowledged.add(number);
                }
                for (long number = partitions; !stopping && failure.get() == null; number++) {
                    long sent = number;
                    inFlight.acquire();
                    producer.send(
                        record(sent, partitions),
                        (metadata, error) -> {
                            inFlight.release();
                            if (error == null) {
                                acknowledged.add(sent);
                            } else {
                                failure.compareAndSet(null, error);
                            }
                        });
                    Thread.sleep(pauseMs);
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }

        private ProducerRecord<Long, Long> record(long number, int partitions) {
            ProducerRecord<Long, Long> record =
                new ProducerRecord<>(topic, (int) (number % partitions), number, number);
            record.headers().add("more", more);
            return record;
        }

        JsonNode finish() throws Exception {
            stopping = true;
            join();
            if (failure.get() != null) {
                throw new IllegalStateException("a record failed", failure.get());
            }
            ObjectNode out = Peer.NODES.objectNode();
            out.put("acknowledged", acknowledged.size());
            return read(out);
        }

        private ObjectNode read(ObjectNode out) {
            Set<Long> seen = new HashSet<>();
            Map<Integer, Long> last = new HashMap<>();
            long twice = 0;
            long outOfOrder = 0;
            try (Consumer<Long, Long> consumer = new KafkaConsumer<>(
                    client, new LongDeserializer(), new LongDeserializer())) {
                List<TopicPartition> partitions = new ArrayList<>();
                for (PartitionInfo info : consumer.partitionsFor(topic)) {
                    partitions.add(new TopicPartition(topic, info.partition()));
                }
                consumer.assign(partitions);
                consumer.seekToBeginning(partitions);
                Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
                long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
                while (ends.entrySet().stream().anyMatch(
                        end -> consumer.position(end.getKey()) < end.getValue())) {
                    if (System.nanoTime() > deadline) {
                        throw new IllegalStateException("the records could not be read in time");
                    }
                    for (ConsumerRecord<Long, Long> record : consumer.poll(POLL)) {
                        twice += seen.add(record.value()) ? 0 : 1;
                        Long before = last.put(record.partition(), record.value());
                        outOfOrder += before != null && before > record.value() ? 1 : 0;
                    }
                }
            }
            out.put("read", seen.size());
            out.put("missing", acknowledged.stream().filter(number -> !seen.contains(number)).count());
            out.put("twice", twice);
            out.put("out_of_order", outOfOrder);
            return out;
        }
    }
}
