package yamba.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The methods that are counted, and their places in the counters of a thread. */
final class Methods {
    /** Places in the counters of one thread. Methods that find none left are counted at place 0. */
    static final int PLACES = 1 << 15;

    /**
     * Size classes of a method with sizes: 0, 1, 2 to 3, 4 to 7 and so on. Each has a count and the
     * sum of its sizes.
     */
    static final int CLASSES = 32;

    /**
     * A counted method. {@code operand} has its size: -1 is the receiver, others are arguments from
     * 0; null: no size.
     */
    record Counted(String name, Integer operand, int place) {}

    private static final Map<String, Integer> OPERANDS = new HashMap<>();
    private static final Map<String, Integer> BARE = new HashMap<>();
    private static final Map<String, Counted> COUNTED = new HashMap<>();
    private static final List<Counted> ORDER = new ArrayList<>();
    private static int next = 1;

    private Methods() {}

    /**
     * Reads the list of primitives: the name, a tab, and the operand with the size, {@code this} or
     * a number, if there is one.
     */
    static void list(List<String> lines) {
        for (String line : lines) {
            String[] fields = line.split("\t");
            if (fields.length > 1 && !fields[1].isEmpty()) {
                int operand = fields[1].equals("this") ? -1 : Integer.parseInt(fields[1]);
                OPERANDS.put(fields[0], operand);
                int dot = fields[0].lastIndexOf('.', fields[0].indexOf('('));
                BARE.put(fields[0].substring(dot + 1), operand);
            }
        }
    }

    static synchronized Counted counted(String name) {
        return COUNTED.computeIfAbsent(name, Methods::place);
    }

    private static Counted place(String name) {
        Integer operand = OPERANDS.get(name);
        int width = operand == null ? 1 : 2 * CLASSES;
        if (next + width > PLACES) {
            return new Counted("others", null, 0);
        }
        Counted counted = new Counted(name, operand, next);
        next += width;
        ORDER.add(counted);
        return counted;
    }

    static synchronized List<Counted> all() {
        return List.copyOf(ORDER);
    }

    /**
     * The operand with the size of some listed method of this name and these parameters, whatever
     * its class, or null.
     */
    static Integer operandOfAny(String nameWithoutClass) {
        return BARE.get(nameWithoutClass);
    }
}
