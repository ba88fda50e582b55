package yamba.benchmarks;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;

/** Steps of regular expressions. The text has 64 characters. */
public class Matches extends Measured {
    String text = Text.of(58, 1) + "123-45";
    Pattern number = Pattern.compile("([0-9]+)-([0-9]+)");
    Pattern words = Pattern.compile("[a-z ]*([0-9-]+)");
    Matcher matcher = number.matcher(text);
    Matcher whole = words.matcher(text);

    @Benchmark
    @Primitive("java.util.regex.Matcher.find()")
    public boolean find() {
        return matcher.reset().find();
    }

    @Benchmark
    @Primitive({"java.util.regex.Matcher.matches()", "java.util.regex.Matcher.lookingAt()"})
    public boolean matches() {
        return whole.matches();
    }

    @Benchmark
    @Primitive("java.util.regex.Pattern.matcher(CharSequence)")
    public Matcher matcher() {
        return number.matcher(text);
    }

    @Benchmark
    @Primitive({"java.util.regex.Pattern.compile(String)", "java.util.regex.Pattern.compile(String,int)"})
    public Pattern compile() {
        return Pattern.compile("([0-9]+)-([0-9]+)");
    }

    @Benchmark
    @Primitive({"java.util.regex.Matcher.group(int)", "java.util.regex.Matcher.group()"})
    public String group() {
        whole.matches();
        return whole.group(1);
    }
}
