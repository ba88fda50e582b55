package programs;

import java.util.ArrayList;
import java.util.List;

/** Callbacks, exceptions, constructors with arguments, switches and loops around calls. */
public final class Callbacks {
    private final StringBuilder text;
    private static int visits;

    private Callbacks(String start, long wide, double real) {
        this.text = new StringBuilder(start.isEmpty() ? "none" : start.substring(1, 3));
        this.text.append(wide).append(real);
    }

    private static int failing(String text, int at) {
        try {
            return text.charAt(at);
        } catch (StringIndexOutOfBoundsException e) {
            return text.length();
        } finally {
            visits = Math.addExact(visits, 1);
        }
    }

    public static void main(String[] arguments) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            numbers.add(i * 37 % 64);
        }
        numbers.forEach(number -> {
            if (number % 2 == 0) {
                visits = Math.addExact(visits, 1);
            }
        });
        int sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += failing("abcde", i);
            sum += new Callbacks("abcdef", 5L, 2.5).text.length();
            switch (i % 3) {
                case 0 -> sum += Math.max(i, 2);
                case 1 -> sum += "abc".substring(i % 2, 3).length();
                default -> sum += i;
            }
        }
        if (sum == 0) {
            throw new IllegalStateException();
        }
    }
}
