import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A cache of records: each replaces the eldest. The choices of the model were made on this program
 * and on Words.
 */
public class Records {
    private static final int CAPACITY = 60_000;
    private static final int KEYS = 90_000;

    private record Entry(int id, String name, long[] values) {}

    public static void main(String[] arguments) {
        Map<Integer, Entry> cache = new LinkedHashMap<>(CAPACITY * 2, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, Entry> eldest) {
                return size() > CAPACITY;
            }
        };
        long state = 1;
        long hits = 0;
        for (int i = 0; i < 6_000_000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            int key = (int) ((state >>> 33) % KEYS);
            Entry found = cache.get(key);
            if (found == null) {
                cache.put(key, new Entry(key, "record " + key, new long[(int) (state >>> 60) + 4]));
            } else {
                hits += found.id();
            }
        }
        System.out.println(hits);
    }
}
