package org.symmem;

import org.jspecify.annotations.Nullable;

/**
 * An error of symmetric memory. The message says what happened, where, and what to do, and ends with the code.
 *
 * <p>Wrong arguments are {@link IllegalArgumentException} or {@link IndexOutOfBoundsException}, use of something closed is
 * {@link IllegalStateException}; everything else that the framework raises extends this class.
 */
public class SymmetricMemoryException extends RuntimeException {
    private final ErrorCode code;

    /**
     * @param code    the kind of error
     * @param message what happened, where, and what to do; the code is put behind it
     */
    public SymmetricMemoryException(ErrorCode code, String message) {
        this(code, message, null);
    }

    /**
     * @param code    the kind of error
     * @param message what happened, where, and what to do; the code is put behind it
     * @param cause   the error below, or null
     */
    public SymmetricMemoryException(ErrorCode code, String message, @Nullable Throwable cause) {
        super(message + " [" + code.id() + "]", cause);
        this.code = code;
    }

    /** {@return the kind of error} */
    public ErrorCode code() {
        return code;
    }
}
