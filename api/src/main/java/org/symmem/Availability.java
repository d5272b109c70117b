package org.symmem;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whether a backend can be used by this process, found out without side effects and never by an exception. */
public sealed interface Availability {
    /**
     * The backend can be used.
     *
     * @param version what it found, for instance {@code Linux 6.18} or {@code driver 13.0}
     * @param detail  where it was found or on what it runs; may be empty
     */
    record Available(String version, String detail) implements Availability {}

    /**
     * The backend cannot be used.
     *
     * @param reason what is missing, with every place that was tried
     * @param cause  the error behind it, if there is one
     */
    record Unavailable(String reason, Optional<Throwable> cause) implements Availability {}

    /** {@return an answer that the backend can be used} */
    static Availability available(String version, String detail) {
        return new Available(version, detail);
    }

    /** {@return an answer that the backend cannot be used} */
    static Availability unavailable(String reason, @Nullable Throwable cause) {
        return new Unavailable(reason, Optional.ofNullable(cause));
    }

    /** {@return whether the backend can be used} */
    default boolean isAvailable() {
        return this instanceof Available;
    }
}
