package yamba.agent;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The processor time of the process, and that of the threads of the virtual machine itself, from
 * Linux.
 */
final class ThreadTimes {
    /**
     * Beginnings of the names of the machine's own threads: collectors, compilers, the recorder and
     * services.
     */
    private static final List<String> OWN = List.of(
            "GC ", "G1 ", "ParGC", "ZWorker", "ZDriver", "ZDirector", "ZUncommitter", "ZStat", "XWorker", "XDriver", "XDirector", "XStat",
            "Shenandoah", "C1 Compiler", "C2 Compiler", "VM Thread", "VM Periodic", "JFR ", "Signal Dispatch", "Service Thread",
            "Monitor Deflat", "Sweeper thread", "Notification", "yamba agent");

    /** The time of the program's first thread that belongs to the start of the recorder. */
    private static long excludedNs;

    private ThreadTimes() {}

    static void exclude(long ns) {
        excludedNs = ns;
    }

    /** The processor time of this thread so far, or 0 if Linux does not tell. */
    static long ofThisThread() {
        try {
            return firstNumber(Path.of("/proc/thread-self/schedstat"));
        } catch (IOException e) {
            return 0;
        }
    }

    static void write(Path file) throws IOException {
        long own = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                own += ownNanoseconds(task);
            }
        }
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long all = system.getProcessCpuTime() - excludedNs;
        StringBuilder out = new StringBuilder("{\"jvm\": ");
        Identity.append(out);
        out.append(", \"process_ns\": ").append(all).append(", \"vm_ns\": ").append(own).append("}\n");
        Files.writeString(file, out);
    }

    /** The time of a thread of the machine. A thread may end meanwhile. */
    private static long ownNanoseconds(Path task) {
        try {
            String name = Files.readString(task.resolve("comm"));
            boolean isOwn = OWN.stream().anyMatch(name::startsWith);
            return isOwn ? firstNumber(task.resolve("schedstat")) : 0;
        } catch (IOException e) {
            return 0;
        }
    }

    private static long firstNumber(Path file) throws IOException {
        String text = Files.readString(file);
        return Long.parseLong(text.substring(0, text.indexOf(' ')));
    }
}
