package org.symmem;

/** A system or driver call returned an error. */
public final class NativeCallException extends SymmetricMemoryException {
    private final String call;
    private final String codeName;
    private final int status;

    /**
     * @param code     the kind of error
     * @param call     the native function, for instance {@code memfd_create}
     * @param codeName the error's symbolic name, for instance {@code EMFILE}
     * @param status   the error's number
     * @param context  what it was called for, and what to do
     */
    public NativeCallException(ErrorCode code, String call, String codeName, int status, String context) {
        super(code, call + " failed: " + codeName + " (" + status + "), " + context);
        this.call = call;
        this.codeName = codeName;
        this.status = status;
    }

    /** {@return the native function} */
    public String call() {
        return call;
    }

    /** {@return the error's symbolic name} */
    public String codeName() {
        return codeName;
    }

    /** {@return the error's number, as the native library numbers it} */
    public int status() {
        return status;
    }
}
