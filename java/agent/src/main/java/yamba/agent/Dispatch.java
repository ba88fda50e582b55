package yamba.agent;

import java.util.Arrays;

/** One virtual call in the program: finds the method that it reaches by the class of the receiver. Most calls have one class of receivers. */
final class Dispatch {
    private static Dispatch[] all = new Dispatch[1024];
    private static int count;

    private final String name;
    private final String descriptor;
    private volatile Reached first;

    private Dispatch(String name, String descriptor) {
        this.name = name;
        this.descriptor = descriptor;
    }

    /** The method that calls on one class of receivers reach. A step of 0: a method of the program, which is not counted. */
    static final class Reached {
        final Class<?> type;
        final int place;
        final int step;
        final boolean isSized;
        final Reached next;

        Reached(Class<?> type, Methods.Counted counted, Reached next) {
            this.type = type;
            this.place = counted == null ? 0 : counted.place();
            this.step = counted == null ? 0 : 1;
            this.isSized = counted != null && counted.operand() != null;
            this.next = next;
        }
    }

    /** The number of a new call of a method. */
    static synchronized int number(String name, String descriptor) {
        if (count == all.length) {
            all = Arrays.copyOf(all, 2 * count);
        }
        all[count] = new Dispatch(name, descriptor);
        return count++;
    }

    static Dispatch at(int number) {
        return all[number];
    }

    Reached reached(Class<?> type) {
        for (Reached at = first; at != null; at = at.next) {
            if (at.type == type) {
                return at;
            }
        }
        return find(type);
    }

    private synchronized Reached find(Class<?> type) {
        Reached found = new Reached(type, counted(type), first);
        first = found;
        return found;
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
