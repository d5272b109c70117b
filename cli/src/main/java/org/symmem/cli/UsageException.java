package org.symmem.cli;

/** What the user asked for cannot be done as asked; the message says what to change. The exit code is 2. */
final class UsageException extends RuntimeException {
    UsageException(String message) {
        super(message);
    }
}
