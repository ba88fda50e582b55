package yamba.benchmarks;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks the benchmark of a method of the class library. The agent counts the sizes of the methods
 * that are marked so.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Primitive {
    /**
     * The methods, as in {@code java.lang.String.indexOf(String,int)}; others that cost the same
     * come after the first.
     */
    String[] value();

    /**
     * The operand that has the size: {@code this}, or the number of an argument from 0. The
     * benchmark's parameter is {@code size}.
     */
    String size() default "";
}
