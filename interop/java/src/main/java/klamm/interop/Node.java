package klamm.interop;

import java.util.Arrays;

/**
 * One Apache Kafka node: {@code Node [--format CLUSTER_ID] FILE}. It formats the node's directory
 * if asked to, then runs the server, all in one JVM to save a start.
 */
public final class Node {
    private Node() {
    }

    public static void main(String[] args) {
        Lifeline.hold();
        String file = args[args.length - 1];
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
