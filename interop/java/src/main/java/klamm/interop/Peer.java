package klamm.interop;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * The long-lived helper: one JSON object a line on standard input, {@code {"op": ..., ...}}, and one
 * line back, {@code {"ok": ...}} or {@code {"error": ...}}. Bytes travel as hexadecimal.
 */
public final class Peer {
    static final ObjectMapper JSON = mapper();
    static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    static final HexFormat HEX = HexFormat.of();

    private final Map<String, Op> ops = new HashMap<>();

    /** What the peer can be asked for. */
    interface Op {
        JsonNode answer(JsonNode args) throws Exception;
    }

    private Peer() {
        Catalog catalog = Catalog.load();
        new Messages(catalog).register(ops);
        new RecordBatches().register(ops);
        new Tables(catalog).register(ops);
        new Tools().register(ops);
        new Clusters().register(ops);
        new Traffic().register(ops);
        new Changes().register(ops);
        ops.put("managers", org.apache.kafka.controller.Managers::run);
        ops.put("singles", org.apache.kafka.controller.Singles::run);
        new Session().register(ops);
        new Producing().register(ops);
        new Transacting().register(ops);
        new Quotas().register(ops);
        new Gauges().register(ops);
        new Descriptions().register(ops);
    }

    public static void main(String[] args) throws Exception {
        // Anything that prints, such as a tool, must not end up between the answers.
        PrintStream answers = new PrintStream(
            new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        Peer peer = new Peer();
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            answers.println(JSON.writeValueAsString(peer.answer(line)));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private ObjectNode answer(String line) {
        ObjectNode answer = NODES.objectNode();
        try {
            JsonNode args = JSON.readTree(line);
            Op op = ops.get(args.path("op").asText());
            if (op == null) {
                throw new IllegalArgumentException("unknown op " + args.path("op"));
            }
            answer.set("ok", op.answer(args));
        } catch (Throwable e) {
            answer.put("error", e.toString());
            answer.put("at", at(e));
        }
        return answer;
    }

    private static String at(Throwable e) {
        StackTraceElement[] trace = e.getStackTrace();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < Math.min(8, trace.length); i++) {
            text.append(i == 0 ? "" : " < ").append(trace[i]);
        }
        return text.toString();
    }

    static byte[] bytes(JsonNode args, String name) {
        return HEX.parseHex(required(args, name).asText());
    }

    static JsonNode required(JsonNode args, String name) {
        JsonNode value = args.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no " + name + " in the call");
        }
        return value;
    }

    private static ObjectMapper mapper() {
        ObjectMapper mapper = new ObjectMapper();
        // Apache's schemas have licence comments; a call may carry megabytes of hexadecimal.
        mapper.configure(JsonParser.Feature.ALLOW_COMMENTS, true);
        mapper.getFactory().setStreamReadConstraints(
            StreamReadConstraints.builder().maxStringLength(512 << 20).build());
        return mapper;
    }
}
