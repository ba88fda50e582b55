package yamba.benchmarks;

import java.util.Random;

/** Texts as benchmarks use them: words of letters, the same in each run. */
final class Text {
    private Text() {}

    /**
     * A text of {@code size} characters: words of 2 to 9 small letters between spaces. It has no
     * {@code z}.
     */
    static String of(int size, long seed) {
        Random random = new Random(seed);
        StringBuilder out = new StringBuilder(size + 10);
        while (out.length() < size) {
            for (int i = 2 + random.nextInt(8); i > 0; i--) {
                out.append((char) ('a' + random.nextInt(25)));
            }
            out.append(' ');
        }
        out.setLength(size);
        return out.toString();
    }

    static byte[] bytes(int size) {
        return of(size, 7).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    }
}
