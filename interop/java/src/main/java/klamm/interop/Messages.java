package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/** Messages between bytes, Java objects and JSON, all by Apache Kafka's own code. */
final class Messages {
    private final Catalog catalog;

    Messages(Catalog catalog) {
        this.catalog = catalog;
    }

    void register(Map<String, Peer.Op> ops) {
        ops.put("random", this::random);
        ops.put("smallest", this::smallest);
        ops.put("decode", this::decode);
        ops.put("recode", this::recode);
    }

    /** {@code message, version, seed, count} gives the bytes of random instances. */
    private JsonNode random(JsonNode args) throws Exception {
        long seed = Peer.required(args, "seed").asLong();
        int count = Peer.required(args, "count").asInt();
        ArrayNode answer = Peer.NODES.arrayNode();
        for (int i = 0; i < count; i++) {
            answer.add(instance(args, new RandomSource(seed + i)));
        }
        return answer;
    }

    /** {@code message, version} gives the bytes of the smallest instance. */
    private JsonNode smallest(JsonNode args) throws Exception {
        return Peer.NODES.textNode(instance(args, new SmallestSource()));
    }

    private String instance(JsonNode args, Instances.Source source) throws Exception {
        short version = version(args);
        Message message = new Instances(entry(args), version, source).fill();
        return Peer.HEX.formatHex(write(message, version));
    }

    /** {@code message, version, bytes} gives, of each, its JSON, its bytes again, and what was left. */
    private JsonNode decode(JsonNode args) throws Exception {
        Catalog.Entry entry = entry(args);
        short version = version(args);
        ArrayNode answers = Peer.NODES.arrayNode();
        for (JsonNode bytes : Peer.required(args, "bytes")) {
            ByteBuffer buffer = ByteBuffer.wrap(Peer.HEX.parseHex(bytes.asText()));
            Message message = read(entry, buffer, version);
            ObjectNode answer = answers.addObject();
            answer.put("left", buffer.remaining());
            answer.put("bytes", Peer.HEX.formatHex(write(message, version)));
            answer.set("json", json(entry, message, version));
        }
        return answers;
    }

    /**
     * {@code message, version, to, bytes} gives, of each, the bytes in version {@code to}, or null
     * where that version cannot carry the value.
     */
    private JsonNode recode(JsonNode args) throws Exception {
        Catalog.Entry entry = entry(args);
        short to = (short) Peer.required(args, "to").asInt();
        ArrayNode answers = Peer.NODES.arrayNode();
        for (JsonNode bytes : Peer.required(args, "bytes")) {
            ByteBuffer buffer = ByteBuffer.wrap(Peer.HEX.parseHex(bytes.asText()));
            Message message = read(entry, buffer, version(args));
            try {
                answers.add(Peer.HEX.formatHex(write(message, to)));
            } catch (UnsupportedVersionException | NullPointerException e) {
                // Kafka checks fields that a version lacks, and trips over null where none may be.
                answers.addNull();
            }
        }
        return answers;
    }

    private Catalog.Entry entry(JsonNode args) {
        return catalog.entry(Peer.required(args, "message").asText());
    }

    private static short version(JsonNode args) {
        return (short) Peer.required(args, "version").asInt();
    }

    private static Message read(Catalog.Entry entry, ByteBuffer buffer, short version)
        throws ReflectiveOperationException {
        Message message = entry.type().getConstructor().newInstance();
        message.read(new ByteBufferAccessor(buffer), version);
        return message;
    }

    private static byte[] write(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(message.getClass() + " wrote less than its size");
        }
        return buffer.array();
    }

    /** Records are only counted; their bytes are in the bytes. */
    private static JsonNode json(Catalog.Entry entry, Message message, short version)
        throws Exception {
        Method write = converter(entry)
            .getMethod("write", entry.type(), short.class, boolean.class);
        return (JsonNode) call(write, message, version, false);
    }

    private static Class<?> converter(Catalog.Entry entry) throws ClassNotFoundException {
        return Class.forName(entry.type().getName() + "JsonConverter");
    }

    private static Object call(Method method, Object... args) throws Exception {
        try {
            return method.invoke(null, args);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }
}
