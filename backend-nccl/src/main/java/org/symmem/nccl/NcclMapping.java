package org.symmem.nccl;

import org.symmem.Support;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;

/**
 * Every rank's buffer: the peers where NCCL's window has them, if it says so, and all of them densely where the CUDA backend maps the
 * same memory once more, since NCCL's own addresses are as far apart as a device is large.
 *
 * @param shared       the CUDA backend's mapping of the same memory
 * @param peers        by rank
 * @param communicator has the window
 * @param closers      deregister the window, then unmap
 */
record NcclMapping(PeerMapping shared, Memory[] peers, NcclCommunicator communicator, Closers closers) implements PeerMapping {
    /** What NCCL mapped ends with an aborted communicator; what the CUDA backend mapped does not. */
    @Override
    public Memory peer(int rank) {
        return communicator.hasWindows() ? peers[rank] : shared.peer(rank);
    }

    @Override
    public SignalPad signals() {
        return shared.signals();
    }

    @Override
    public Memory contiguous() {
        return shared.contiguous();
    }

    @Override
    public long contiguousStrideBytes() {
        return shared.contiguousStrideBytes();
    }

    @Override
    public Support multicastSupport() {
        return shared.multicastSupport();
    }

    @Override
    public Memory multicast() {
        return shared.multicast();
    }

    @Override
    public void close() {
        closers.close();
    }
}
