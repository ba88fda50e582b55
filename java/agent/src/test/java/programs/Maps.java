package programs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Calls by interfaces: the class of the receiver decides which method is reached. */
public final class Maps {
    private Maps() {}

    /** The program's own list: {@code get} is the program's, {@code add} is the library's. */
    private static final class Own extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        @Override
        public String get(int index) {
            return super.get(index);
        }
    }

    private static int fill(Map<String, Integer> map, int count) {
        for (int i = 0; i < count; i++) {
            map.put("key" + i, i);
        }
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += map.get("key" + i);
        }
        return sum;
    }

    private static int read(List<String> list, int count) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            list.add("x");
            sum += list.get(i).length();
        }
        return sum;
    }

    public static void main(String[] arguments) {
        int sum = fill(new HashMap<>(), 100) + fill(new TreeMap<>(), 40);
        sum += read(new ArrayList<>(), 30) + read(new Own(), 20);
        if (sum == 0) {
            throw new IllegalStateException();
        }
    }
}
