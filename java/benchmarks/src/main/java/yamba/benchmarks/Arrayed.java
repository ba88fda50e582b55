package yamba.benchmarks;

import java.util.Arrays;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Arrays by their number of elements. */
public class Arrayed extends Measured {
    @Param({"16", "1024", "65536"})
    int size;

    byte[] bytes;
    byte[] twin;
    int[] random;
    int[] copy;
    int[] sorted;

    @Setup
    public void setup() {
        bytes = Text.bytes(size);
        twin = Text.bytes(size);
        random = new Random(3).ints(size).toArray();
        sorted = random.clone();
        Arrays.sort(sorted);
        copy = new int[size];
    }

    @Benchmark
    @Primitive(value = "java.lang.System.arraycopy(Object,int,Object,int,int)", size = "4")
    public byte[] arraycopy() {
        System.arraycopy(bytes, 0, twin, 0, size);
        return twin;
    }

    @Benchmark
    @Primitive(value = {"java.util.Arrays.copyOf(byte[],int)", "java.util.Arrays.copyOf(Object[],int)", "java.util.Arrays.copyOf(int[],int)", "java.util.Arrays.copyOf(char[],int)"}, size = "1")
    public byte[] copyOf() {
        return Arrays.copyOf(bytes, size);
    }

    @Benchmark
    @Primitive(value = "java.util.Arrays.copyOfRange(byte[],int,int)", size = "2")
    public byte[] copyOfRange() {
        return Arrays.copyOfRange(bytes, 0, size);
    }

    @Benchmark
    @Primitive(value = {"java.util.Arrays.fill(int[],int)", "java.util.Arrays.fill(byte[],byte)", "java.util.Arrays.fill(Object[],Object)", "java.util.Arrays.fill(long[],long)"}, size = "0")
    public int[] fill() {
        Arrays.fill(copy, 7);
        return copy;
    }

    @Benchmark
    @Primitive(value = "java.util.Arrays.equals(byte[],byte[])", size = "0")
    public boolean equal() {
        return Arrays.equals(bytes, twin);
    }

    @Benchmark
    @Primitive(value = "java.util.Arrays.sort(int[])", size = "0")
    public int[] sort() {
        System.arraycopy(random, 0, copy, 0, size);
        Arrays.sort(copy);
        return copy;
    }

    @Benchmark
    @Primitive(value = "java.util.Arrays.binarySearch(int[],int)", size = "0")
    public int binarySearch() {
        return Arrays.binarySearch(sorted, random[size / 3]);
    }
}
