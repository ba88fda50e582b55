package yamba.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The document of counted calls: for each method and size class, the mean size and the count. */
final class CallsDocument {
    private CallsDocument() {}

    static void write(Path file) throws IOException {
        long[] counts = Counters.sum();
        StringBuilder out = new StringBuilder("{\"jvm\": ");
        Identity.append(out);
        out.append(",\n \"left_out_classes\": ").append(Transformer.LEFT_OUT.get());
        out.append(",\n \"others\": ").append(counts[0]).append(",\n \"calls\": [");
        int start = out.length();
        for (Methods.Counted method : Methods.all()) {
            if (method.operand() == null) {
                row(out, method.name(), counts[method.place()], "null");
            } else {
                sized(out, method, counts);
            }
        }
        if (out.length() > start) {
            out.setLength(out.length() - 1);
        }
        Files.writeString(file, out.append("\n]}\n"));
    }

    private static void sized(StringBuilder out, Methods.Counted method, long[] counts) {
        for (int sizeClass = 0; sizeClass < Methods.CLASSES; sizeClass++) {
            int at = method.place() + 2 * sizeClass;
            double mean = (double) counts[at + 1] / counts[at];
            row(out, method.name(), counts[at], Double.toString(mean));
        }
    }

    private static void row(StringBuilder out, String name, long count, String mean) {
        if (count > 0) {
            out.append("\n  {\"name\": ");
            Names.quote(out, name);
            out.append(", \"mean_size\": ").append(mean);
            out.append(", \"count\": ").append(count).append("},");
        }
    }
}
