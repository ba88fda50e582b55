package yamba.benchmarks;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs JMH with its own options. {@code --primitives} prints the list of primitives. The JSON file
 * of {@code -rff} gets a key {@code yamba} in each entry: the primitives of
 * the benchmark, and what JMH does not say of the virtual machine.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--primitives")) {
            System.out.print(Listed.lines());
            return;
        }
        CommandLineOptions options = new CommandLineOptions(arguments);
        new Runner(new OptionsBuilder().parent(options).addProfiler(ProcessorShare.class).build()).run();
        if (options.getResult().hasValue()) {
            annotate(Path.of(options.getResult().get()));
        }
    }

    /** JMH writes the name of each benchmark in a line of its own. */
    private static void annotate(Path file) throws Exception {
        Map<String, Primitive> primitives = Listed.all();
        StringBuilder out = new StringBuilder();
        for (String line : Files.readAllLines(file)) {
            out.append(line).append('\n');
            if (line.strip().startsWith("\"benchmark\" : ")) {
                String name = line.substring(line.indexOf(" : ") + 4, line.lastIndexOf('"'));
                out.append(facts(primitives.get(name)));
            }
        }
        Files.writeString(file, out);
    }

    private static String facts(Primitive primitive) {
        String names = java.util.Arrays.stream(primitive.value()).map(n -> '"' + n + '"').collect(Collectors.joining(", "));
        String by = primitive.size().isEmpty() ? "null" : "\"size\"";
        String collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .map(GarbageCollectorMXBean::getName).collect(Collectors.joining(", "));
        return String.format("        \"yamba\" : {\"primitives\" : [%s], \"by\" : %s, \"vendor\" : \"%s\", \"collector\" : \"%s\"},%n",
                names, by, System.getProperty("java.vendor"), collectors);
    }
}
