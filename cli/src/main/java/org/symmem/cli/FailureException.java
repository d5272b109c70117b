package org.symmem.cli;

/** What the user asked for was tried and failed; the message says all there is to say. */
final class FailureException extends RuntimeException {
    private final int exitCode;

    FailureException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
