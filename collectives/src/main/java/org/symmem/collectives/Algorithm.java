package org.symmem.collectives;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/** How a collective moves its data. All of them give the same bytes. */
public enum Algorithm {
    /**
     * Senders write into buffers beside the target, from which every rank copies at its end: nobody waits until the target is free,
     * which halves the latency and costs one more copy. For small sizes.
     */
    STAGED,
    /** Senders wait until the target is free and write into it. */
    WRITE,
    /** Receivers wait until the data is there and read it, all at once. */
    READ,
    /** Senders wait until the target is free and write once, to all. Needs {@link org.symmem.Capability#MULTICAST}. */
    MULTICAST;

    /** {@return the algorithm that a property or, without it, a variable asks for; empty if neither is set, or it is {@code auto}} */
    static Optional<Algorithm> askedFor(String operation) {
        String property = "symmem." + operation;
        String variable = "SYMMEM_" + operation.toUpperCase(Locale.ROOT);
        String value = System.getProperty(property);
        String source = "the property " + property;
        if (value == null) {
            value = System.getenv(variable);
            source = "the variable " + variable;
        }
        if (value == null || value.equals("auto")) {
            return Optional.empty();
        }
        for (Algorithm algorithm : values()) {
            if (algorithm.toString().equals(value)) {
                return Optional.of(algorithm);
            }
        }
        throw new SymmetricMemoryException(ErrorCode.SETTING, source + " is '" + value + "', not one of auto, "
                + Arrays.stream(values()).map(String::valueOf).collect(Collectors.joining(", ")));
    }

    /** {@return the name as settings have it, for instance {@code staged}} */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
