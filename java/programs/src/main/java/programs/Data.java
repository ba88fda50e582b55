package programs;

import java.util.Random;

/** Texts for the programs, the same in each run. */
final class Data {
    private static final String[] WORDS = new String[4000];

    static {
        Random random = new Random(1);
        for (int i = 0; i < WORDS.length; i++) {
            StringBuilder word = new StringBuilder();
            for (int length = 2 + random.nextInt(9); length > 0; length--) {
                word.append((char) ('a' + random.nextInt(26)));
            }
            WORDS[i] = word.toString();
        }
    }

    private Data() {}

    /** A word; small numbers are frequent. */
    static String word(Random random) {
        double share = random.nextDouble();
        return WORDS[(int) (WORDS.length * share * share)];
    }

    static String sentence(Random random, int words) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < words; i++) {
            out.append(i == 0 ? "" : " ").append(word(random));
        }
        return out.toString();
    }
}
