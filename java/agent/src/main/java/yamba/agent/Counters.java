package yamba.agent;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The counters of each thread. Rewritten classes call this class. */
public final class Counters {
    private static final List<Owned> OWNED = new ArrayList<>();
    private static final long[] ENDED = new long[Methods.PLACES];
    private static final ThreadLocal<Owned> MINE = ThreadLocal.withInitial(Counters::register);

    /**
     * The counters of threads by the low bits of their number: several times faster than a {@code
     * ThreadLocal}.
     */
    private static final Owned[] RECENT = new Owned[64];

    private Counters() {}

    private record Owned(Thread thread, long[] counts) {}

    /** The counters of the current thread. */
    public static long[] mine() {
        Thread thread = Thread.currentThread();
        int at = (int) thread.getId() & RECENT.length - 1;
        Owned recent = RECENT[at];
        return recent != null && recent.thread == thread ? recent.counts : find(at);
    }

    private static long[] find(int at) {
        Owned mine = MINE.get();
        RECENT[at] = mine;
        return mine.counts;
    }

    /** Counts a call of a method with sizes. */
    public static void sized(long[] counts, int place, int size) {
        int at = place + 2 * sizeClass(size);
        counts[at]++;
        counts[at + 1] += Math.max(size, 0);
    }

    /** Counts a call whose method depends on the receiver. */
    public static void dispatched(long[] counts, int site, Object receiver) {
        if (receiver != null) {
            Dispatch.Reached reached = Dispatch.at(site).reached(receiver.getClass());
            if (reached.sizing != Sizes.NONE) {
                sized(counts, reached.place, Sizes.of(receiver, reached.sizing));
            } else {
                counts[reached.place] += reached.step;
            }
        }
    }

    /** Counts such a call; {@code size} is that of the argument with the size. */
    public static void dispatched(long[] counts, int site, Object receiver, int size) {
        if (receiver != null) {
            Dispatch.Reached reached = Dispatch.at(site).reached(receiver.getClass());
            if (reached.sizing != Sizes.NONE) {
                sized(counts, reached.place, size);
            } else {
                counts[reached.place] += reached.step;
            }
        }
    }

    static int sizeClass(int size) {
        return size <= 0 ? 0 : 32 - Integer.numberOfLeadingZeros(size);
    }

    /**
     * The counters of a new thread. Those of ended threads are added to one array, so that many
     * threads need little memory.
     */
    private static synchronized Owned register() {
        for (Iterator<Owned> each = OWNED.iterator(); each.hasNext();) {
            Owned owned = each.next();
            if (!owned.thread.isAlive()) {
                add(owned.counts);
                each.remove();
            }
        }
        Owned mine = new Owned(Thread.currentThread(), new long[Methods.PLACES]);
        OWNED.add(mine);
        return mine;
    }

    private static void add(long[] counts) {
        for (int i = 0; i < counts.length; i++) {
            ENDED[i] += counts[i];
        }
    }

    /** The sum over all threads. */
    static synchronized long[] sum() {
        long[] sum = ENDED.clone();
        for (Owned owned : OWNED) {
            for (int i = 0; i < sum.length; i++) {
                sum[i] += owned.counts[i];
            }
        }
        return sum;
    }
}
