package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.apache.kafka.common.protocol.Message;

/** Every message of Apache Kafka: the schema in its jar, and the class generated from it. */
final class Catalog {
    private static final List<String> PACKAGES = List.of(
        "org.apache.kafka.common.message",
        "org.apache.kafka.common.metadata",
        "org.apache.kafka.coordinator.group.generated",
        "org.apache.kafka.coordinator.share.generated",
        "org.apache.kafka.coordinator.transaction.generated",
        "org.apache.kafka.raft.generated",
        "org.apache.kafka.server.log.remote.metadata.storage.generated");

    private final Map<String, Entry> entries = new TreeMap<>();

    /** A message: its schema, and the class, which is null where no version is valid. */
    record Entry(
        String name, byte[] text, JsonNode schema, String jar, Class<? extends Message> type) {
        Versions versions() {
            return Versions.parse(schema.get("validVersions"));
        }

        Versions flexible() {
            return Versions.parse(schema.get("flexibleVersions"));
        }
    }

    static Catalog load() {
        Catalog catalog = new Catalog();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            String file = new File(path).getName();
            if (file.startsWith("kafka") && file.endsWith(".jar")) {
                catalog.read(path);
            }
        }
        return catalog;
    }

    Collection<Entry> all() {
        return entries.values();
    }

    Entry entry(String name) {
        Entry entry = entries.get(name);
        if (entry == null || entry.type() == null) {
            throw new IllegalArgumentException("Apache Kafka has no message " + name);
        }
        return entry;
    }

    private void read(String path) {
        try (JarFile jar = new JarFile(path)) {
            for (Enumeration<JarEntry> e = jar.entries(); e.hasMoreElements(); ) {
                JarEntry file = e.nextElement();
                if (!file.getName().matches("(common/)?(message|metadata)/\\w+\\.json")) {
                    continue;
                }
                try (InputStream in = jar.getInputStream(file)) {
                    byte[] text = in.readAllBytes();
                    JsonNode schema = Peer.JSON.readTree(text);
                    String name = schema.get("name").asText();
                    Entry entry =
                        new Entry(name, text, schema, new File(path).getName(), type(schema));
                    if (entries.put(name, entry) != null) {
                        throw new IllegalStateException("two schemas are called " + name);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Class<? extends Message> type(JsonNode schema) {
        String suffix = switch (schema.get("type").asText()) {
            case "request", "response", "header" -> "Data";
            default -> "";
        };
        for (String in : PACKAGES) {
            try {
                return Class.forName(in + "." + schema.get("name").asText() + suffix)
                    .asSubclass(Message.class);
            } catch (ClassNotFoundException e) {
                // The next package may have it.
            }
        }
        if (Versions.parse(schema.get("validVersions")).isEmpty()) {
            return null;
        }
        throw new IllegalStateException("no class for " + schema.get("name"));
    }
}
