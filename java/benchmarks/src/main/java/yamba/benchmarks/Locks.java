package yamba.benchmarks;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/** Locks without contention, and queues between threads as one thread uses them. */
public class Locks extends Measured {
    ReentrantLock lock = new ReentrantLock();
    ReentrantReadWriteLock.ReadLock reading = new ReentrantReadWriteLock().readLock();
    AtomicInteger atomic = new AtomicInteger();
    ThreadLocal<String> local = ThreadLocal.withInitial(() -> "a");
    ConcurrentLinkedQueue<String> queue = new ConcurrentLinkedQueue<>();
    LinkedBlockingQueue<String> blocking = new LinkedBlockingQueue<>();
    int value;

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.concurrent.locks.ReentrantLock.lock()", "java.util.concurrent.locks.ReentrantLock.unlock()"})
    public int lock() {
        lock.lock();
        try {
            return value++;
        } finally {
            lock.unlock();
        }
    }

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.lock()", "java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock.unlock()"})
    public int readLock() {
        reading.lock();
        try {
            return value;
        } finally {
            reading.unlock();
        }
    }

    @Benchmark
    @Primitive({"java.util.concurrent.atomic.AtomicInteger.incrementAndGet()", "java.util.concurrent.atomic.AtomicInteger.getAndIncrement()",
            "java.util.concurrent.atomic.AtomicLong.incrementAndGet()", "java.util.concurrent.atomic.AtomicInteger.compareAndSet(int,int)",
            "java.util.concurrent.atomic.AtomicLong.addAndGet(long)"})
    public int increment() {
        return atomic.incrementAndGet();
    }

    @Benchmark
    @Primitive("java.lang.ThreadLocal.get()")
    public String local() {
        return local.get();
    }

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.concurrent.ConcurrentLinkedQueue.add(Object)", "java.util.concurrent.ConcurrentLinkedQueue.poll()"})
    public String queue() {
        queue.add("a");
        return queue.poll();
    }

    @Benchmark
    @OperationsPerInvocation(2)
    @Primitive({"java.util.concurrent.LinkedBlockingQueue.offer(Object)", "java.util.concurrent.LinkedBlockingQueue.poll()"})
    public String blocking() {
        blocking.offer("a");
        return blocking.poll();
    }
}
