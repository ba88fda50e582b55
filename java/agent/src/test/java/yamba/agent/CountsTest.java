package yamba.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs with known numbers of calls, under the packaged agent. */
class CountsTest {
    private static final List<String> PRIMITIVES = List.of(
            "java.lang.String.indexOf(String,int)\tthis",
            "java.lang.String.substring(int,int)\t1",
            "java.lang.StringBuilder.append(String)\t0",
            "java.lang.StringBuilder.toString()\tthis",
            "java.lang.String.valueOf(char[])\t0",
            "java.util.Base64$Encoder.encodeToString(byte[])\t0",
            "java.util.HashMap.put(Object,Object)\tthis",
            "java.util.TreeMap.get(Object)\tthis",
            "java.util.ArrayList.forEach(Consumer)\tthis",
            "java.io.ByteArrayOutputStream.write(byte[],int,int)\t2",
            "java.io.ByteArrayInputStream.read(byte[],int,int)\t2");

    private static final Pattern CALL = Pattern.compile(
            "\"name\": \"([^\"]+)\", \"mean_size\": ([\\w.]+), \"count\": (\\d+)");

    @TempDir
    Path folder;

    /** The counts of a program: the name, with the mean size if there is one. */
    private Map<String, Long> counts(String program) throws IOException, InterruptedException {
        Path list = Files.write(folder.resolve("primitives"), PRIMITIVES);
        Path calls = folder.resolve("calls.json");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String agent = "-javaagent:" + System.getProperty("agent") + "=calls=" + calls + ",primitives=" + list;
        ProcessBuilder process = new ProcessBuilder(java, "-Xverify:all", agent, "-cp", "target/test-classes", program).inheritIO();
        assertEquals(0, process.start().waitFor());
        Map<String, Long> counts = new TreeMap<>();
        Matcher matcher = CALL.matcher(Files.readString(calls));
        while (matcher.find()) {
            String size = matcher.group(2).equals("null") ? "" : "@" + matcher.group(2);
            counts.merge(matcher.group(1) + size, Long.valueOf(matcher.group(3)), Long::sum);
        }
        return counts;
    }

    @Test
    void textsAreCountedBySize() throws Exception {
        assertEquals(Map.of(
                "java.lang.String.indexOf(String,int)@10.0", 1000L,
                "java.lang.String.charAt(int)", 1000L,
                Site.CONCATENATION, 1000L,
                "java.lang.String.length()", 1000L,
                "java.lang.StringBuilder.<init>()", 1L,
                "java.lang.StringBuilder.append(String)@10.0", 50L,
                "java.lang.StringBuilder.append(char)", 50L,
                "java.lang.StringBuilder.append(long)", 50L,
                "java.lang.StringBuilder.append(double)", 50L,
                "java.lang.StringBuilder.length()", 1L), counts("programs.Texts"));
    }

    @Test
    void receiverDecidesWhichMethodIsReached() throws Exception {
        Map<String, Long> counts = counts("programs.Maps");
        long puts = 0;
        for (Map.Entry<String, Long> entry : counts.entrySet()) {
            puts += entry.getKey().startsWith("java.util.HashMap.put(Object,Object)@") ? entry.getValue() : 0;
        }
        counts.keySet().removeIf(name -> name.contains("@"));
        assertEquals(100, puts);
        assertEquals(new TreeMap<>(Map.ofEntries(
                Map.entry("java.lang.Integer.intValue()", 140L),
                Map.entry("java.lang.Integer.valueOf(int)", 140L),
                Map.entry("java.lang.String.length()", 50L),
                Map.entry(Site.CONCATENATION, 280L),
                Map.entry("java.util.ArrayList.<init>()", 2L),
                Map.entry("java.util.ArrayList.add(Object)", 50L),
                Map.entry("java.util.ArrayList.get(int)", 50L),
                Map.entry("java.util.HashMap.<init>()", 1L),
                Map.entry("java.util.HashMap.get(Object)", 100L),
                Map.entry("java.util.TreeMap.<init>()", 1L),
                Map.entry("java.util.TreeMap.put(Object,Object)", 40L))), counts);
    }

    @Test
    void sizeOfTreeMapIsThatOfEachCall() throws Exception {
        assertEquals(40L, counts("programs.Maps").get("java.util.TreeMap.get(Object)@40.0"));
    }

    @Test
    void countsOfAllThreadsAreAdded() throws Exception {
        Map<String, Long> counts = counts("programs.Threads");
        assertEquals(201_000L, counts.get("java.util.concurrent.atomic.AtomicInteger.incrementAndGet()"));
        assertEquals(200L, counts.get("java.lang.Thread.join()"));
        assertEquals(201L, counts.get("java.lang.Thread.start()"));
        assertEquals(200L, counts.get("java.util.ArrayList.add(Object)"));
    }

    @Test
    void callbacksAndExceptionsAreCounted() throws Exception {
        Map<String, Long> counts = counts("programs.Callbacks");
        assertEquals(1L, counts.get("java.util.ArrayList.forEach(Consumer)@64.0"));
        assertEquals(42L, counts.get("java.lang.Math.addExact(int,int)"));
        assertEquals(10L, counts.get("java.lang.String.charAt(int)"));
        assertEquals(8L, counts.get("java.lang.String.length()"));
        assertEquals(10L, counts.get("java.lang.String.isEmpty()"));
        assertEquals(13L, counts.get("java.lang.String.substring(int,int)@3.0"));
        assertEquals(10L, counts.get("java.lang.StringBuilder.<init>(String)"));
        assertEquals(10L, counts.get("java.lang.StringBuilder.append(long)"));
        assertEquals(10L, counts.get("java.lang.StringBuilder.append(double)"));
        assertEquals(4L, counts.get("java.lang.Math.max(int,int)"));
        assertEquals(64L, counts.get("java.util.ArrayList.add(Object)"));
    }

    /** Sizes from 2 to 3 have one class. The map of the program has no size. */
    @Test
    void sizesAreThoseOfTheOperands() throws Exception {
        Map<String, Long> counts = counts("programs.Operands");
        counts.keySet().removeIf(name -> !name.contains("@"));
        assertEquals(new TreeMap<>(Map.ofEntries(
                Map.entry("java.lang.StringBuilder.append(String)@0.0", 1L),
                Map.entry("java.lang.StringBuilder.append(String)@6.0", 1L),
                Map.entry("java.lang.StringBuilder.toString()@10.0", 4L),
                Map.entry("java.util.Base64$Encoder.encodeToString(byte[])@30.0", 4L),
                Map.entry("java.lang.String.valueOf(char[])@20.0", 4L),
                Map.entry("java.lang.String.indexOf(String,int)@10.0", 4L),
                Map.entry("java.util.HashMap.put(Object,Object)@0.0", 6L),
                Map.entry("java.util.HashMap.put(Object,Object)@1.0", 1L),
                Map.entry("java.util.HashMap.put(Object,Object)@2.0", 1L))), counts);
    }

    @Test
    void bytesAreCountedByTheArgumentWithTheSize() throws Exception {
        Map<String, Long> counts = counts("programs.Streams");
        assertEquals(25L, counts.get("java.io.ByteArrayOutputStream.write(byte[],int,int)@100.0"));
        assertEquals(25L, counts.get("java.io.ByteArrayOutputStream.write(byte[],int,int)@1000.0"));
        assertEquals(1L, counts.get("java.io.ByteArrayOutputStream.write(int)"));
        assertEquals(1L, counts.get("java.io.FilterOutputStream.write(int)"));
        assertEquals(55L, counts.get("java.io.ByteArrayInputStream.read(byte[],int,int)@512.0"));
        assertEquals(1L, counts.get("java.io.FilterOutputStream.<init>(OutputStream)"));
    }
}
