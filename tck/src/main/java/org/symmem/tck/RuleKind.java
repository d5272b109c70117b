package org.symmem.tck;

import java.util.Locale;

/** How much a rule's verdict says. */
public enum RuleKind {
    /** Applies to every backend. */
    REQUIRED,
    /** Applies where the backend has, or lacks, a capability. */
    CONDITIONAL,
    /** Looks for a race: a failure is one, a pass is none in so many tries. */
    STOCHASTIC,
    /** Holds, but the kit cannot try it; it is reported with the reason. */
    UNTESTED;

    /** {@return the kind of a rule} */
    public static RuleKind of(Rule rule) {
        if (!rule.untested().isEmpty()) {
            return UNTESTED;
        }
        if (rule.stochastic()) {
            return STOCHASTIC;
        }
        return rule.needs().length + rule.absent().length > 0 ? CONDITIONAL : REQUIRED;
    }

    /** {@return the name in lower case, as the specification writes it} */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
