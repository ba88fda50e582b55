package yamba.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Building texts. The builder has room. */
public class Builders extends Measured {
    private static final int ROOM = 1 << 16;

    @Param({"1", "16", "256"})
    int size;

    StringBuilder builder;
    StringBuffer buffer;
    StringBuilder full;
    String text;
    char[] characters;

    @Setup
    public void setup() {
        builder = new StringBuilder(ROOM);
        buffer = new StringBuffer(ROOM);
        text = Text.of(size, 3);
        full = new StringBuilder(text);
        characters = text.toCharArray();
    }

    private StringBuilder room() {
        if (builder.length() > ROOM - size) {
            builder.setLength(0);
        }
        return builder;
    }

    @Benchmark
    @Primitive(value = {"java.lang.StringBuilder.append(String)", "java.lang.StringBuilder.append(Object)", "java.lang.StringBuilder.append(CharSequence)"}, size = "0")
    public StringBuilder append() {
        return room().append(text);
    }

    @Benchmark
    @Primitive(value = "java.lang.StringBuilder.append(CharSequence,int,int)", size = "2")
    public StringBuilder appendPart() {
        return room().append(text, 0, size);
    }

    @Benchmark
    @Primitive(value = "java.lang.StringBuilder.append(char[],int,int)", size = "2")
    public StringBuilder appendCharacters() {
        return room().append(characters, 0, size);
    }

    @Benchmark
    @Primitive(value = "java.lang.StringBuilder.toString()", size = "this")
    public String text() {
        return full.toString();
    }

    @Benchmark
    @Primitive(value = "java.lang.StringBuffer.append(String)", size = "0")
    public StringBuffer appendSynchronized() {
        if (buffer.length() > ROOM - size) {
            buffer.setLength(0);
        }
        return buffer.append(text);
    }
}
