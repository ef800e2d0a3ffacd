package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.record.internal.MemoryRecords;

/**
 * Fills Apache Kafka's own message classes through their setters, guided by the schema: only what a
 * version carries is set, so that its serializer accepts the result.
 */
final class Instances {
    private final Catalog.Entry entry;
    private final int version;
    private final boolean flexible;
    private final Source source;
    private final Map<String, JsonNode> structs = new HashMap<>();
    private final Class<?> top;

    Instances(Catalog.Entry entry, int version, Source source) {
        this.entry = entry;
        this.version = version;
        this.flexible = entry.flexible().contains(version);
        this.source = source;
        this.top = entry.type();
        for (JsonNode struct : entry.schema().path("commonStructs")) {
            structs.put(struct.get("name").asText(), struct.path("fields"));
        }
    }

    Message fill() throws ReflectiveOperationException {
        if (!entry.versions().contains(version)) {
            throw new IllegalArgumentException(entry.name() + " has no version " + version);
        }
        return struct(top, entry.schema().path("fields"), 0);
    }

    private Message struct(Class<?> type, JsonNode fields, int depth)
        throws ReflectiveOperationException {
        Message message = (Message) type.getConstructor().newInstance();
        TreeSet<Integer> definedTags = new TreeSet<>();
        for (JsonNode field : fields) {
            if (field.has("tag")) {
                definedTags.add(field.get("tag").asInt());
            }
            Versions tagged = Versions.parse(field.get("taggedVersions"));
            Versions versions =
                field.has("versions") ? Versions.parse(field.get("versions")) : tagged;
            boolean skipped = tagged.contains(version) && flexible && !source.setTagged();
            if (versions.contains(version) && !skipped) {
                set(message, type, field, depth);
            }
        }
        if (flexible) {
            for (RawTaggedField tag : source.unknownTags(definedTags)) {
                message.unknownTaggedFields().add(tag);
            }
        }
        return message;
    }

    private void set(Message message, Class<?> type, JsonNode field, int depth)
        throws ReflectiveOperationException {
        String name = field.get("name").asText();
        Method setter = setter(type, name);
        boolean nullable = Versions.parse(field.get("nullableVersions")).contains(version);
        Object value = nullable && source.setNull()
            ? null
            : value(field.get("type").asText(), field, setter.getParameterTypes()[0], depth);
        try {
            setter.invoke(message, value);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(
                entry.name() + " refuses " + name + " = " + value, e.getCause());
        }
    }

    private Object value(String type, JsonNode field, Class<?> java, int depth)
        throws ReflectiveOperationException {
        return switch (type) {
            case "bool" -> source.bool();
            case "int8" -> (byte) source.integer(Byte.MIN_VALUE, Byte.MAX_VALUE);
            case "int16" -> (short) source.integer(Short.MIN_VALUE, Short.MAX_VALUE);
            case "uint16" -> (int) source.integer(0, 0xffff);
            case "int32" -> (int) source.integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case "uint32" -> source.integer(0, 0xffff_ffffL);
            case "int64" -> source.integer(Long.MIN_VALUE, Long.MAX_VALUE);
            case "float64" -> source.float64();
            case "uuid" -> source.uuid();
            case "string" -> source.string();
            case "bytes" -> java == ByteBuffer.class
                ? ByteBuffer.wrap(source.bytes()) : source.bytes();
            case "records" -> MemoryRecords.readableRecords(ByteBuffer.wrap(source.bytes()));
            default -> type.startsWith("[]")
                ? array(type.substring(2), field, java, depth)
                : struct(nested(type), fieldsOf(type, field), depth + 1);
        };
    }

    private Object array(String element, JsonNode field, Class<?> java, int depth)
        throws ReflectiveOperationException {
        int count = source.count(depth);
        List<Object> values = new ArrayList<>();
        boolean isStruct = Character.isUpperCase(element.charAt(0));
        for (int i = 0; i < count; i++) {
            if (!isStruct) {
                values.add(value(element, field, Object.class, depth));
            } else if (i > 0 && source.repeat()) {
                values.add(((Message) values.get(i - 1)).duplicate());
            } else {
                values.add(struct(nested(element), fieldsOf(element, field), depth + 1));
            }
        }
        if (java.isAssignableFrom(ArrayList.class)) {
            return values;
        }
        // A collection with map keys, which keeps elements with equal keys.
        Constructor<?> constructor = java.getConstructor(Iterable.class);
        return constructor.newInstance(values);
    }

    private JsonNode fieldsOf(String type, JsonNode field) {
        return structs.containsKey(type) ? structs.get(type) : field.path("fields");
    }

    private Class<?> nested(String type) throws ClassNotFoundException {
        return Class.forName(top.getName() + "$" + type);
    }

    private static Method setter(Class<?> type, String field) {
        String name = "set" + Character.toUpperCase(field.charAt(0)) + field.substring(1);
        for (Method method : type.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == 1) {
                return method;
            }
        }
        throw new IllegalStateException(type + " has no " + name);
    }

    /** Where values come from. */
    interface Source {
        boolean setTagged();

        boolean setNull();

        boolean repeat();

        boolean bool();

        /** A number between two others, both included; they are 32 bits wide at most, or a long. */
        long integer(long min, long max);

        double float64();

        Uuid uuid();

        String string();

        byte[] bytes();

        int count(int depth);

        List<RawTaggedField> unknownTags(TreeSet<Integer> defined);
    }
}
