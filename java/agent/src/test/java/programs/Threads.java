package programs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Many threads, one after the other and at the same time. One still runs at the end. */
public final class Threads {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private Threads() {}

    private static void work() {
        for (int i = 0; i < 1000; i++) {
            COUNT.incrementAndGet();
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        for (int round = 0; round < 50; round++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Thread thread = new Thread(Threads::work);
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        Object lock = new Object();
        Thread last = new Thread(() -> {
            work();
            synchronized (lock) {
                lock.notifyAll();
                try {
                    lock.wait();
                } catch (InterruptedException e) {
                    return;
                }
            }
        });
        last.setDaemon(true);
        synchronized (lock) {
            last.start();
            lock.wait();
        }
    }
}
