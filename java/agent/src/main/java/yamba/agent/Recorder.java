package yamba.agent;

import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;

/**
 * Samples the program's stacks every 10 ms with JFR. The recording is complete when the process has
 * ended.
 */
final class Recorder {
    private static final Duration PERIOD = Duration.ofMillis(10);

    private Recorder() {}

    static void start(Path file) throws Exception {
        Recording recording = new Recording();
        recording.enable("jdk.ExecutionSample").withPeriod(PERIOD);
        recording.enable("jdk.NativeMethodSample").withPeriod(PERIOD);
        recording.setDestination(file);
        recording.setDumpOnExit(true);
        recording.start();
    }
}
