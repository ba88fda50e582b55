package yamba.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Executable;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ListedTest {
    /** A method of the list by its name there, or null. */
    private static Executable method(String name) throws ClassNotFoundException {
        int open = name.indexOf('(');
        int dot = name.lastIndexOf('.', open);
        Class<?> type = Class.forName(name.substring(0, dot));
        List<Executable> all = new ArrayList<>(Arrays.asList(type.getDeclaredMethods()));
        all.addAll(Arrays.asList(type.getDeclaredConstructors()));
        for (Executable method : all) {
            String own = method.getName().equals(type.getName()) ? "<init>" : method.getName();
            String parameters = Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName).collect(Collectors.joining(","));
            if (name.substring(dot + 1).equals(own + "(" + parameters + ")")) {
                return method;
            }
        }
        return null;
    }

    @Test
    void eachMethodExistsAndHasItsSize() throws ClassNotFoundException {
        List<String> missing = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Primitive primitive : Listed.all().values()) {
            for (String name : primitive.value()) {
                assertTrue(names.add(name), name + " is listed twice");
                if (!name.contains("(")) {
                    continue;
                }
                Executable method = method(name);
                boolean isStatic = method != null && Modifier.isStatic(method.getModifiers());
                boolean has = primitive.size().isEmpty() || primitive.size().equals("this") && !isStatic && !name.contains("<init>")
                        || !primitive.size().equals("this") && method != null && Integer.parseInt(primitive.size()) < method.getParameterCount();
                if (method == null || !has) {
                    missing.add(name);
                }
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(names.size() > 200, "only " + names.size());
    }
}
