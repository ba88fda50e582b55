package yamba.agent;

import java.lang.reflect.Array;
import java.math.BigInteger;
import java.nio.Buffer;
import java.util.Collection;
import java.util.Map;

/** The size of an operand: characters, elements, entries or bytes. Objects without a size have 0. */
public final class Sizes {
    private Sizes() {}

    public static int of(Object operand) {
        if (operand instanceof CharSequence text) {
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

    public static int of(int operand) {
        return operand;
    }

    public static int of(long operand) {
        return (int) Math.min(operand, Integer.MAX_VALUE);
    }
}
