package yamba.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedClassLoader;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/**
 * The samples of a recording: those in the class library, by the method that the program called;
 * those in the program; and those of threads without a frame
 * of the program. A sample in a callback, which the library calls, is one in the program.
 */
final class Samples {
    /** Beginnings of native methods that wait and use no processor time. */
    private static final List<String> WAITS = List.of(
            "sun.nio.ch.EPoll.wait", "sun.nio.ch.Net.", "sun.nio.ch.SocketDispatcher.", "sun.nio.ch.NioSocketImpl.", "java.lang.Object.wait",
            "java.lang.ProcessHandleImpl.waitForProcessExit", "jdk.internal.misc.Unsafe.park", "java.lang.Thread.sleep", "jdk.jfr.");

    private final Map<String, Long> library = new TreeMap<>();
    private long program;
    private long others;

    private Samples() {}

    static Samples of(Path recording) throws IOException {
        Samples samples = new Samples();
        try (RecordingFile file = new RecordingFile(recording)) {
            while (file.hasMoreEvents()) {
                samples.add(file.readEvent());
            }
        }
        return samples;
    }

    private void add(RecordedEvent event) {
        RecordedStackTrace stack = event.getStackTrace();
        boolean isSample = event.getEventType().getName().endsWith("Sample");
        if (!isSample || stack == null || stack.getFrames().isEmpty() || waits(stack.getFrames().get(0))) {
            return;
        }
        String called = null;
        for (RecordedFrame frame : stack.getFrames()) {
            RecordedMethod method = frame.getMethod();
            if (!isLibrary(method)) {
                count(called);
                return;
            }
            called = name(method);
        }
        others++;
    }

    private void count(String called) {
        if (called == null) {
            program++;
        } else {
            library.merge(called, 1L, Long::sum);
        }
    }

    private static boolean waits(RecordedFrame top) {
        String name = top.getMethod().getType().getName() + "." + top.getMethod().getName();
        return WAITS.stream().anyMatch(name::startsWith);
    }

    private static boolean isLibrary(RecordedMethod method) {
        RecordedClassLoader loader = method.getType().getClassLoader();
        return loader == null || loader.getType() == null || loader.getType().getName().endsWith("$PlatformClassLoader");
    }

    /** The name under which calls are counted. */
    private static String name(RecordedMethod method) {
        String type = method.getType().getName();
        if (type.startsWith("java.lang.StringConcatHelper") || type.startsWith("java.lang.invoke.")) {
            return Site.CONCATENATION;
        }
        return Names.of(type, method.getName(), method.getDescriptor());
    }

    void append(StringBuilder out) {
        out.append("{\"program\": ").append(program).append(", \"others\": ").append(others).append(", \"library\": {");
        String separator = "\n";
        for (Map.Entry<String, Long> entry : library.entrySet()) {
            out.append(separator);
            Names.quote(out, entry.getKey());
            out.append(": ").append(entry.getValue());
            separator = ",\n";
        }
        out.append("}}");
    }
}
