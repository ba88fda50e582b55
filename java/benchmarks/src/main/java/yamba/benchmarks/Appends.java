package yamba.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;

/** Operations on builders of texts that take the same time for each length. */
public class Appends extends Measured {
    StringBuilder builder = new StringBuilder(1 << 16);
    StringBuilder filled = new StringBuilder("some text");
    int at = 3;
    int value = 12345;

    private StringBuilder room() {
        if (builder.length() > 60000) {
            builder.setLength(10);
        }
        return builder;
    }

    @Benchmark
    @Primitive("java.lang.StringBuilder.append(char)")
    public StringBuilder appendCharacter() {
        return room().append('e');
    }

    @Benchmark
    @Primitive({"java.lang.StringBuilder.append(int)", "java.lang.StringBuilder.append(long)"})
    public StringBuilder appendInt() {
        return room().append(value);
    }

    @Benchmark
    @Primitive({"java.lang.StringBuilder.<init>()", "java.lang.StringBuilder.<init>(int)"})
    public StringBuilder create() {
        return new StringBuilder();
    }

    @Benchmark
    @Primitive({"java.lang.StringBuilder.charAt(int)", "java.lang.StringBuilder.length()", "java.lang.StringBuilder.setLength(int)"})
    public char charAt() {
        return filled.charAt(at);
    }
}
