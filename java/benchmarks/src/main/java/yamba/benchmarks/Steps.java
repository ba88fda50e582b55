package yamba.benchmarks;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;

/** Operations on collections that take the same time for each number of elements. */
public class Steps extends Measured {
    ArrayList<String> list = new ArrayList<>();
    ArrayList<String> growing = new ArrayList<>();
    LinkedList<String> chain = new LinkedList<>();
    ArrayDeque<String> queue = new ArrayDeque<>();
    PriorityQueue<String> heap = new PriorityQueue<>();
    HashMap<String, String> map = new HashMap<>();
    Iterator<String> iterator;
    Iterator<Map.Entry<String, String>> entries;
    int next;

    @Setup
    public void setup() {
        for (int i = 0; i < 1024; i++) {
            list.add("key " + i);
            queue.add("key " + i);
            chain.add("key " + i);
            heap.add("key " + i);
            map.put("key " + i, "value");
        }
        iterator = list.iterator();
        entries = map.entrySet().iterator();
    }

    @Benchmark
    @Primitive({"java.util.ArrayList.get(int)", "java.util.Arrays$ArrayList.get(int)", "java.util.ArrayList.set(int,Object)"})
    public String get() {
        next = (next + 1) & 1023;
        return list.get(next);
    }

    @Benchmark
    @Primitive({"java.util.ArrayList.size()", "java.util.ArrayList.isEmpty()", "java.util.HashMap.size()", "java.util.HashMap.isEmpty()", "java.util.ArrayDeque.isEmpty()"})
    public int size() {
        return list.size();
    }

    /** Growth included: the list is dropped at 1024 elements. */
    @Benchmark
    @Primitive("java.util.ArrayList.add(Object)")
    public ArrayList<String> add() {
        if (growing.size() == 1024) {
            growing = new ArrayList<>();
        }
        growing.add("key");
        return growing;
    }

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.ArrayList$Itr.next()", "java.util.ArrayList$Itr.hasNext()"})
    public String iterate() {
        if (!iterator.hasNext()) {
            iterator = list.iterator();
        }
        return iterator.next();
    }

    @Benchmark
    @Primitive({"java.util.HashMap$EntryIterator.next()", "java.util.HashMap$HashIterator.hasNext()", "java.util.HashMap$KeyIterator.next()", "java.util.HashMap$ValueIterator.next()"})
    public Object iterateMap() {
        if (!entries.hasNext()) {
            entries = map.entrySet().iterator();
        }
        return entries.next();
    }

    @Benchmark
    @Primitive({"java.util.ArrayList.iterator()"})
    public Iterator<String> iterator() {
        return list.iterator();
    }

    @Benchmark
    @Primitive({"java.util.HashMap.<init>()", "java.util.HashMap.<init>(int)", "java.util.LinkedHashMap.<init>()"})
    public Object createMap() {
        return new HashMap<String, String>();
    }

    @Benchmark
    @Primitive({"java.util.ArrayList.<init>()", "java.util.ArrayList.<init>(int)"})
    public Object createList() {
        return new ArrayList<String>();
    }

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.ArrayDeque.addLast(Object)", "java.util.ArrayDeque.add(Object)", "java.util.ArrayDeque.pollFirst()", "java.util.ArrayDeque.poll()",
            "java.util.ArrayDeque.push(Object)", "java.util.ArrayDeque.pop()"})
    public String rotateQueue() {
        String first = queue.pollFirst();
        queue.addLast(first);
        return first;
    }

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.LinkedList.add(Object)", "java.util.LinkedList.removeFirst()", "java.util.LinkedList.addLast(Object)", "java.util.LinkedList.poll()"})
    public String rotateChain() {
        String first = chain.removeFirst();
        chain.add(first);
        return first;
    }

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.PriorityQueue.poll()", "java.util.PriorityQueue.add(Object)", "java.util.PriorityQueue.offer(Object)"})
    public String rotateHeap() {
        String first = heap.poll();
        heap.add(first);
        return first;
    }

    @Benchmark
    @Primitive({"java.util.List.of(Object,Object)", "java.util.Arrays.asList(Object[])"})
    public List<String> asList() {
        return Arrays.asList("a", "b");
    }
}
