package yamba.benchmarks;

import org.openjdk.jmh.annotations.Benchmark;

/** The least that a call can cost. It stands for methods without a benchmark of their own. */
public class Null extends Measured {
    Object object = new Object();

    @Benchmark
    @Primitive("null")
    public Object call() {
        return object;
    }
}
