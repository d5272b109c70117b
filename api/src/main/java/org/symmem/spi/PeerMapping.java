package org.symmem.spi;

import org.symmem.Support;

/** Every rank's buffer as this rank reaches it. */
public interface PeerMapping extends AutoCloseable {
    /**
     * @param rank in {@code [0, worldSize)}
     * @return that rank's buffer; this rank's own too
     */
    Memory peer(int rank);

    /** {@return the signals of the tensor} */
    SignalPad signals();

    /**
     * All ranks' buffers side by side. Asked only where the backend has {@code CONTIGUOUS_VIEW}.
     *
     * @return the memory from rank 0's first byte to the last rank's last
     */
    Memory contiguous();

    /** {@return the distance from one rank's buffer to the next in {@link #contiguous()}, in bytes} */
    long contiguousStrideBytes();

    /** {@return whether one store reaches all ranks; the same answer on every rank} */
    Support multicastSupport();

    /** {@return the memory whose stores reach all ranks; asked only where {@link #multicastSupport()} says yes} */
    Memory multicast();

    /** Unmaps the peers. */
    @Override
    void close();
}
