package programs;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Readers and writers by bytes, by their abstract classes, and a stream of the program's own around
 * one of the library.
 */
public final class Streams {
    private Streams() {}

    private static final class Own extends FilterOutputStream {
        Own(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int from, int count) throws IOException {
            out.write(bytes, from, count);
        }
    }

    private static void send(OutputStream out, int size) throws IOException {
        byte[] bytes = new byte[size];
        for (int i = 0; i < 25; i++) {
            out.write(bytes, 0, size);
        }
        out.write(7);
    }

    public static void main(String[] arguments) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        send(out, 100);
        send(new Own(out), 1000);
        InputStream in = new ByteArrayInputStream(out.toByteArray());
        byte[] part = new byte[512];
        int sum = 0;
        for (int read = in.read(part, 0, 512); read >= 0; read = in.read(part, 0, 512)) {
            sum += read;
        }
        if (sum != 27502) {
            throw new IllegalStateException("" + sum);
        }
    }
}
