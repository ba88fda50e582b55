package yamba.agent;

import java.util.HashMap;
import java.util.Map;

/** A virtual call: finds the method that it reaches by the class of the receiver. */
final class Dispatch {
    private static final Map<String, Integer> NUMBERS = new HashMap<>();
    private static Dispatch[] all = new Dispatch[64];

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

    /** The number of the call of a method. */
    static synchronized int number(String name, String descriptor) {
        return NUMBERS.computeIfAbsent(name + descriptor, key -> {
            int number = NUMBERS.size();
            if (number == all.length) {
                all = java.util.Arrays.copyOf(all, 2 * number);
            }
            all[number] = new Dispatch(name, descriptor);
            return number;
        });
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
