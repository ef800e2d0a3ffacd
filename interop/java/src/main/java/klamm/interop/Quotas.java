package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;

/**
 * A client that sets quotas one after the other, each of another user: the smallest changes that there
 * are, of which none can be taken for another.
 */
final class Quotas {
    private static final long DEADLINE_MS = 60_000;

    private final AtomicInteger users = new AtomicInteger();
    private Run run;
    private Set<String> acknowledged = Set.of();

    void register(Map<String, Peer.Op> ops) {
        ops.put("quotas_start", args -> {
            if (run != null) {
                throw new IllegalStateException("it changes quotas already");
            }
            run = new Run(Peer.required(args, "bootstrap").asText());
            run.thread.start();
            return Peer.NODES.nullNode();
        });
        ops.put("quotas_count", args -> Peer.NODES.numberNode(run.count.get()));
        ops.put("quotas_stop", args -> {
            Run stopped = run;
            run = null;
            acknowledged = stopped.finish();
            return Peer.NODES.nullNode();
        });
        ops.put("quotas_missing", args -> missing(Peer.required(args, "bootstrap").asText()));
    }

    /** How many of the changes that were acknowledged last the brokers do not know. */
    private JsonNode missing(String bootstrap) throws Exception {
        Set<String> missing = new HashSet<>(acknowledged);
        try (Admin admin = admin(bootstrap)) {
            admin.describeClientQuotas(ClientQuotaFilter.all()).entities()
                .get(DEADLINE_MS, TimeUnit.MILLISECONDS).keySet()
                .forEach(entity -> missing.remove(entity.entries().get(ClientQuotaEntity.USER)));
        }
        return Peer.NODES.numberNode(missing.size());
    }

    private static Admin admin(String bootstrap) {
        return Admin.create(Map.of(
            "bootstrap.servers", bootstrap, "default.api.timeout.ms", (int) DEADLINE_MS));
    }

    private final class Run implements Runnable {
        private final String bootstrap;
        private final Thread thread = new Thread(this, "quotas");
        private final AtomicInteger count = new AtomicInteger();
        private final Set<String> done = new HashSet<>();
        private volatile boolean stopping;
        private Throwable failure;

        Run(String bootstrap) {
            this.bootstrap = bootstrap;
            thread.setDaemon(true);
        }

        @Override
        public void run() {
            try (Admin admin = admin(bootstrap)) {
                while (!stopping) {
                    String user = "user-" + users.incrementAndGet();
                    if (set(admin, user)) {
                        done.add(user);
                        count.incrementAndGet();
                    }
                }
            } catch (Throwable e) {
                failure = e;
            }
        }

        /** Whether it was acknowledged; without a controller it may not be within the admin's deadline. */
        private boolean set(Admin admin, String user) throws Exception {
            ClientQuotaEntity entity = new ClientQuotaEntity(Map.of(ClientQuotaEntity.USER, user));
            ClientQuotaAlteration.Op op =
                new ClientQuotaAlteration.Op("producer_byte_rate", 1_000_000.0);
            try {
                admin.alterClientQuotas(List.of(new ClientQuotaAlteration(entity, List.of(op))))
                    .all().get();
                return true;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof RetriableException) {
                    return false;
                }
                throw e;
            }
        }

        Set<String> finish() throws Exception {
            stopping = true;
            thread.join();
            if (failure != null) {
                throw new IllegalStateException("a change failed: " + failure, failure);
            }
            return done;
        }
    }
}
