package org.symmem.nvshmem;

import java.util.List;
import org.symmem.Support;
import org.symmem.cuda.CudaMemory;
import org.symmem.spi.Agreement;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;

/**
 * Every rank's buffer where the library has mapped its heap.
 *
 * @param peers            in rank order
 * @param multicastAddress what the library gives, or 0
 * @param multicastSupport the same on all ranks
 */
record NvshmemMapping(Memory[] peers, long sizeBytes, SignalPad signals, long multicastAddress,
        Support multicastSupport) implements PeerMapping {
    /**
     * Collective: multicast is there for all ranks, or for none.
     *
     * @param data this rank's buffer, or 0 where multicast is not to be asked for
     */
    static NvshmemMapping agreed(Agreement agreement, long data, long sizeBytes, Memory[] peers, SignalPad signals) {
        long multicast = data != 0 ? NvshmemNative.multicast(data) : 0;
        List<byte[]> answers = agreement.step("comparing multicast addresses", () -> new byte[]{(byte) (multicast != 0 ? 1 : 0)});
        for (int rank = 0; rank < answers.size(); rank++) {
            if (answers.get(rank)[0] == 0) {
                return new NvshmemMapping(peers, sizeBytes, signals, 0,
                        new Support.No("nvshmemx_mc_ptr gives null on rank " + rank + ": no NVLink multicast, or it is switched off"));
            }
        }
        return new NvshmemMapping(peers, sizeBytes, signals, multicast, new Support.Yes("nvshmemx_mc_ptr"));
    }

    @Override
    public Memory peer(int rank) {
        return peers[rank];
    }

    @Override
    public Memory contiguous() {
        throw new IllegalStateException("NVSHMEM has no contiguous view");
    }

    @Override
    public long contiguousStrideBytes() {
        throw new IllegalStateException("NVSHMEM has no contiguous view");
    }

    @Override
    public Memory multicast() {
        return new CudaMemory(multicastAddress, sizeBytes);
    }

    /** The library keeps the heaps mapped. */
    @Override
    public void close() {}
}
