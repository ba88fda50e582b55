package yamba.agent;

import java.lang.reflect.Array;
import java.math.BigInteger;
import java.nio.Buffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The size of an operand: characters, elements, entries or bytes. Objects without a size have 0.
 */
public final class Sizes {
    /**
     * Descriptors of the types with a method {@code of} of their own, which needs no test of the
     * type.
     */
    static final Set<String> KNOWN = Set.of("Ljava/lang/String;", "Ljava/lang/StringBuilder;", "[B", "[C");

    /**
     * Ways to read the size of a receiver. Common classes have ways of their own, since a test for
     * a class is shorter than one for an interface.
     */
    static final int NONE = 0;
    private static final int HASH_MAP = 1;
    private static final int TREE_MAP = 2;
    private static final int ARRAY_LIST = 3;
    private static final int OTHER = 4;

    private Sizes() {}

    /**
     * The way to read the size of receivers of this class. A class of the program may have a {@code
     * size} of its own, which is not called.
     */
    static int sizing(Class<?> type) {
        if (!Library.isOf(type)) {
            return OTHER;
        }
        if (HashMap.class.isAssignableFrom(type)) {
            return HASH_MAP;
        }
        if (TreeMap.class == type) {
            return TREE_MAP;
        }
        return ArrayList.class == type ? ARRAY_LIST : OTHER;
    }

    static int of(Object receiver, int sizing) {
        return switch (sizing) {
            case HASH_MAP -> ((HashMap<?, ?>) receiver).size();
            case TREE_MAP -> ((TreeMap<?, ?>) receiver).size();
            case ARRAY_LIST -> ((ArrayList<?>) receiver).size();
            default -> of(receiver);
        };
    }

    public static int of(Object operand) {
        if (operand instanceof String text) {
            return text.length();
        }
        if (operand instanceof byte[] bytes) {
            return bytes.length;
        }
        if (operand instanceof Collection<?> collection && Library.isOf(operand.getClass())) {
            return collection.size();
        }
        if (operand instanceof Map<?, ?> map && Library.isOf(operand.getClass())) {
            return map.size();
        }
        return ofOthers(operand);
    }

    private static int ofOthers(Object operand) {
        if (operand instanceof CharSequence text) {
            return text.length();
        }
        if (operand instanceof char[] characters) {
            return characters.length;
        }
        if (operand instanceof Buffer buffer) {
            return buffer.remaining();
        }
        if (operand instanceof BigInteger number) {
            return number.bitLength() / 8;
        }
        return operand != null && operand.getClass().isArray() ? Array.getLength(operand) : 0;
    }

    public static int of(String operand) {
        return operand == null ? 0 : operand.length();
    }

    public static int of(StringBuilder operand) {
        return operand == null ? 0 : operand.length();
    }

    public static int of(byte[] operand) {
        return operand == null ? 0 : operand.length;
    }

    public static int of(char[] operand) {
        return operand == null ? 0 : operand.length;
    }

    public static int of(int operand) {
        return operand;
    }

    public static int of(long operand) {
        return (int) Math.min(operand, Integer.MAX_VALUE);
    }
}
