package klamm.interop;

import java.nio.file.Path;
import java.util.Arrays;

/**
 * One Apache Kafka node: {@code Node [--format CLUSTER_ID [ARG]...] FILE}. It formats the node's
 * directory if asked to, with more arguments if given, then runs the server, all in one JVM to save a
 * start. The directory of the file belongs to the node.
 */
public final class Node {
    private Node() {
    }

    public static void main(String[] args) {
        String file = args[args.length - 1];
        Lifeline.hold(Path.of(file).toAbsolutePath().getParent());
        if (args[0].equals("--format")) {
            String[] format = {"format", "-t", args[1], "-c", file};
            String[] more = Arrays.copyOfRange(args, 2, args.length - 1);
            String[] all = Arrays.copyOf(format, format.length + more.length);
            System.arraycopy(more, 0, all, format.length, more.length);
            int status = kafka.tools.StorageTool.execute(all, System.err);
            if (status != 0) {
                System.err.println("formatting failed with status " + status);
                Runtime.getRuntime().halt(3);
            }
        }
        kafka.Kafka.main(new String[] {file});
    }
}
