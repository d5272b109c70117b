package org.symmem.host;

import org.symmem.Support;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;

/** Every rank's buffer in the places that the allocation reserved for them. */
record HostMapping(HostAllocation allocation, SignalPad signals) implements PeerMapping {
    static final Support.No NO_MULTICAST = new Support.No("no multicast on host memory");

    @Override
    public Memory peer(int rank) {
        return new HostMemory(allocation.buffer(rank));
    }

    @Override
    public Memory contiguous() {
        return new HostMemory(allocation.allData());
    }

    @Override
    public long contiguousStrideBytes() {
        return allocation.dataPages();
    }

    @Override
    public Support multicastSupport() {
        return NO_MULTICAST;
    }

    @Override
    public Memory multicast() {
        throw new IllegalStateException(NO_MULTICAST.reason());
    }

    /** Unmaps nothing: the peers' places go with the allocation, at once, so that a segment kept by a user can throw but never fault. */
    @Override
    public void close() {}
}
