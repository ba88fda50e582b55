package jdk.test.whitebox;

/**
 * The JVM registers the methods of this class with -XX:+WhiteBoxAPI. The name is fixed by the JVM.
 */
public class WhiteBox {
    static {
        registerNatives();
    }

    private static native void registerNatives();

    /** Collects the young generation. */
    public native void youngGC();
}
