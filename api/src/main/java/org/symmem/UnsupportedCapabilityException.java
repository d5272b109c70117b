package org.symmem;

/** Something was asked of a backend that it lacks. Raised before anything is changed. */
public final class UnsupportedCapabilityException extends SymmetricMemoryException {
    private final Capability capability;
    private final String backend;
    private final String reason;

    /**
     * @param capability what is lacking
     * @param backend    the backend's name
     * @param reason     why it is lacking
     */
    public UnsupportedCapabilityException(Capability capability, String backend, String reason) {
        super(ErrorCode.UNSUPPORTED, "backend " + backend + " has no " + capability + ": " + reason);
        this.capability = capability;
        this.backend = backend;
        this.reason = reason;
    }

    /** {@return what is lacking} */
    public Capability capability() {
        return capability;
    }

    /** {@return the backend's name} */
    public String backend() {
        return backend;
    }

    /** {@return why it is lacking} */
    public String reason() {
        return reason;
    }
}
