package yamba.agent;

import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The agent's entry point. Its argument is a list of {@code KEY=FILE}, separated by commas:
 *
 * <ul>
 *   <li>{@code calls=FILE,primitives=FILE} counts calls of the class library, and writes the counts
 *       at exit;
 *   <li>{@code times=FILE,recording=FILE} samples the program with JFR, and writes the processor
 *       time of its threads at exit.
 * </ul>
 */
public final class Agent {
    private Agent() {}

    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        Map<String, Path> files = files(argument);
        if (files.containsKey("calls")) {
            Methods.list(Files.readAllLines(required(files, "primitives")));
            instrumentation.addTransformer(new Transformer());
            atExit(() -> CallsDocument.write(required(files, "calls")));
        }
        if (files.containsKey("times")) {
            long begunNs = ThreadTimes.ofThisThread();
            Recorder.start(required(files, "recording"));
            ThreadTimes.exclude(ThreadTimes.ofThisThread() - begunNs);
            atExit(() -> ThreadTimes.write(required(files, "times")));
        }
    }

    private static Map<String, Path> files(String argument) {
        Map<String, Path> files = new HashMap<>();
        for (String part : (argument == null ? "" : argument).split(",")) {
            int equals = part.indexOf('=');
            if (equals > 0) {
                files.put(part.substring(0, equals), Path.of(part.substring(equals + 1)).toAbsolutePath());
            }
        }
        return files;
    }

    private static Path required(Map<String, Path> files, String key) {
        Path file = files.get(key);
        if (file == null) {
            throw new IllegalArgumentException("yamba agent: " + key + "=FILE is missing");
        }
        return file;
    }

    private interface Action {
        void run() throws Exception;
    }

    private static void atExit(Action action) {
        Thread hook = new Thread(() -> {
            try {
                action.run();
            } catch (Exception e) {
                System.err.println("yamba agent: " + e);
            }
        }, "yamba agent");
        Runtime.getRuntime().addShutdownHook(hook);
    }
}
