package org.symmem;

import java.time.Duration;
import org.symmem.spi.StreamQueue;

/**
 * An ordered queue of copies, fills, signals and waits: a CUDA stream on a GPU, a queue with a thread of its own on the host.
 * Operations put on it return at once and run in order.
 *
 * <p>Made by {@link SymmetricMemory#newStream()} or {@link SymmetricMemory#wrapStream}; the caller closes it. Local. Used by one
 * thread at a time.
 */
public final class Stream implements AutoCloseable {
    private final SymmetricMemory memory;
    private final StreamQueue queue;
    private boolean closed;

    Stream(SymmetricMemory memory, StreamQueue queue) {
        this.memory = memory;
        this.queue = queue;
    }

    /** {@return the native stream's handle (a {@code CUstream}'s address), or 0 on the host} */
    public long handle() {
        return queue().handle();
    }

    /**
     * Waits until everything that was put on the stream is done.
     *
     * @param timeout how long at most
     * @throws DeadlineException        if it is not done by then; the stream goes on
     * @throws SymmetricMemoryException the first error of an operation of this stream, on every call after it
     */
    public void synchronize(Duration timeout) {
        if (!queue().synchronize(timeout.toNanos())) {
            throw new DeadlineException(ErrorCode.SIGNAL_TIMEOUT,
                    memory.where() + ": the work on " + this + " is not done after " + timeout.toMillis()
                            + " ms; a peer that it waits for has not signalled, or the copies take longer",
                    java.util.List.of());
        }
    }

    /** Waits for the work on the stream, whatever comes of it: an error is the stream's to report, when it is synchronised. */
    void finish(Duration patience) {
        if (!closed) {
            try {
                queue.synchronize(patience.toNanos());
            } catch (SymmetricMemoryException e) {
                // Nothing of a failed stream is run any more.
            }
        }
    }

    StreamQueue queue() {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
        memory.ensureOpen();
        return queue;
    }

    /** Lets go of the stream after the work on it is done. Closing twice is fine. A wrapped native stream stays the user's. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            memory.forget(this);
            queue.close();
        }
    }

    @Override
    public String toString() {
        return "Stream[" + memory.where() + "]";
    }
}
