package yamba.benchmarks;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.RandomAccessFile;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.BufferedWriter;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** Reading and writing by the number of bytes or characters. Files are in the page cache. */
public class Files extends Measured {
    private static final int WHOLE = 1 << 20;

    @Param({"64", "8192"})
    int size;

    Path path;
    RandomAccessFile file;
    FileInputStream input;
    FileOutputStream output;
    FileChannel channel;
    ByteBuffer buffer;
    ByteArrayInputStream memoryInput = new ByteArrayInputStream(Text.bytes(WHOLE));
    ByteArrayOutputStream memoryOutput = new ByteArrayOutputStream(2 * WHOLE);
    BufferedOutputStream buffered;
    OutputStreamWriter encoder;
    BufferedWriter writer;
    InputStreamReader decoder;
    BufferedReader reader;
    StringWriter textOutput = new StringWriter();
    String text;
    byte[] bytes;
    char[] characters;

    @Setup
    public void setup() throws IOException {
        path = File.createTempFile("yamba", ".data").toPath();
        java.nio.file.Files.write(path, Text.bytes(WHOLE));
        file = new RandomAccessFile(path.toFile(), "r");
        input = new FileInputStream(path.toFile());
        output = new FileOutputStream("/dev/null");
        channel = FileChannel.open(path);
        buffer = ByteBuffer.allocateDirect(size);
        bytes = Text.bytes(size);
        characters = new char[size];
        text = Text.of(size, 5);
        buffered = new BufferedOutputStream(new FileOutputStream("/dev/null"));
        encoder = new OutputStreamWriter(new FileOutputStream("/dev/null"), StandardCharsets.UTF_8);
        writer = new BufferedWriter(new OutputStreamWriter(new FileOutputStream("/dev/null"), StandardCharsets.UTF_8));
        reopen();
    }

    private void reopen() {
        memoryInput.reset();
        decoder = new InputStreamReader(new ByteArrayInputStream(Text.bytes(WHOLE)), StandardCharsets.UTF_8);
        reader = new BufferedReader(new InputStreamReader(new ByteArrayInputStream(Text.bytes(WHOLE)), StandardCharsets.UTF_8));
    }

    @TearDown
    public void end() throws IOException {
        java.nio.file.Files.delete(path);
    }

    @Benchmark
    @Primitive(value = "java.io.FileInputStream.read(byte[],int,int)", size = "2")
    public int readFile() throws IOException {
        int read = input.read(bytes, 0, size);
        if (read < size) {
            input.getChannel().position(0);
        }
        return read;
    }

    @Benchmark
    @Primitive(value = "java.io.RandomAccessFile.read(byte[],int,int)", size = "2")
    public int readRandomFile() throws IOException {
        int read = file.read(bytes, 0, size);
        if (read < size) {
            file.seek(0);
        }
        return read;
    }

    @Benchmark
    @Primitive(value = {"sun.nio.ch.FileChannelImpl.read(ByteBuffer,long)", "sun.nio.ch.FileChannelImpl.read(ByteBuffer)"}, size = "0")
    public int readChannel() throws IOException {
        buffer.clear();
        return channel.read(buffer, 4096);
    }

    @Benchmark
    @Primitive(value = "java.io.FileOutputStream.write(byte[],int,int)", size = "2")
    public int writeFile() throws IOException {
        output.write(bytes, 0, size);
        return size;
    }

    @Benchmark
    @Primitive(value = "java.io.BufferedOutputStream.write(byte[],int,int)", size = "2")
    public int writeBuffered() throws IOException {
        buffered.write(bytes, 0, size);
        return size;
    }

    @Benchmark
    @Primitive(value = "java.io.ByteArrayOutputStream.write(byte[],int,int)", size = "2")
    public int writeMemory() {
        if (memoryOutput.size() > WHOLE) {
            memoryOutput.reset();
        }
        memoryOutput.write(bytes, 0, size);
        return size;
    }

    @Benchmark
    @Primitive(value = "java.io.ByteArrayInputStream.read(byte[],int,int)", size = "2")
    public int readMemory() {
        int read = memoryInput.read(bytes, 0, size);
        if (read < size) {
            memoryInput.reset();
        }
        return read;
    }

    @Benchmark
    @Primitive(value = "java.io.Writer.write(String)", size = "0")
    public int writeText() throws IOException {
        writer.write(text);
        return size;
    }

    @Benchmark
    @Primitive(value = "java.io.OutputStreamWriter.write(char[],int,int)", size = "2")
    public int encode() throws IOException {
        encoder.write(characters, 0, size);
        return size;
    }

    @Benchmark
    @Primitive(value = "java.io.InputStreamReader.read(char[],int,int)", size = "2")
    public int decode() throws IOException {
        int read = decoder.read(characters, 0, size);
        if (read < 0) {
            reopen();
        }
        return read;
    }

    @Benchmark
    @Primitive(value = "java.io.BufferedReader.read(char[],int,int)", size = "2")
    public int readText() throws IOException {
        int read = reader.read(characters, 0, size);
        if (read < 0) {
            reopen();
        }
        return read;
    }

    @Benchmark
    @Primitive(value = "java.io.StringReader.read(char[],int,int)", size = "2")
    public int readString() throws IOException {
        return new StringReader(text).read(characters, 0, size);
    }

    @Benchmark
    @Primitive(value = "java.io.StringWriter.write(String)", size = "0")
    public int writeString() {
        if (textOutput.getBuffer().length() > WHOLE) {
            textOutput.getBuffer().setLength(0);
        }
        textOutput.write(text);
        return size;
    }
}
