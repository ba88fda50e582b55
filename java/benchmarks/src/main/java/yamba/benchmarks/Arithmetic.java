package yamba.benchmarks;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Objects;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;

/** Arithmetic and small methods that nearly every program calls. */
public class Arithmetic extends Measured {
    Random random = new Random(3);
    BigDecimal amount = new BigDecimal("12345.67");
    BigDecimal rate = new BigDecimal("1.0825");
    Integer boxed = 7;
    Integer other = 8;
    double x = 0.7;

    @Benchmark
    @Primitive({"java.lang.Integer.intValue()", "java.lang.Object.getClass()", "java.lang.Enum.ordinal()", "java.lang.Math.max(int,int)", "java.lang.Math.min(int,int)",
            "java.lang.Long.longValue()", "java.lang.Boolean.booleanValue()", "java.util.Objects.requireNonNull(Object)", "java.lang.Math.min(long,long)",
            "java.lang.Double.doubleValue()", "java.util.Objects.requireNonNull(Object,String)", "java.lang.Boolean.valueOf(boolean)"})
    public int unbox() {
        return boxed.intValue();
    }

    @Benchmark
    @Primitive({"java.util.Objects.equals(Object,Object)", "java.lang.Integer.equals(Object)", "java.lang.Integer.hashCode()", "java.lang.Integer.compareTo(Integer)", "java.lang.Integer.compare(int,int)"})
    public boolean equal() {
        return Objects.equals(boxed, other);
    }

    @Benchmark
    @Primitive({"java.lang.Math.sin(double)", "java.lang.Math.cos(double)", "java.lang.Math.exp(double)", "java.lang.Math.log(double)"})
    public double sine() {
        return Math.sin(x);
    }

    @Benchmark
    @Primitive("java.lang.Math.pow(double,double)")
    public double power() {
        return Math.pow(x, 1.3);
    }

    @Benchmark
    @Primitive({"java.util.Random.nextInt(int)", "java.util.Random.nextInt()"})
    public int random() {
        return random.nextInt(1000);
    }

    @Benchmark
    @Primitive({"java.math.BigDecimal.add(BigDecimal)", "java.math.BigDecimal.subtract(BigDecimal)"})
    public BigDecimal add() {
        return amount.add(rate);
    }

    @Benchmark
    @Primitive("java.math.BigDecimal.multiply(BigDecimal)")
    public BigDecimal multiply() {
        return amount.multiply(rate);
    }

    @Benchmark
    @Primitive({"java.math.BigDecimal.divide(BigDecimal,int,RoundingMode)", "java.math.BigDecimal.setScale(int,RoundingMode)"})
    public BigDecimal divide() {
        return amount.divide(rate, 4, RoundingMode.HALF_UP);
    }

    @Benchmark
    @Primitive({"java.lang.System.identityHashCode(Object)", "java.lang.Object.hashCode()"})
    public int identity() {
        return System.identityHashCode(amount);
    }
}
