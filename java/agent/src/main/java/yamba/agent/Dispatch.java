package yamba.agent;

/**
 * One virtual call in the program: finds the method that it reaches by the class of the receiver.
 * Most calls have one class of receivers.
 */
final class Dispatch {
    /**
     * All calls by their number. The array never changes its place or length, so that compiled code
     * needs one load to find a call. A class that needs a number when none is
     * left is not rewritten.
     */
    private static final Dispatch[] ALL = new Dispatch[1 << 20];

    private static int count;

    private final String name;
    private final String descriptor;

    /**
     * Not volatile: all fields of {@code Reached} are final, and a thread that misses a new value
     * finds it again.
     */
    private Reached first;

    private Dispatch(String name, String descriptor) {
        this.name = name;
        this.descriptor = descriptor;
    }

    /**
     * The method that calls on one class of receivers reach. A step of 0: a method of the program,
     * which is not counted.
     */
    static final class Reached {
        final Class<?> type;
        final int place;
        final int step;
        /**
         * How {@link Sizes} reads the size of a receiver of this class. {@link Sizes#NONE}: the
         * method has no size.
         */
        final int sizing;
        final Reached next;

        Reached(Class<?> type, Methods.Counted counted, Reached next) {
            this.type = type;
            this.place = counted == null ? 0 : counted.place();
            this.step = counted == null ? 0 : 1;
            this.sizing = counted == null || counted.operand() == null ? Sizes.NONE : Sizes.sizing(type);
            this.next = next;
        }
    }

    /** The number of a new call of a method. */
    static synchronized int number(String name, String descriptor) {
        ALL[count] = new Dispatch(name, descriptor);
        return count++;
    }

    static Dispatch at(int number) {
        return ALL[number];
    }

    Reached reached(Class<?> type) {
        for (Reached at = first; at != null; at = at.next) {
            if (at.type == type) {
                return at;
            }
        }
        // A class loader of the program may run in `counted`, so no lock is held there.
        return add(type, counted(type));
    }

    private synchronized Reached add(Class<?> type, Methods.Counted counted) {
        for (Reached at = first; at != null; at = at.next) {
            if (at.type == type) {
                return at;
            }
        }
        first = new Reached(type, counted, first);
        return first;
    }

    private Methods.Counted counted(Class<?> type) {
        try {
            Library.Target target = Library.resolve(type, name, descriptor);
            boolean isLibrary = target != null && Library.isOf(target.type());
            return isLibrary ? Methods.counted(Names.of(target.type().getName(), name, descriptor)) : null;
        } catch (LinkageError e) {
            return null;
        }
    }
}
