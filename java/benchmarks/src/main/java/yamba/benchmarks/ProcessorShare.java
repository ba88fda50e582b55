package yamba.benchmarks;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * The processor time of Java threads in each iteration, as a share of its time on the clock: JMH's
 * times include waits for a processor.
 */
public final class ProcessorShare implements InternalProfiler {
    /** The name of the result, which the import reads. */
    static final String NAME = "processor_share";

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private long startedNs;
    private long usedNs;

    @Override
    public String getDescription() {
        return "Processor time of Java threads as a share of the time on the clock";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        startedNs = System.nanoTime();
        usedNs = threadsNs();
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double share = (double) (threadsNs() - usedNs) / (System.nanoTime() - startedNs);
        return List.of(new ScalarResult(NAME, share, "share", AggregationPolicy.AVG));
    }

    /** Compilers and collectors are no Java threads. */
    private static long threadsNs() {
        long sum = 0;
        for (long thread : THREADS.getAllThreadIds()) {
            sum += Math.max(THREADS.getThreadCpuTime(thread), 0);
        }
        return sum;
    }
}
