package yamba.benchmarks;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Setup;

/** Class loading and reflection. */
public class Classes extends Measured {
    /** A class that is loaded again and again. */
    public static final class Loaded {
        public int field = 3;

        public int method(int value) {
            return value + field;
        }
    }

    /** A loader that defines one class, and is dropped with it. */
    private static final class OneClass extends ClassLoader {
        private final byte[] bytes;

        OneClass(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals(NAME) ? defineClass(name, bytes, 0, bytes.length) : super.loadClass(name, resolve);
        }
    }

    private static final String NAME = Loaded.class.getName();

    byte[] bytes;
    Method method;
    Field field;
    Constructor<Loaded> constructor;
    Object loaded = new Loaded();

    @Setup
    public void setup() throws IOException, ReflectiveOperationException {
        try (var in = Classes.class.getResourceAsStream("Classes$Loaded.class")) {
            bytes = in.readAllBytes();
        }
        method = Loaded.class.getMethod("method", int.class);
        field = Loaded.class.getField("field");
        constructor = Loaded.class.getConstructor();
    }

    /** The first load of a small class, in a loader of its own. */
    @Benchmark
    @Primitive({"java.lang.ClassLoader.loadClass(String)", "java.lang.ClassLoader.defineClass(String,byte[],int,int)"})
    public Class<?> load() throws ClassNotFoundException {
        return new OneClass(bytes).loadClass(NAME);
    }

    /** A class that has been loaded before. */
    @Benchmark
    @Primitive("java.lang.Class.forName(String)")
    public Class<?> forName() throws ClassNotFoundException {
        return Class.forName("java.util.ArrayList");
    }

    @Benchmark
    @Primitive("java.lang.reflect.Method.invoke(Object,Object[])")
    public Object invoke() throws ReflectiveOperationException {
        return method.invoke(loaded, 7);
    }

    @Benchmark
    @Primitive({"java.lang.reflect.Field.get(Object)", "java.lang.reflect.Field.getInt(Object)"})
    public Object get() throws ReflectiveOperationException {
        return field.get(loaded);
    }

    @Benchmark
    @Primitive("java.lang.reflect.Constructor.newInstance(Object[])")
    public Object create() throws ReflectiveOperationException {
        return constructor.newInstance();
    }

    @Benchmark
    @Primitive({"java.lang.Class.getMethod(String,Class[])", "java.lang.Class.getDeclaredMethod(String,Class[])"})
    public Method find() throws ReflectiveOperationException {
        return Loaded.class.getMethod("method", int.class);
    }
}
