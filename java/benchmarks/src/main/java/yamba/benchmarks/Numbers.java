package yamba.benchmarks;

import java.math.BigInteger;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Large integers by their bytes. */
public class Numbers extends Measured {
    @Param({"16", "128", "1024"})
    int size;

    BigInteger a;
    BigInteger b;
    BigInteger half;

    @Setup
    public void setup() {
        Random random = new Random(11);
        a = new BigInteger(8 * size - 1, random).setBit(8 * size - 1);
        b = new BigInteger(8 * size - 1, random).setBit(8 * size - 2);
        half = new BigInteger(4 * size, random).setBit(4 * size - 1);
    }

    @Benchmark
    @Primitive(value = {"java.math.BigInteger.add(BigInteger)", "java.math.BigInteger.subtract(BigInteger)"}, size = "this")
    public BigInteger add() {
        return a.add(b);
    }

    @Benchmark
    @Primitive(value = "java.math.BigInteger.multiply(BigInteger)", size = "this")
    public BigInteger multiply() {
        return a.multiply(b);
    }

    @Benchmark
    @Primitive(value = {"java.math.BigInteger.mod(BigInteger)", "java.math.BigInteger.divide(BigInteger)", "java.math.BigInteger.remainder(BigInteger)"}, size = "this")
    public BigInteger mod() {
        return a.mod(half);
    }

    @Benchmark
    @Primitive(value = "java.math.BigInteger.toString()", size = "this")
    public String text() {
        return a.toString();
    }
}
