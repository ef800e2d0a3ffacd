package klamm.interop;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Ties this process to the one that started it. Standard input is a pipe from the parent: when it
 * ends, however the parent died, this process halts, so no server and no file outlives its test.
 */
final class Lifeline {
    private final Path dir;

    private Lifeline(Path dir) {
        this.dir = dir;
    }

    /**
     * Follows standard input: {@code stop} is a graceful exit; at its end {@code dir} is deleted,
     * unless {@code KLAMM_KEEP} is set, and the process halts.
     */
    static void hold(Path dir) {
        Thread thread = new Thread(new Lifeline(dir)::follow, "lifeline");
        thread.setDaemon(true);
        thread.start();
    }

    private void follow() {
        try {
            BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.equals("stop")) {
                    // Shutdown hooks run while that thread waits; reading on keeps the lifeline.
                    new Thread(() -> System.exit(0), "stop").start();
                }
            }
        } catch (IOException e) {
            System.err.println("lifeline: " + e);
        }
        if (System.getenv("KLAMM_KEEP") == null) {
            delete();
        }
        Runtime.getRuntime().halt(1);
    }

    private void delete() {
        List<Path> files;
        try (Stream<Path> walk = Files.walk(dir)) {
            files = walk.sorted(Comparator.reverseOrder()).toList();
        } catch (IOException | RuntimeException e) {
            files = List.of();
        }
        for (Path file : files) {
            file.toFile().delete();
        }
        // The cluster's own directory, once the last of its nodes comes here.
        dir.getParent().toFile().delete();
    }
}
