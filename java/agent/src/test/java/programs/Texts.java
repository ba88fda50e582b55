package programs;

/** Texts: sizes by the receiver and by an argument, and concatenation. */
public final class Texts {
    private Texts() {}

    public static void main(String[] arguments) {
        String text = "abcdefghij";
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += text.indexOf("j", i % 7);
            sum += text.charAt(i % 10);
            String joined = text + i;
            sum += joined.length();
        }
        StringBuilder builder = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            builder.append(text).append('x').append(3L).append(2.5);
        }
        if (sum + builder.length() == 0) {
            throw new IllegalStateException();
        }
    }
}
