package yamba.agent;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.Collectors;

/** The virtual machine that runs: vendor, version, flags and collector. */
final class Identity {
    private Identity() {}

    static void append(StringBuilder out) {
        out.append("{\"vendor\": ");
        Names.quote(out, System.getProperty("java.vendor"));
        out.append(", \"version\": ");
        Names.quote(out, System.getProperty("java.vm.version"));
        out.append(", \"vm\": ");
        Names.quote(out, System.getProperty("java.vm.name"));
        out.append(", \"collector\": ");
        Names.quote(out, collector());
        out.append('}');
    }

    private static String collector() {
        List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
        return collectors.stream().map(GarbageCollectorMXBean::getName).collect(Collectors.joining(", "));
    }
}
