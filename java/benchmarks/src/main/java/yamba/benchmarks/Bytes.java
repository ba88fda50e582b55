package yamba.benchmarks;

import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.ByteBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** Reading and writing single values, and files by name. */
public class Bytes extends Measured {
    byte[] bytes = Text.bytes(1 << 16);
    String lines = (Text.of(63, 3) + "\n").repeat(1024);
    BufferedInputStream input;
    ByteArrayInputStream memoryInput = new ByteArrayInputStream(bytes);
    DataInputStream data = new DataInputStream(memoryInput);
    ByteArrayOutputStream output = new ByteArrayOutputStream(1 << 17);
    DataOutputStream dataOutput = new DataOutputStream(output);
    BufferedReader reader = new BufferedReader(new StringReader(lines));
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    File file;
    int at;

    @Setup
    public void setup() throws IOException {
        file = File.createTempFile("yamba", ".data");
        file.deleteOnExit();
        input = new BufferedInputStream(new ByteArrayInputStream(bytes));
    }

    @Benchmark
    @Primitive({"java.io.BufferedInputStream.read()", "java.io.BufferedReader.read()", "java.io.PushbackInputStream.read()"})
    public int read() throws IOException {
        int read = input.read();
        if (read < 0) {
            input = new BufferedInputStream(new ByteArrayInputStream(bytes));
        }
        return read;
    }

    @Benchmark
    @Primitive({"java.io.ByteArrayInputStream.read()", "java.io.StringReader.read()"})
    public int readMemory() {
        int read = memoryInput.read();
        if (read < 0) {
            memoryInput.reset();
        }
        return read;
    }

    @Benchmark
    @Primitive({"java.io.ByteArrayOutputStream.write(int)", "java.io.BufferedOutputStream.write(int)"})
    public int write() {
        if (output.size() >= 1 << 16) {
            output.reset();
        }
        output.write(7);
        return 7;
    }

    @Benchmark
    @Primitive({"java.io.DataInputStream.readInt()", "java.io.DataInputStream.readLong()"})
    public int readInt() throws IOException {
        if (memoryInput.available() < 4) {
            memoryInput.reset();
        }
        return data.readInt();
    }

    @Benchmark
    @Primitive({"java.io.DataOutputStream.writeInt(int)", "java.io.DataOutputStream.writeLong(long)"})
    public int writeInt() throws IOException {
        if (output.size() >= 1 << 16) {
            output.reset();
        }
        dataOutput.writeInt(7);
        return 7;
    }

    /** A line of 63 characters. */
    @Benchmark
    @Primitive("java.io.BufferedReader.readLine()")
    public String readLine() throws IOException {
        String line = reader.readLine();
        if (line == null) {
            reader = new BufferedReader(new StringReader(lines));
        }
        return line;
    }

    @Benchmark
    @Primitive({"java.nio.HeapByteBuffer.get(int)", "java.nio.HeapByteBuffer.get()", "java.nio.HeapByteBuffer.getInt(int)", "java.nio.HeapByteBuffer.getLong(int)",
            "java.nio.HeapByteBuffer.put(byte)", "java.nio.HeapByteBuffer.getInt()", "java.nio.HeapByteBuffer.putInt(int)"})
    public int getInt() {
        at = (at + 4) & 0xffff;
        return buffer.getInt(at);
    }

    @Benchmark
    @Primitive({"java.io.File.exists()", "java.io.File.isFile()", "java.io.File.isDirectory()", "java.io.File.length()", "java.io.File.lastModified()"})
    public boolean exists() {
        return file.exists();
    }

    @Benchmark
    @Primitive({"java.io.FileInputStream.<init>(File)", "java.io.FileInputStream.<init>(String)"})
    public int open() throws IOException {
        try (FileInputStream opened = new FileInputStream(file)) {
            return opened.available();
        }
    }
}
