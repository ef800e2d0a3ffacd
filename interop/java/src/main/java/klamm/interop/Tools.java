package klamm.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.utils.internals.Exit;

/** Apache Kafka's command line tools, run in this JVM, which saves two seconds a command. */
final class Tools {
    void register(Map<String, Peer.Op> ops) {
        ops.put("tool", Tools::run);
    }

    /** {@code tool}, a class (in {@code org.apache.kafka.tools}, unless it says), and its {@code args}. */
    private static JsonNode run(JsonNode call) throws Exception {
        List<String> args = new ArrayList<>();
        Peer.required(call, "args").forEach(arg -> args.add(arg.asText()));
        String name = Peer.required(call, "tool").asText();
        Class<?> tool =
            Class.forName(name.contains(".") ? name : "org.apache.kafka.tools." + name);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream oldOut = System.out;
        PrintStream oldErr = System.err;
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        // A tool that catches everything takes the first exit for a failure, and exits once more.
        AtomicReference<Integer> first = new AtomicReference<>();
        Exit.setExitProcedure((status, message) -> {
            first.compareAndSet(null, status);
            throw new Exited(status);
        });
        try {
            tool.getMethod("main", String[].class).invoke(null, (Object) args.toArray(new String[0]));
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Exited)) {
                throw e.getCause() instanceof Exception cause ? cause : e;
            }
        } finally {
            Exit.resetExitProcedure();
            System.setOut(oldOut);
            System.setErr(oldErr);
        }
        ObjectNode answer = Peer.NODES.objectNode();
        answer.put("status", first.get() == null ? 0 : first.get());
        answer.put("stdout", out.toString(StandardCharsets.UTF_8));
        answer.put("stderr", err.toString(StandardCharsets.UTF_8));
        return answer;
    }

    /** An error, so that no tool's {@code catch (Exception)} takes it for a failure of its own. */
    private static final class Exited extends Error {
        private static final long serialVersionUID = 1L;

        Exited(int status) {
            super("exit " + status);
        }
    }
}
