package yamba.agent;

import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.Type;

/** The class library: the classes of the bootstrap and platform loaders. */
final class Library {
    private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();
    private static final Map<String, Class<?>> KNOWN = new ConcurrentHashMap<>();
    private static final Map<Class<?>, Map<String, Method>> DECLARED = new ConcurrentHashMap<>();

    private Library() {}

    /** A method that a call can reach. {@code isFixed}: no subclass can override it. */
    record Target(Class<?> type, boolean isFixed) {}

    static boolean isOf(Class<?> type) {
        ClassLoader loader = type.getClassLoader();
        return (loader == null || loader == PLATFORM) && !type.getName().startsWith("yamba.agent.");
    }

    /** The class of the library with this internal name, or null. */
    static Class<?> find(String internalName) {
        Class<?> found = KNOWN.computeIfAbsent(internalName, name -> {
            try {
                Class<?> type = Class.forName(name.replace('/', '.'), false, PLATFORM);
                return isOf(type) ? type : Library.class;
            } catch (ClassNotFoundException | LinkageError e) {
                return Library.class;
            }
        });
        return found == Library.class ? null : found;
    }

    /**
     * The method that a call on {@code type} reaches, or null if it has none of this name and
     * descriptor.
     */
    static Target resolve(Class<?> type, String name, String descriptor) {
        if (name.equals("<init>")) {
            return new Target(type, true);
        }
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            Method method = declared(at, name, descriptor);
            if (method != null) {
                return target(type, at, method);
            }
        }
        Deque<Class<?>> open = new ArrayDeque<>();
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            open.addAll(java.util.List.of(at.getInterfaces()));
        }
        Target found = null;
        while (!open.isEmpty()) {
            Class<?> at = open.pop();
            Method method = declared(at, name, descriptor);
            if (method != null && (found == null || found.type().isAssignableFrom(at))) {
                found = target(type, at, method);
            }
            open.addAll(java.util.List.of(at.getInterfaces()));
        }
        return found;
    }

    private static Target target(Class<?> type, Class<?> at, Method method) {
        int modifiers = method.getModifiers() | type.getModifiers() & java.lang.reflect.Modifier.FINAL;
        int fixed = java.lang.reflect.Modifier.FINAL | java.lang.reflect.Modifier.PRIVATE | java.lang.reflect.Modifier.STATIC;
        return new Target(at, (modifiers & fixed) != 0);
    }

    private static Method declared(Class<?> type, String name, String descriptor) {
        Map<String, Method> methods = DECLARED.computeIfAbsent(type, Library::methods);
        return methods.get(name + descriptor);
    }

    private static Map<String, Method> methods(Class<?> type) {
        Map<String, Method> methods = new HashMap<>();
        for (Method method : type.getDeclaredMethods()) {
            methods.put(method.getName() + Type.getMethodDescriptor(method), method);
        }
        return methods;
    }
}
