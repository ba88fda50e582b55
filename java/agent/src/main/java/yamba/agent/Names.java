package yamba.agent;

import java.util.StringJoiner;
import org.objectweb.asm.Type;

/** The name of a primitive: {@code java.lang.String.indexOf(String,int)}. */
final class Names {
    private Names() {}

    /**
     * The name of a method. {@code type} is its class with dots, {@code descriptor} as in a class
     * file.
     */
    static String of(String type, String method, String descriptor) {
        StringJoiner parameters = new StringJoiner(",", "(", ")");
        for (Type parameter : Type.getArgumentTypes(descriptor)) {
            parameters.add(simple(parameter.getClassName()));
        }
        return type + "." + method + parameters;
    }

    private static String simple(String type) {
        return type.substring(type.lastIndexOf('.') + 1);
    }

    /** Appends a text as a JSON string, of ASCII alone: its encoding may be that of any locale. */
    static void quote(StringBuilder out, String text) {
        out.append('"');
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
