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
 * An idempotent producer that goes on while brokers come and go, and a reader that looks whether what
 * was acknowledged is there: once, and in the order in which it was sent.
 */
final class Producing {
    private static final int MOST_IN_FLIGHT = 200;
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long DEADLINE_MS = 60_000;

    private Run run;

    void register(Map<String, Peer.Op> ops) {
        ops.put("produce_start", args -> {
            if (run != null) {
                throw new IllegalStateException("it produces already");
            }
            run = new Run(
                Peer.required(args, "bootstrap").asText(), Peer.required(args, "topic").asText());
            run.start();
            return Peer.NODES.nullNode();
        });
        ops.put("produce_count", args -> Peer.NODES.numberNode(run.acknowledged.size()));
        ops.put("produce_stop", args -> {
            Run stopped = run;
            run = null;
            return stopped.finish();
        });
    }

    private static final class Run extends Thread {
        private final Map<String, Object> client;
        private final String topic;
        private final Set<Long> acknowledged = new ConcurrentSkipListSet<>();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private volatile boolean stopping;

        Run(String bootstrap, String topic) {
            super("producing");
            setDaemon(true);
            this.client = Map.of("bootstrap.servers", bootstrap);
            this.topic = topic;
        }

        @Override
        public void run() {
            Map<String, Object> config = new HashMap<>(client);
            config.put("acks", "all");
            config.put("enable.idempotence", "true");
            config.put("delivery.timeout.ms", "120000");
            Semaphore inFlight = new Semaphore(MOST_IN_FLIGHT);
            try (Producer<Long, Long> producer =
                    new KafkaProducer<>(config, new LongSerializer(), new LongSerializer())) {
                int partitions = producer.partitionsFor(topic).size();
                for (long number = 0; !stopping && failure.get() == null; number++) {
                    long sent = number;
                    inFlight.acquire();
                    producer.send(
                        new ProducerRecord<>(topic, (int) (sent % partitions), sent, sent),
                        (metadata, error) -> {
                            inFlight.release();
                            if (error == null) {
                                acknowledged.add(sent);
                            } else {
                                failure.compareAndSet(null, error);
                            }
                        });
                    // A steady load, and not as much as the machine can take.
                    Thread.sleep(1);
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
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
