import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import jdk.test.whitebox.WhiteBox;

/** Collects the young generation of the Serial collector each time the application has allocated a number of bytes. */
public class ProfileAgent {
    private static final long PERIOD_NS = 100_000;
    /** A copy of all live objects costs more than the allocation between two copies if the step is below this share of them. */
    private static final int STEPS_PER_LIVE_SET = 8;
    /** Steps of different length tell the cost of new objects, which are scattered in memory, from that of objects that were copied before. In percent. */
    private static final int[] LENGTHS = {100, 40, 250};

    /** The argument is the typical number of bytes between two collections, a comma, and the file for the processor time of each collection in ns. */
    public static void premain(String argument) throws IOException {
        int comma = argument.indexOf(',');
        long step = Long.parseLong(argument.substring(0, comma));
        PrintWriter times = new PrintWriter(Files.newBufferedWriter(Path.of(argument.substring(comma + 1))), true);
        Path collector = vmThread();
        Thread watcher = new Thread(() -> watch(step, times, collector), "yamba-gc");
        watcher.setDaemon(true);
        watcher.setPriority(Thread.MAX_PRIORITY);
        watcher.start();
    }

    private static void watch(long step, PrintWriter times, Path collector) {
        WhiteBox box = new WhiteBox();
        MemoryPoolMXBean eden = pool("Eden");
        MemoryPoolMXBean survivor = pool("Survivor");
        long next = step;
        int count = 0;
        while (true) {
            if (eden.getUsage().getUsed() >= next) {
                long before = processorTime(collector);
                box.youngGC();
                times.println(processorTime(collector) - before);
                count++;
                next = Math.max(step, survivor.getUsage().getUsed() / STEPS_PER_LIVE_SET) * LENGTHS[count % LENGTHS.length] / 100;
            }
            LockSupport.parkNanos(PERIOD_NS);
        }
    }

    /** The folder of the thread that collects. */
    private static Path vmThread() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            List<Path> found = tasks.filter(task -> name(task).equals("VM Thread")).toList();
            return found.get(0);
        }
    }

    private static String name(Path task) {
        try {
            return Files.readString(task.resolve("comm")).trim();
        } catch (IOException ended) {
            return "";
        }
    }

    private static long processorTime(Path task) {
        try {
            String text = Files.readString(task.resolve("schedstat"));
            return Long.parseLong(text.substring(0, text.indexOf(' ')));
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }

    private static MemoryPoolMXBean pool(String part) {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(p -> p.getName().contains(part)).findFirst().orElseThrow();
    }
}
