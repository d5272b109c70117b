package org.symmem.tck;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.symmem.Capability;

/** Marks the test of one rule of {@code docs/SPEC.md}. The method's name begins with the id, with underscores for hyphens. */
@Test
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface Rule {
    /** {@return the rule's id, for instance {@code SM-SYNC-3}} */
    String value();

    /** {@return capabilities without which the rule does not apply} */
    Capability[] needs() default {};

    /** {@return a capability whose absence the rule is about: it applies only where the backend lacks it} */
    Capability[] absent() default {};

    /** {@return the fewest ranks that it can be tried with} */
    int ranks() default 1;

    /** {@return whether the test looks for a race: it may miss one, but reports none that is not there} */
    boolean stochastic() default false;

    /** {@return why the kit cannot test the rule; empty if it does} */
    String untested() default "";
}
