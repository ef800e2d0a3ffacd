package klamm.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * Ties this process to the one that started it. Standard input is a pipe from the parent: when it
 * ends, however the parent died, this process halts, so no server outlives its test.
 */
final class Lifeline {
    private Lifeline() {
    }

    /** Follows standard input: {@code stop} is a graceful exit, its end is a halt. */
    static void hold() {
        Thread thread = new Thread(Lifeline::follow, "lifeline");
        thread.setDaemon(true);
        thread.start();
    }

    private static void follow() {
        try {
            BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("stop")) {
                    // Shutdown hooks run on this thread's behalf; reading on keeps the lifeline.
                    new Thread(() -> System.exit(0), "stop").start();
                }
            }
        } catch (IOException e) {
            System.err.println("lifeline: " + e);
        }
        Runtime.getRuntime().halt(1);
    }
}
