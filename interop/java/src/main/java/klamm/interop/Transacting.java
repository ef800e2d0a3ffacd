package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.LongSerializer;

/**
 * A producer whose transactions write the same number to every partition of a topic, and two
 * members of a consumer group that read what is committed, while brokers come and go. The group has
 * to see each number that was committed in every partition, and none that was aborted.
 */
final class Transacting {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long DEADLINE_MS = 120_000;
    /** Of so many transactions the last one is aborted. */
    private static final int ABORTED_OF = 5;

    private Run run;

    void register(Map<String, Peer.Op> ops) {
        ops.put("transactions_start", args -> {
            if (run != null) {
                throw new IllegalStateException("there are transactions already");
            }
            run = new Run(
                Peer.required(args, "bootstrap").asText(),
                Peer.required(args, "topic").asText(),
                Peer.required(args, "partitions").asInt());
            run.start();
            return Peer.NODES.nullNode();
        });
        ops.put("transactions_count", args -> run.counts());
        ops.put("transactions_stop", args -> {
            Run stopped = run;
            run = null;
            return stopped.finish();
        });
    }

    private static final class Run {
        private final String bootstrap;
        private final String topic;
        private final int partitions;
        private final Set<Long> committed = ConcurrentHashMap.newKeySet();
        private final Set<Long> aborted = ConcurrentHashMap.newKeySet();
        /** By partition. */
        private final List<Set<Long>> seen = new ArrayList<>();
        private final AtomicInteger offsetsCommitted = new AtomicInteger();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private final Thread producing = thread("transactions", this::produce);
        private final List<Thread> members = List.of(
            thread("first member", this::consume), thread("second member", this::consume));
        private volatile boolean stopping;
        private volatile boolean allSeen;

        Run(String bootstrap, String topic, int partitions) {
            this.bootstrap = bootstrap;
            this.topic = topic;
            this.partitions = partitions;
            for (int i = 0; i < partitions; i++) {
                seen.add(ConcurrentHashMap.newKeySet());
            }
        }

        void start() {
            producing.start();
            members.forEach(Thread::start);
        }

        ObjectNode counts() {
            if (failure.get() != null) {
                throw new IllegalStateException("a client failed", failure.get());
            }
            ObjectNode out = Peer.NODES.objectNode();
            out.put("committed", committed.size());
            out.put("aborted", aborted.size());
            out.put("offsets_committed", offsetsCommitted.get());
            out.put("seen", seen.stream().mapToInt(Set::size).min().orElse(0));
            return out;
        }

        JsonNode finish() throws Exception {
            stopping = true;
            producing.join();
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(DEADLINE_MS);
            while (missing() > 0 && failure.get() == null && System.nanoTime() < deadline) {
                Thread.sleep(20);
            }
            allSeen = true;
            for (Thread member : members) {
                member.join();
            }
            ObjectNode out = counts();
            out.put("missing", missing());
            out.put("aborted_seen", seen.stream()
                .mapToLong(of -> of.stream().filter(aborted::contains).count()).sum());
            return out;
        }

        private long missing() {
            return seen.stream()
                .mapToLong(of -> committed.stream().filter(number -> !of.contains(number)).count())
                .sum();
        }

        private void produce() {
            try (Producer<Long, Long> producer = new KafkaProducer<>(
                    Map.of(
                        "bootstrap.servers", bootstrap,
                        "transactional.id", topic,
                        "max.block.ms", "120000"),
                    new LongSerializer(), new LongSerializer())) {
                producer.initTransactions();
                for (long number = 1; !stopping && failure.get() == null; number++) {
                    producer.beginTransaction();
                    for (int partition = 0; partition < partitions; partition++) {
                        producer.send(new ProducerRecord<>(topic, partition, number, number));
                    }
                    if (number % ABORTED_OF == 0) {
                        producer.flush();
                        aborted.add(number);
                        producer.abortTransaction();
                        continue;
                    }
                    producer.commitTransaction();
                    committed.add(number);
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }

        private void consume() {
            try (Consumer<Long, Long> consumer = new KafkaConsumer<>(
                    Map.of(
                        "bootstrap.servers", bootstrap,
                        "group.id", topic,
                        "isolation.level", "read_committed",
                        "auto.offset.reset", "earliest",
                        "enable.auto.commit", "false",
                        "default.api.timeout.ms", "120000"),
                    new LongDeserializer(), new LongDeserializer())) {
                consumer.subscribe(List.of(topic));
                while (!allSeen && failure.get() == null) {
                    var records = consumer.poll(POLL);
                    for (ConsumerRecord<Long, Long> record : records) {
                        seen.get(record.partition()).add(record.value());
                    }
                    if (!records.isEmpty()) {
                        commit(consumer);
                    }
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }

        private void commit(Consumer<Long, Long> consumer) {
            try {
                consumer.commitSync();
                offsetsCommitted.incrementAndGet();
            } catch (CommitFailedException | RebalanceInProgressException e) {
                // The partitions are another member's now, which reads from the commit before.
            }
        }

        private static Thread thread(String name, Runnable work) {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        }
    }
}
