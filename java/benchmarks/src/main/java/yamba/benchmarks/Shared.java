package yamba.benchmarks;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Collections for several threads, as one thread uses them. */
public class Shared extends Measured {
    @Param({"16", "65536"})
    int size;

    ConcurrentHashMap<String, String> map = new ConcurrentHashMap<>();
    ConcurrentSkipListMap<String, String> sorted = new ConcurrentSkipListMap<>();
    String[] keys;
    int next;

    @Setup
    public void setup() {
        keys = new String[size];
        for (int i = 0; i < size; i++) {
            keys[i] = "key " + i * 7919 % size;
            map.put(keys[i], keys[i]);
            sorted.put(keys[i], keys[i]);
        }
    }

    private String key() {
        next = next + 1 == size ? 0 : next + 1;
        return keys[next];
    }

    @Benchmark
    @Primitive(value = {"java.util.concurrent.ConcurrentHashMap.get(Object)", "java.util.concurrent.ConcurrentHashMap.containsKey(Object)"}, size = "this")
    public String get() {
        return map.get(key());
    }

    @Benchmark
    @Primitive(value = {"java.util.concurrent.ConcurrentHashMap.put(Object,Object)", "java.util.concurrent.ConcurrentHashMap.putIfAbsent(Object,Object)"}, size = "this")
    public String put() {
        String key = key();
        return map.put(key, key);
    }

    @Benchmark
    @Primitive(value = "java.util.concurrent.ConcurrentHashMap.computeIfAbsent(Object,Function)", size = "this")
    public String compute() {
        return map.computeIfAbsent(key(), key -> key);
    }

    @Benchmark
    @Primitive(value = "java.util.concurrent.ConcurrentSkipListMap.get(Object)", size = "this")
    public String getSorted() {
        return sorted.get(key());
    }
}
