import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.util.concurrent.locks.LockSupport;
import jdk.test.whitebox.WhiteBox;

/**
 * Collects the young generation of the Serial collector each time the application has allocated a
 * number of bytes.
 */
public class ProfileAgent {
    private static final long PERIOD_NS = 100_000;
    /**
     * A copy of all live objects costs more than the allocation between two copies if the step is
     * below this share of them.
     */
    private static final int STEPS_PER_LIVE_SET = 8;

    /** The argument is the least number of bytes between two collections. */
    public static void premain(String argument) {
        long step = Long.parseLong(argument);
        Thread watcher = new Thread(() -> watch(step), "yamba-gc");
        watcher.setDaemon(true);
        watcher.setPriority(Thread.MAX_PRIORITY);
        watcher.start();
    }

    /**
     * Eden holds what was allocated since the last collection: the growth of the heap, which the
     * machine tells without an allocation of this thread. A heap that shrank had a collection of
     * its own.
     */
    private static void watch(long step) {
        WhiteBox box = new WhiteBox();
        Runtime runtime = Runtime.getRuntime();
        long old = pool("Tenured").getUsage().getUsed();
        long left = old;
        long next = step;
        while (true) {
            long used = runtime.totalMemory() - runtime.freeMemory();
            left = Math.min(left, used);
            if (used - left >= next) {
                box.youngGC();
                left = runtime.totalMemory() - runtime.freeMemory();
                next = Math.max(step, (left - old) / STEPS_PER_LIVE_SET);
            }
            LockSupport.parkNanos(PERIOD_NS);
        }
    }

    private static MemoryPoolMXBean pool(String part) {
        return ManagementFactory.getMemoryPoolMXBeans().stream().filter(p -> p.getName().contains(part)).findFirst().orElseThrow();
    }
}
