package yamba.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;

/** Texts and characters whose cost does not depend on a length, and the formatting of numbers. */
public class Characters extends Measured {
    String text = Text.of(64, 1);
    String number = "1234567";
    String fraction = "3.14159";
    int at = 17;
    int value = 1234567;
    long wide = 123456789012L;
    double real = 3.14159;
    char letter = 'e';

    @Benchmark
    @Primitive({"java.lang.String.charAt(int)", "java.lang.CharSequence.charAt(int)", "java.lang.String.codePointAt(int)"})
    public char charAt() {
        return text.charAt(at);
    }

    @Benchmark
    @Primitive({"java.lang.String.length()", "java.lang.String.isEmpty()"})
    public int length() {
        return text.length();
    }

    /** The hash of a text is computed once, and then kept in it. */
    @Benchmark
    @Primitive("java.lang.String.hashCode()")
    public int hash() {
        return text.hashCode();
    }

    @Benchmark
    @Primitive({"java.lang.Character.isLetter(char)", "java.lang.Character.isDigit(char)", "java.lang.Character.isLetterOrDigit(char)",
            "java.lang.Character.isWhitespace(char)", "java.lang.Character.isWhitespace(int)", "java.lang.Character.isJavaIdentifierPart(char)"})
    public boolean isLetter() {
        return Character.isLetter(letter);
    }

    @Benchmark
    @Primitive({"java.lang.Character.toLowerCase(char)", "java.lang.Character.toUpperCase(char)", "java.lang.Character.toLowerCase(int)"})
    public char lower() {
        return Character.toUpperCase(letter);
    }

    @Benchmark
    @Primitive({"java.lang.Integer.parseInt(String)", "java.lang.Integer.valueOf(String)", "java.lang.Integer.parseInt(String,int)"})
    public int parseInt() {
        return Integer.parseInt(number);
    }

    @Benchmark
    @Primitive({"java.lang.Long.parseLong(String)", "java.lang.Long.valueOf(String)"})
    public long parseLong() {
        return Long.parseLong(number);
    }

    @Benchmark
    @Primitive({"java.lang.Double.parseDouble(String)", "java.lang.Double.valueOf(String)"})
    public double parseDouble() {
        return Double.parseDouble(fraction);
    }

    @Benchmark
    @Primitive({"java.lang.Integer.toString(int)", "java.lang.String.valueOf(int)", "java.lang.Integer.toString()"})
    public String intToString() {
        return Integer.toString(value);
    }

    @Benchmark
    @Primitive({"java.lang.Long.toString(long)", "java.lang.String.valueOf(long)"})
    public String longToString() {
        return Long.toString(wide);
    }

    @Benchmark
    @Primitive({"java.lang.Double.toString(double)", "java.lang.String.valueOf(double)"})
    public String doubleToString() {
        return Double.toString(real);
    }

    @Benchmark
    @Primitive("java.lang.String.format(String,Object[])")
    public String format() {
        return String.format("%s %d", text, value);
    }

    @Benchmark
    @Primitive("java.lang.Integer.valueOf(int)")
    public Integer box() {
        return Integer.valueOf(value);
    }

    @Benchmark
    @Primitive("java.lang.invoke.StringConcatFactory.makeConcatWithConstants")
    public String concatenate() {
        return "a " + text + " of " + value;
    }
}
