package org.symmem.spi;

/**
 * One rank's buffer with its signal pad. The data is zero and the pad is zero when it is made, except a wrapped buffer's data.
 */
public interface Allocation extends AutoCloseable {
    /** {@return this rank's buffer; exactly the size that was asked for} */
    Memory local();

    /**
     * Exchanges handles and maps every rank's buffer. Collective; called once, after the ranks were found to agree on size,
     * order, pad and backend.
     *
     * @param agreement makes every step end alike on all ranks
     * @return the mapping
     * @implSpec Nothing stays mapped or open when this throws.
     */
    PeerMapping rendezvous(Agreement agreement);

    /** Frees the buffer; the mapping, if there is one, was closed before. */
    @Override
    void close();
}
