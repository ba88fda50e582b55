package yamba.benchmarks;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Regular expressions by the length of their text. */
public class Expressions extends Measured {
    @Param({"64", "1024"})
    int size;

    String text;
    Pattern number = Pattern.compile("([0-9]+)-([0-9]+)");
    Pattern space = Pattern.compile("\\s+");
    Matcher next;

    @Setup
    public void setup() {
        text = Text.of(size - 6, 1) + "123-45";
    }

    @Benchmark
    @Primitive(value = {"java.util.regex.Pattern.split(CharSequence)", "java.util.regex.Pattern.split(CharSequence,int)"}, size = "0")
    public String[] split() {
        return space.split(text);
    }

    @Benchmark
    @Primitive(value = "java.lang.String.replaceAll(String,String)", size = "this")
    public String replaceAll() {
        return text.replaceAll("\\s+", " ");
    }

    @Benchmark
    @Primitive(value = "java.lang.String.matches(String)", size = "this")
    public boolean matches() {
        return text.matches("[a-z ]*[0-9-]+");
    }
}
