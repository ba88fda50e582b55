package yamba.benchmarks;

import java.text.SimpleDateFormat;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Date;
import java.util.Locale;
import org.openjdk.jmh.annotations.Benchmark;

/** Dates and clocks. */
public class Dates extends Measured {
    LocalDateTime time = LocalDateTime.of(2024, 2, 29, 12, 34, 56);
    LocalDate date = time.toLocalDate();
    String text = "2024-02-29";
    DateTimeFormatter format = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    SimpleDateFormat simple = new SimpleDateFormat("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    Date old = new Date(1709210096000L);

    @Benchmark
    @Primitive({"java.time.LocalDate.parse(CharSequence)", "java.time.LocalDateTime.parse(CharSequence,DateTimeFormatter)"})
    public LocalDate parse() {
        return LocalDate.parse(text);
    }

    @Benchmark
    @Primitive({"java.time.format.DateTimeFormatter.format(TemporalAccessor)", "java.time.LocalDateTime.format(DateTimeFormatter)"})
    public String format() {
        return format.format(time);
    }

    @Benchmark
    @Primitive("java.text.DateFormat.format(Date)")
    public String formatSimple() {
        return simple.format(old);
    }

    @Benchmark
    @Primitive({"java.time.LocalDate.plusDays(long)", "java.time.LocalDate.of(int,int,int)"})
    public LocalDate plusDays() {
        return date.plusDays(400);
    }

    @Benchmark
    @Primitive({"java.time.Instant.now()"})
    public Instant now() {
        return Instant.now();
    }

    @Benchmark
    @Primitive({"java.lang.System.nanoTime()", "java.lang.System.currentTimeMillis()"})
    public long nanoTime() {
        return System.nanoTime();
    }
}
