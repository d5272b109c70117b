package org.symmem.spi;

/** An ordered queue of operations. Used by one thread at a time unless the backend says more. */
public interface StreamQueue extends Transfers, AutoCloseable {
    /** {@return the native stream's handle, or 0 if there is none} */
    long handle();

    /**
     * Waits until everything that was put on the stream is done.
     *
     * @param timeoutNanos how long at most
     * @return whether it is done; false if the timeout passed first
     * @throws org.symmem.SymmetricMemoryException the first error of an operation of this stream; raised on every call after it
     */
    boolean synchronize(long timeoutNanos);

    /** Lets go of the stream after what is on it; a wrapped native stream stays the user's. */
    @Override
    void close();
}
