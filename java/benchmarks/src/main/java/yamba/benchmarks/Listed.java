package yamba.benchmarks;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The primitives of the benchmarks that JMH's annotation processor has found. */
final class Listed {
    private Listed() {}

    /** The primitives by the name of their benchmark. */
    static Map<String, Primitive> all() {
        var silent = OutputFormatFactory.createFormatInstance(System.err, VerboseMode.SILENT);
        Map<String, Primitive> found = new TreeMap<>();
        for (BenchmarkListEntry entry : BenchmarkList.defaultList().getAll(silent, java.util.List.of())) {
            found.put(entry.getUsername(), primitive(entry));
        }
        return found;
    }

    private static Primitive primitive(BenchmarkListEntry entry) {
        String name = entry.getUsername();
        int dot = name.lastIndexOf('.');
        try {
            for (Method method : Class.forName(entry.getUserClassQName()).getMethods()) {
                if (method.getName().equals(name.substring(dot + 1)) && method.isAnnotationPresent(Primitive.class)) {
                    return method.getAnnotation(Primitive.class);
                }
            }
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
        throw new IllegalStateException(name + " has no @Primitive");
    }

    /** The lines that the agent reads: name, operand with the size, benchmark. */
    static String lines() {
        StringBuilder out = new StringBuilder();
        all().forEach((benchmark, primitive) -> {
            for (String name : primitive.value()) {
                out.append(name).append('\t').append(primitive.size()).append('\t').append(benchmark).append('\n');
            }
        });
        return out.toString();
    }
}
