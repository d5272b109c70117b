package org.symmem.spi;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What was begun, to be ended in reverse order. Every closer runs; the first error is thrown with the later ones suppressed.
 * Not thread-safe.
 */
public final class Closers implements AutoCloseable {
    private final Deque<AutoCloseable> closers = new ArrayDeque<>();

    /**
     * @param <T>    the resource's type
     * @param closer closed before all that were added earlier
     * @return the same
     */
    public <T extends AutoCloseable> T add(T closer) {
        closers.push(closer);
        return closer;
    }

    /** Ends everything; a second call does nothing. */
    @Override
    public void close() {
        RuntimeException first = null;
        while (!closers.isEmpty()) {
            try {
                closers.pop().close();
            } catch (Exception e) {
                RuntimeException error = e instanceof RuntimeException runtime ? runtime : new IllegalStateException(e);
                if (first == null) {
                    first = error;
                } else {
                    first.addSuppressed(error);
                }
            }
        }
        if (first != null) {
            throw first;
        }
    }

    /**
     * Ends everything because of an error that is about to be thrown.
     *
     * @param error gets errors of closing as suppressed
     */
    public void closeBecauseOf(Throwable error) {
        try {
            close();
        } catch (RuntimeException e) {
            error.addSuppressed(e);
        }
    }
}
