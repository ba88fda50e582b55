package yamba.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Collections by their number of elements. Keys are texts, visited in random order. */
public class Collections extends Measured {
    @Param({"16", "1024", "65536"})
    int size;

    String[] keys;
    String[] others;
    HashMap<String, String> map = new HashMap<>();
    LinkedHashMap<String, String> linked = new LinkedHashMap<>();
    TreeMap<String, String> tree = new TreeMap<>();
    HashSet<String> set = new HashSet<>();
    ArrayList<String> list = new ArrayList<>();
    int next;

    @Setup
    public void setup() {
        keys = new String[size];
        for (int i = 0; i < size; i++) {
            keys[i] = "key " + i;
            map.put(keys[i], keys[i]);
            linked.put(keys[i], keys[i]);
            tree.put(keys[i], keys[i]);
            set.add(keys[i]);
            list.add(keys[i]);
        }
        others = new String[size];
        java.util.Collections.shuffle(Arrays.asList(keys), new Random(5));
        for (int i = 0; i < size; i++) {
            others[i] = new String(keys[i]);
        }
    }

    private String key() {
        next = next + 1 == size ? 0 : next + 1;
        return others[next];
    }

    @Benchmark
    @Primitive(value = {"java.util.HashMap.get(Object)", "java.util.HashMap.containsKey(Object)", "java.util.HashMap.getOrDefault(Object,Object)"}, size = "this")
    public String hashMapGet() {
        return map.get(key());
    }

    @Benchmark
    @Primitive(value = {"java.util.HashMap.put(Object,Object)", "java.util.HashMap.putIfAbsent(Object,Object)",
            "java.util.HashMap.computeIfAbsent(Object,Function)", "java.util.HashMap.merge(Object,Object,BiFunction)"}, size = "this")
    public String hashMapPut() {
        String key = key();
        return map.put(key, key);
    }

    /** Removing a key and adding it. */
    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive(value = "java.util.HashMap.remove(Object)", size = "this")
    public String hashMapRemove() {
        String key = key();
        String removed = map.remove(key);
        map.put(key, removed);
        return removed;
    }

    @Benchmark
    @Primitive(value = {"java.util.LinkedHashMap.get(Object)", "java.util.LinkedHashMap.getOrDefault(Object,Object)"}, size = "this")
    public String linkedHashMapGet() {
        return linked.get(key());
    }

    @Benchmark
    @Primitive(value = {"java.util.TreeMap.get(Object)", "java.util.TreeMap.containsKey(Object)"}, size = "this")
    public String treeMapGet() {
        return tree.get(key());
    }

    @Benchmark
    @Primitive(value = "java.util.TreeMap.put(Object,Object)", size = "this")
    public String treeMapPut() {
        String key = key();
        return tree.put(key, key);
    }

    @Benchmark
    @Primitive(value = {"java.util.HashSet.contains(Object)"}, size = "this")
    public boolean hashSetContains() {
        return set.contains(key());
    }

    @Benchmark
    @Primitive(value = {"java.util.HashSet.add(Object)"}, size = "this")
    public boolean hashSetAdd() {
        return set.add(key());
    }

    @Benchmark
    @Primitive(value = {"java.util.ArrayList.<init>(Collection)", "java.util.ArrayList.addAll(Collection)"}, size = "0")
    public List<String> copyList() {
        return new ArrayList<>(list);
    }

    @Benchmark
    @Primitive(value = {"java.util.HashMap.<init>(Map)", "java.util.HashMap.putAll(Map)"}, size = "0")
    public Map<String, String> copyMap() {
        return new HashMap<>(map);
    }

    @Benchmark
    @Primitive(value = {"java.util.ArrayList.toArray(Object[])", "java.util.ArrayList.toArray()"}, size = "this")
    public Object[] toArray() {
        return list.toArray(new String[0]);
    }

    @Benchmark
    @Primitive(value = "java.util.ArrayList.sort(Comparator)", size = "this")
    public List<String> sort() {
        ArrayList<String> copy = new ArrayList<>(Arrays.asList(others));
        copy.sort(null);
        return copy;
    }

    @Benchmark
    @Primitive(value = {"java.util.Collections.sort(List)", "java.util.Collections.sort(List,Comparator)"}, size = "0")
    public List<String> sortStatic() {
        ArrayList<String> copy = new ArrayList<>(Arrays.asList(others));
        java.util.Collections.sort(copy);
        return copy;
    }

    /** Half of the elements come before the one that is found. */
    @Benchmark
    @Primitive(value = {"java.util.ArrayList.contains(Object)", "java.util.ArrayList.indexOf(Object)"}, size = "this")
    public boolean listContains() {
        return list.contains(keys[size / 2]);
    }

    @Benchmark
    @Primitive(value = {"java.util.ArrayList.forEach(Consumer)"}, size = "this")
    public int listForEach() {
        next = 0;
        list.forEach(text -> next += text.length());
        int sum = next;
        next = 0;
        return sum;
    }
}
