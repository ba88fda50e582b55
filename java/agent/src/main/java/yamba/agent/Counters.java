package yamba.agent;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The counters of each thread. Rewritten classes call this class. */
public final class Counters {
    private static final List<Owned> OWNED = new ArrayList<>();
    private static final long[] ENDED = new long[Methods.PLACES];
    private static final ThreadLocal<long[]> MINE = ThreadLocal.withInitial(Counters::register);

    private Counters() {}

    private record Owned(Thread thread, long[] counts) {}

    /** The counters of the current thread. */
    public static long[] mine() {
        return MINE.get();
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
            if (reached.isSized) {
                sized(counts, reached.place, Sizes.of(receiver));
            } else {
                counts[reached.place] += reached.step;
            }
        }
    }

    /** Counts such a call; {@code size} is that of the argument with the size. */
    public static void dispatched(long[] counts, int site, Object receiver, int size) {
        if (receiver != null) {
            Dispatch.Reached reached = Dispatch.at(site).reached(receiver.getClass());
            if (reached.isSized) {
                sized(counts, reached.place, size);
            } else {
                counts[reached.place] += reached.step;
            }
        }
    }

    static int sizeClass(int size) {
        return size <= 0 ? 0 : 32 - Integer.numberOfLeadingZeros(size);
    }

    /** The counters of a new thread. Those of ended threads are added to one array, so that many threads need little memory. */
    private static synchronized long[] register() {
        for (Iterator<Owned> each = OWNED.iterator(); each.hasNext();) {
            Owned owned = each.next();
            if (!owned.thread.isAlive()) {
                add(owned.counts);
                each.remove();
            }
        }
        long[] counts = new long[Methods.PLACES];
        OWNED.add(new Owned(Thread.currentThread(), counts));
        return counts;
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
