package yamba.benchmarks;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** Objects with three fields as bytes, with a stream for each. */
public class Serialisation extends Measured {
    /** A small object. */
    private static final class Small implements Serializable {
        private static final long serialVersionUID = 1;
        final String name = "name";
        final int number = 7;
        final double value = 3.5;
    }

    private final Small small = new Small();
    private byte[] bytes;

    @Setup
    public void setup() throws IOException {
        bytes = write();
    }

    @Benchmark
    @Primitive("java.io.ObjectOutputStream.writeObject(Object)")
    public byte[] write() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ObjectOutputStream objects = new ObjectOutputStream(out)) {
            objects.writeObject(small);
        }
        return out.toByteArray();
    }

    @Benchmark
    @Primitive("java.io.ObjectInputStream.readObject()")
    public Object read() throws IOException, ClassNotFoundException {
        try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return objects.readObject();
        }
    }
}
