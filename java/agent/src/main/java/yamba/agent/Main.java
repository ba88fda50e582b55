package yamba.agent;

import java.nio.file.Path;

/** {@code java -jar agent.jar} prints the virtual machine; with a recording of JFR, its samples. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws Exception {
        StringBuilder out = new StringBuilder();
        if (arguments.length == 0) {
            Identity.append(out);
        } else {
            Samples.of(Path.of(arguments[0])).append(out);
        }
        System.out.println(out);
    }
}
