package org.symmem;

import org.jspecify.annotations.Nullable;

/**
 * One backend that was found, and whether it can be used.
 *
 * @param name         its name
 * @param priority     its preference; the highest available wins; of a broken provider the lowest there is
 * @param availability whether it can be used by this process
 */
public record ProviderReport(String name, int priority, Availability availability) {
    static ProviderReport broken(String name, String reason, @Nullable Throwable cause) {
        return new ProviderReport(name, Integer.MIN_VALUE, Availability.unavailable(reason, cause));
    }

    /**
     * {@return whether the provider itself is at fault: it cannot be made, or breaks its contract when it is asked} Its backend is unavailable
     * then, whatever the machine has.
     */
    public boolean isBroken() {
        return priority == Integer.MIN_VALUE;
    }
}
