package yamba.benchmarks;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.Inflater;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** Compression, checksums and digests by bytes. A size counts bytes that are not compressed. */
public class Packing extends Measured {
    @Param({"512", "8192"})
    int size;

    byte[] bytes;
    byte[] packed;
    byte[] zipped;
    byte[] out;
    CRC32 crc = new CRC32();
    Deflater deflater = new Deflater();
    Inflater inflater = new Inflater();
    MessageDigest sha;

    @Setup
    public void setup() throws IOException, NoSuchAlgorithmException {
        bytes = Text.bytes(size);
        out = new byte[2 * size + 64];
        deflater.setInput(bytes);
        deflater.finish();
        packed = java.util.Arrays.copyOf(out, deflater.deflate(out));
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(whole)) {
            zip.write(bytes);
        }
        zipped = whole.toByteArray();
        sha = MessageDigest.getInstance("SHA-256");
    }

    @Benchmark
    @Primitive(value = {"java.util.zip.CRC32.update(byte[],int,int)", "java.util.zip.Adler32.update(byte[],int,int)"}, size = "2")
    public long checksum() {
        crc.update(bytes, 0, size);
        return crc.getValue();
    }

    @Benchmark
    @Primitive(value = {"java.util.zip.Deflater.deflate(byte[],int,int)", "java.util.zip.DeflaterOutputStream.write(byte[],int,int)", "java.util.zip.GZIPOutputStream.write(byte[],int,int)"}, size = "2")
    public int deflate() {
        deflater.reset();
        deflater.setInput(bytes);
        deflater.finish();
        return deflater.deflate(out, 0, out.length);
    }

    @Benchmark
    @Primitive(value = {"java.util.zip.Inflater.inflate(byte[],int,int)", "java.util.zip.InflaterInputStream.read(byte[],int,int)"}, size = "2")
    public int inflate() throws DataFormatException {
        inflater.reset();
        inflater.setInput(packed);
        return inflater.inflate(out, 0, size);
    }

    @Benchmark
    @Primitive(value = "java.util.zip.GZIPInputStream.read(byte[],int,int)", size = "2")
    public int unzip() throws IOException {
        try (GZIPInputStream zip = new GZIPInputStream(new ByteArrayInputStream(zipped))) {
            return zip.read(out, 0, size);
        }
    }

    @Benchmark
    @Primitive(value = "java.security.MessageDigest.digest(byte[])", size = "0")
    public byte[] digest() {
        return sha.digest(bytes);
    }

    @Benchmark
    @Primitive(value = "java.security.MessageDigest.update(byte[],int,int)", size = "2")
    public MessageDigest update() {
        sha.update(bytes, 0, size);
        return sha;
    }

    @Benchmark
    @Primitive(value = {"java.util.Base64$Encoder.encodeToString(byte[])", "java.util.Base64$Encoder.encode(byte[])"}, size = "0")
    public String encode() {
        return Base64.getEncoder().encodeToString(bytes);
    }
}
