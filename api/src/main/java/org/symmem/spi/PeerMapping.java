package org.symmem.spi;

import org.symmem.Support;

/** Every rank's buffer as this rank reaches it. */
public interface PeerMapping extends AutoCloseable {
    /**
     * @param rank in {@code [0, worldSize)}
     * @return that rank's buffer; this rank's own too
     */
    Memory peer(int rank);

    /** {@return the signals of the tensor} Asked only where the backend has {@code HOST_SIGNALS} or {@code STREAM_SIGNALS}. */
    default SignalPad signals() {
        throw new UnsupportedOperationException("this backend has no signals");
    }

    /**
     * All ranks' buffers side by side. Asked only where the backend has {@code CONTIGUOUS_VIEW}.
     *
     * @return the memory from rank 0's first byte to the last rank's last
     */
    default Memory contiguous() {
        throw new UnsupportedOperationException("this backend has no CONTIGUOUS_VIEW");
    }

    /** {@return the distance from one rank's buffer to the next in {@link #contiguous()}, in bytes} Asked where that is. */
    default long contiguousStrideBytes() {
        throw new UnsupportedOperationException("this backend has no CONTIGUOUS_VIEW");
    }

    /**
     * {@return whether one store reaches all ranks' buffers of this tensor; the same answer on every rank} Asked only where the backend
     * has {@code MULTICAST}.
     */
    default Support multicastSupport() {
        throw new UnsupportedOperationException("this backend has no MULTICAST");
    }

    /** {@return the memory whose stores reach all ranks; asked only where {@link #multicastSupport()} says yes} */
    default Memory multicast() {
        throw new UnsupportedOperationException("this backend has no MULTICAST");
    }

    /** Unmaps the peers. */
    @Override
    void close();
}
