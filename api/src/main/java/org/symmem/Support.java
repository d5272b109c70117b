package org.symmem;

/** Whether a capability is there, and why or why not. */
public sealed interface Support {
    /**
     * The capability is there.
     *
     * @param detail how, for instance {@code POSIX descriptors}; may be empty
     */
    record Yes(String detail) implements Support {}

    /**
     * The capability is not there.
     *
     * @param reason why not, as a phrase that can follow a colon
     */
    record No(String reason) implements Support {}

    /** {@return whether the capability is there} */
    default boolean supported() {
        return this instanceof Yes;
    }

    /** {@return the detail or the reason} */
    default String explanation() {
        return switch (this) {
            case Yes yes -> yes.detail();
            case No no -> no.reason();
        };
    }
}
