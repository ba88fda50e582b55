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

    private ThreadTimes() {}

    static void write(Path file) throws IOException {
        long own = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                own += ownNanoseconds(task);
            }
        }
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long all = system.getProcessCpuTime();
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
            String times = Files.readString(task.resolve("schedstat"));
            return isOwn ? Long.parseLong(times.substring(0, times.indexOf(' '))) : 0;
        } catch (IOException e) {
            return 0;
        }
    }
}
