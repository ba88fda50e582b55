import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Counts the words of texts. The choices of the model were made on this program and on Records. */
public class Words {
    public static void main(String[] arguments) {
        Map<String, Integer> totals = new HashMap<>();
        List<String> longest = new ArrayList<>();
        for (int text = 0; text < 400; text++) {
            String content = text(text);
            Map<String, Long> counts = List.of(content.split(" ")).stream()
                    .collect(Collectors.groupingBy(word -> word, Collectors.counting()));
            counts.forEach((word, count) -> totals.merge(word, count.intValue(), Integer::sum));
            if (text % 20 == 0) {
                longest.add(content);
            }
        }
        System.out.println(totals.size() + " " + longest.size());
    }

    private static String text(int seed) {
        StringBuilder content = new StringBuilder();
        long state = seed;
        for (int i = 0; i < 20_000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            content.append("word").append((state >>> 33) % (20_000 + seed * 100L)).append(' ');
        }
        return content.toString();
    }
}
