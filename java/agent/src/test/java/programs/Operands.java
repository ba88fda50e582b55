package programs;

import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Operands with sizes, by static type and by class: texts, arrays, null, and maps of the library
 * and of the program.
 */
public final class Operands {
    private Operands() {}

    /** The program's own map. Its size is not asked for. */
    private static final class Own extends HashMap<Integer, Integer> {
        private static final long serialVersionUID = 1;

        @Override
        public int size() {
            throw new IllegalStateException();
        }
    }

    private static void fill(Map<Integer, Integer> map, int count) {
        for (int i = 0; i < count; i++) {
            map.put(i, i);
        }
    }

    public static void main(String[] arguments) {
        StringBuilder builder = new StringBuilder();
        String nothing = null;
        builder.append(nothing).append("abcdef");
        for (int i = 0; i < 4; i++) {
            String text = builder.toString();
            Base64.getEncoder().encodeToString(new byte[30]);
            String.valueOf(new char[20]);
            text.indexOf("f", 0);
        }
        fill(new LinkedHashMap<>(), 3);
        fill(new Own(), 5);
    }
}
