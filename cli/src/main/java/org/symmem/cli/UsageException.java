package org.symmem.cli;

/** What the user asked for cannot be done as asked; the message says what to change. */
final class UsageException extends RuntimeException {
    UsageException(String message) {
        super(message);
    }
}
