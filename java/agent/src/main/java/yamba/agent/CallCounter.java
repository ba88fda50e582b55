package yamba.agent;

import java.util.HashMap;
import java.util.Map;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.LocalVariablesSorter;

/** Rewrites one method: it fetches the counters of its thread once, and counts before each call. */
final class CallCounter extends LocalVariablesSorter {
    private static final Type COUNTS = Type.getType(long[].class);
    private static final String COUNTERS = Type.getInternalName(Counters.class);
    private static final String SIZES = Type.getInternalName(Sizes.class);

    /**
     * Local variables that hold the arguments while the receiver is read, by position and kind of
     * type.
     */
    private final Map<Integer, Integer> spilled = new HashMap<>();

    private int counts;

    CallCounter(int access, String descriptor, MethodVisitor next) {
        super(Transformer.ASM, access, descriptor, next);
    }

    @Override
    public void visitCode() {
        super.visitCode();
        counts = newLocal(COUNTS);
        mv.visitMethodInsn(Opcodes.INVOKESTATIC, COUNTERS, "mine", "()[J", false);
        mv.visitVarInsn(Opcodes.ASTORE, counts);
    }

    /** Spilled arguments live only from the spill to the call, so no frame has them. */
    @Override
    protected void updateNewLocals(Object[] locals) {
        for (int variable : spilled.values()) {
            if (variable < locals.length) {
                locals[variable] = Opcodes.TOP;
            }
        }
    }

    @Override
    public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
        Site site = Site.of(opcode, owner, name, descriptor);
        if (site != null && site.fixed() != null) {
            count(site, owner, Type.getArgumentTypes(descriptor), 0);
        } else if (site != null) {
            count(site, owner, Type.getArgumentTypes(descriptor), Dispatch.number(name, descriptor));
        }
        super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
    }

    @Override
    public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
        Site site = Transformer.concatenation(bootstrap);
        if (site != null) {
            increment(site.fixed().place());
        }
        super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
    }

    /**
     * {@code owner} is the class in the instruction, and {@code dispatch} the number of the call,
     * if its receiver decides.
     */
    private void count(Site site, String owner, Type[] arguments, int dispatch) {
        if (site.isPlain()) {
            increment(site.fixed().place());
            return;
        }
        int[] variables = spill(arguments);
        if (site.fixed() != null) {
            fixed(site, owner, arguments, variables);
        } else {
            dispatched(site, dispatch, arguments, variables);
        }
        for (int i = 0; i < arguments.length; i++) {
            mv.visitVarInsn(arguments[i].getOpcode(Opcodes.ILOAD), variables[i]);
        }
    }

    /** counts[place]++ */
    private void increment(int place) {
        mv.visitVarInsn(Opcodes.ALOAD, counts);
        push(place);
        mv.visitInsn(Opcodes.DUP2);
        mv.visitInsn(Opcodes.LALOAD);
        mv.visitInsn(Opcodes.LCONST_1);
        mv.visitInsn(Opcodes.LADD);
        mv.visitInsn(Opcodes.LASTORE);
    }

    /**
     * Counters.sized(counts, place, size). The receiver, if it has the size, is on the stack:
     * [receiver] to [receiver].
     */
    private void fixed(Site site, String owner, Type[] arguments, int[] variables) {
        Type operand = Site.operandType(site.operand(), arguments);
        if (operand == null) {
            mv.visitInsn(Opcodes.DUP);
            size(Type.getObjectType(owner));
        } else {
            mv.visitVarInsn(operand.getOpcode(Opcodes.ILOAD), variables[site.operand()]);
            size(operand);
        }
        mv.visitVarInsn(Opcodes.ALOAD, counts);
        mv.visitInsn(Opcodes.SWAP);
        push(site.fixed().place());
        mv.visitInsn(Opcodes.SWAP);
        mv.visitMethodInsn(Opcodes.INVOKESTATIC, COUNTERS, "sized", "([JII)V", false);
    }

    /** Counters.dispatched(counts, site, receiver) or (counts, site, receiver, size). */
    private void dispatched(Site site, int dispatch, Type[] arguments, int[] variables) {
        mv.visitInsn(Opcodes.DUP);
        mv.visitVarInsn(Opcodes.ALOAD, counts);
        mv.visitInsn(Opcodes.SWAP);
        push(dispatch);
        mv.visitInsn(Opcodes.SWAP);
        Type operand = Site.operandType(site.operand(), arguments);
        String descriptor = "([JILjava/lang/Object;)V";
        if (operand != null) {
            mv.visitVarInsn(operand.getOpcode(Opcodes.ILOAD), variables[site.operand()]);
            size(operand);
            descriptor = "([JILjava/lang/Object;I)V";
        }
        mv.visitMethodInsn(Opcodes.INVOKESTATIC, COUNTERS, "dispatched", descriptor, false);
    }

    /** Calls {@code Sizes.of} for the static type of the operand. */
    private void size(Type operand) {
        String parameter = switch (operand.getSort()) {
            case Type.OBJECT, Type.ARRAY -> Sizes.KNOWN.contains(operand.getDescriptor()) ? operand.getDescriptor() : "Ljava/lang/Object;";
            case Type.LONG -> "J";
            default -> "I";
        };
        mv.visitMethodInsn(Opcodes.INVOKESTATIC, SIZES, "of", "(" + parameter + ")I", false);
    }

    /** Moves the arguments from the stack to variables. */
    private int[] spill(Type[] arguments) {
        int[] variables = new int[arguments.length];
        for (int i = arguments.length - 1; i >= 0; i--) {
            Type type = arguments[i];
            int opcode = type.getOpcode(Opcodes.ISTORE);
            variables[i] = spilled.computeIfAbsent(i << 8 | opcode, key -> newLocal(type));
            mv.visitVarInsn(opcode, variables[i]);
        }
        return variables;
    }

    private void push(int number) {
        if (number <= Short.MAX_VALUE) {
            mv.visitIntInsn(Opcodes.SIPUSH, number);
        } else {
            mv.visitLdcInsn(number);
        }
    }
}
