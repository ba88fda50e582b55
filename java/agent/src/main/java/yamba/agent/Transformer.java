package yamba.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Rewrites the calls in the classes of the program. */
final class Transformer implements ClassFileTransformer {
    /** The version of ASM's interface. */
    static final int ASM = Opcodes.ASM9;

    /** Number of classes that could not be rewritten. Their calls are not counted. */
    static final AtomicInteger LEFT_OUT = new AtomicInteger();

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (loader == null || loader == ClassLoader.getPlatformClassLoader() || redefined != null) {
            return null;
        }
        try {
            return rewritten(bytes);
        } catch (Exception | LinkageError e) {
            LEFT_OUT.incrementAndGet();
            return null;
        }
    }

    static byte[] rewritten(byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        BitSet withSites = new BitSet();
        reader.accept(new Finder(withSites), ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        if (withSites.isEmpty()) {
            return null;
        }
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new Rewriter(writer, withSites), ClassReader.EXPAND_FRAMES);
        return writer.toByteArray();
    }

    static Site concatenation(Handle bootstrap) {
        boolean isIt = bootstrap.getOwner().equals("java/lang/invoke/StringConcatFactory");
        return isIt ? Site.ofConcatenation() : null;
    }

    /** Finds the methods with counted calls, by their number in the class. */
    private static final class Finder extends ClassVisitor {
        private final BitSet found;
        private int method = -1;

        Finder(BitSet found) {
            super(ASM);
            this.found = found;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            method++;
            return new MethodVisitor(ASM) {
                @Override
                public void visitMethodInsn(int opcode, String owner, String called, String of, boolean isInterface) {
                    if (Site.of(opcode, owner, called, of) != null) {
                        found.set(method);
                    }
                }

                @Override
                public void visitInvokeDynamicInsn(String called, String of, Handle bootstrap, Object... arguments) {
                    if (concatenation(bootstrap) != null) {
                        found.set(method);
                    }
                }
            };
        }
    }

    /** Rewrites these methods. */
    private static final class Rewriter extends ClassVisitor {
        private final BitSet withSites;
        private int method = -1;

        Rewriter(ClassVisitor next, BitSet withSites) {
            super(ASM, next);
            this.withSites = withSites;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
            method++;
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            return withSites.get(method) ? new CallCounter(access, descriptor, next) : next;
        }
    }
}
