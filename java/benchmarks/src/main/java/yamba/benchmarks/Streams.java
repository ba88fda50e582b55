package yamba.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** Streams over 16 elements, with their creation: the terminal operation does the work. */
public class Streams extends Measured {
    List<String> list = new ArrayList<>();

    @Setup
    public void setup() {
        for (int i = 0; i < 16; i++) {
            list.add("key " + i);
        }
    }

    @Benchmark
    @Primitive({"java.util.stream.ReferencePipeline.collect(Collector)", "java.util.stream.ReferencePipeline.toList()"})
    public List<String> collect() {
        return list.stream().filter(text -> text.length() > 5).collect(Collectors.toList());
    }

    @Benchmark
    @Primitive({"java.util.stream.ReferencePipeline.count()", "java.util.stream.ReferencePipeline.reduce(Object,BinaryOperator)"})
    public long reduce() {
        return list.stream().map(String::length).reduce(0, Integer::sum);
    }

    @Benchmark
    @Primitive({"java.util.stream.ReferencePipeline.anyMatch(Predicate)", "java.util.stream.ReferencePipeline.allMatch(Predicate)", "java.util.stream.ReferencePipeline.findFirst()"})
    public boolean match() {
        return list.stream().anyMatch(text -> text.length() > 50);
    }

    @Benchmark
    @Primitive({"java.util.stream.ReferencePipeline.forEach(Consumer)", "java.util.stream.ReferencePipeline$Head.forEach(Consumer)"})
    public int forEach() {
        int[] sum = new int[1];
        list.stream().map(String::length).forEach(length -> sum[0] += length);
        return sum[0];
    }

    @Benchmark
    @Primitive({"java.util.stream.IntPipeline.sum()"})
    public int sum() {
        return IntStream.range(0, 16).map(i -> 3 * i).sum();
    }
}
