package yamba.benchmarks;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Texts whose cost depends on their length. */
public class Strings extends Measured {
    @Param({"8", "64", "1024"})
    int size;

    String text;
    String twin;
    String upper;
    String padded;
    byte[] bytes;
    char[] characters;
    String[] fresh;
    int next;

    @Setup
    public void setup() {
        text = Text.of(size, 1);
        twin = Text.of(size, 1);
        upper = text.toUpperCase(Locale.ROOT);
        padded = " " + text.strip() + " ";
        bytes = text.getBytes(StandardCharsets.UTF_8);
        characters = text.toCharArray();
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.indexOf(int)", "java.lang.String.indexOf(int,int)", "java.lang.String.lastIndexOf(int)"}, size = "this")
    public int indexOfCharacter() {
        return text.indexOf('z');
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.indexOf(String)", "java.lang.String.indexOf(String,int)", "java.lang.String.lastIndexOf(String)"}, size = "this")
    public int indexOf() {
        return text.indexOf("ez");
    }

    @Benchmark
    @Primitive(value = "java.lang.String.contains(CharSequence)", size = "this")
    public boolean contains() {
        return text.contains("ez");
    }

    @Benchmark
    @Primitive(value = "java.lang.String.equals(Object)", size = "this")
    public boolean equal() {
        return text.equals(twin);
    }

    @Benchmark
    @Primitive(value = "java.lang.String.equalsIgnoreCase(String)", size = "this")
    public boolean equalsIgnoreCase() {
        return text.equalsIgnoreCase(upper);
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.compareTo(String)"}, size = "this")
    public int compareTo() {
        return text.compareTo(twin);
    }

    @Benchmark
    @Primitive(value = "java.lang.String.substring(int)", size = "this")
    public String substring() {
        return text.substring(1);
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.substring(int,int)", "java.lang.String.subSequence(int,int)"}, size = "1")
    public String substringTo() {
        return text.substring(1, size);
    }

    @Benchmark
    @Primitive(value = "java.lang.String.toLowerCase(Locale)", size = "this")
    public String toLowerCase() {
        return upper.toLowerCase(Locale.ROOT);
    }

    @Benchmark
    @Primitive(value = "java.lang.String.toLowerCase()", size = "this")
    public String toLowerCaseDefault() {
        return upper.toLowerCase();
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.toUpperCase(Locale)", "java.lang.String.toUpperCase()"}, size = "this")
    public String toUpperCase() {
        return text.toUpperCase(Locale.ROOT);
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.trim()", "java.lang.String.strip()"}, size = "this")
    public String trim() {
        return padded.trim();
    }

    @Benchmark
    @Primitive(value = "java.lang.String.replace(char,char)", size = "this")
    public String replaceCharacter() {
        return text.replace('e', 'z');
    }

    @Benchmark
    @Primitive(value = "java.lang.String.replace(CharSequence,CharSequence)", size = "this")
    public String replace() {
        return text.replace("e", "zz");
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.split(String)", "java.lang.String.split(String,int)"}, size = "this")
    public String[] split() {
        return text.split(" ");
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.getBytes(Charset)", "java.lang.String.getBytes()"}, size = "this")
    public byte[] getBytes() {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.<init>(byte[],Charset)"}, size = "0")
    public String decode() {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.<init>(byte[],int,int,Charset)"}, size = "2")
    public String decodePart() {
        return new String(bytes, 0, size, StandardCharsets.UTF_8);
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.<init>(char[],int,int)", "java.lang.String.valueOf(char[],int,int)"}, size = "2")
    public String ofCharacters() {
        return new String(characters, 0, size);
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.<init>(char[])", "java.lang.String.valueOf(char[])"}, size = "0")
    public String ofAllCharacters() {
        return new String(characters);
    }

    @Benchmark
    @Primitive(value = "java.lang.String.toCharArray()", size = "this")
    public char[] toCharArray() {
        return text.toCharArray();
    }

    @Benchmark
    @Primitive(value = "java.lang.String.getChars(int,int,char[],int)", size = "1")
    public char[] getChars() {
        text.getChars(0, size, characters, 0);
        return characters;
    }

    @Benchmark
    @Primitive(value = "java.lang.String.intern()", size = "this")
    public String intern() {
        return twin.intern();
    }

    @Benchmark
    @Primitive(value = {"java.lang.String.startsWith(String)", "java.lang.String.endsWith(String)", "java.lang.String.startsWith(String,int)"}, size = "0")
    public boolean startsWith() {
        return text.startsWith(twin);
    }
}
