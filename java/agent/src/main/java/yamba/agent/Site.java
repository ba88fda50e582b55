package yamba.agent;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * A kind of call of the class library, as the rewritten code counts it. {@code fixed} is the method
 * that it reaches; null: the receiver decides.
 */
record Site(Methods.Counted fixed, Integer operand) {
    private static final Map<String, Optional<Site>> KNOWN = new ConcurrentHashMap<>();

    /**
     * The site of a call instruction, or null if it is not counted. Constructors of {@code Object}
     * do nothing and are left out.
     */
    static Site of(int opcode, String owner, String name, String descriptor) {
        String key = opcode + owner + '.' + name + descriptor;
        Optional<Site> known = KNOWN.get(key);
        if (known == null) {
            known = Optional.ofNullable(find(opcode, owner, name, descriptor));
            KNOWN.put(key, known);
        }
        return known.orElse(null);
    }

    private static Site find(int opcode, String owner, String name, String descriptor) {
        if (owner.startsWith("[") || owner.equals("java/lang/Object") && name.equals("<init>")) {
            return null;
        }
        Class<?> type = Library.find(owner);
        Library.Target target = type == null ? null : Library.resolve(type, name, descriptor);
        if (target == null) {
            return null;
        }
        boolean isFixed = target.isFixed() || opcode == Opcodes.INVOKESTATIC || opcode == Opcodes.INVOKESPECIAL;
        if (isFixed) {
            Methods.Counted counted = Methods.counted(Names.of(target.type().getName(), name, descriptor));
            return new Site(counted, counted.operand());
        }
        String bare = Names.of("", name, descriptor).substring(1);
        return new Site(null, Methods.operandOfAny(bare));
    }

    /** The text concatenation that the compiler makes of {@code a + b}. */
    static Site ofConcatenation() {
        return new Site(Methods.counted(CONCATENATION), null);
    }

    static final String CONCATENATION = "java.lang.invoke.StringConcatFactory.makeConcatWithConstants";

    /** Whether the count needs no operand. */
    boolean isPlain() {
        return fixed != null && fixed.operand() == null;
    }

    /** The type of the operand with the size. Null: the receiver, or none. */
    static Type operandType(Integer operand, Type[] arguments) {
        return operand == null || operand < 0 ? null : arguments[operand];
    }
}
