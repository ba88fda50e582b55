package programs;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorInputStream;
import org.apache.commons.compress.compressors.gzip.GzipCompressorOutputStream;

/** commons-compress: archives of small files, compressed and read again. */
public final class Archive {
    private Archive() {}

    public static void main(String[] arguments) throws IOException {
        int rounds = Integer.parseInt(arguments[0]);
        Random random = new Random(8);
        byte[][] files = new byte[200][];
        for (int i = 0; i < files.length; i++) {
            files[i] = Data.sentence(random, 20 + random.nextInt(800)).getBytes(StandardCharsets.UTF_8);
        }
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (TarArchiveOutputStream tar = new TarArchiveOutputStream(new GzipCompressorOutputStream(out))) {
                for (int i = 0; i < files.length; i++) {
                    TarArchiveEntry entry = new TarArchiveEntry("folder/file" + i);
                    entry.setSize(files[i].length);
                    tar.putArchiveEntry(entry);
                    tar.write(files[i]);
                    tar.closeArchiveEntry();
                }
            }
            try (TarArchiveInputStream tar = new TarArchiveInputStream(new GzipCompressorInputStream(new ByteArrayInputStream(out.toByteArray())))) {
                for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
                    sum += tar.readAllBytes().length + entry.getName().length();
                }
            }
        }
        System.out.println(sum);
    }
}
