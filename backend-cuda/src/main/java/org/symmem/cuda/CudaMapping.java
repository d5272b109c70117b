package org.symmem.cuda;

import org.jspecify.annotations.Nullable;
import org.symmem.Support;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;

/** Every rank's buffer in the places that the allocation reserved for them. */
final class CudaMapping implements PeerMapping {
    private final CudaAllocation allocation;
    private final CudaBackend backend;
    private final PhysicalMemory[] memories;
    private final Closers closers;
    private final CudaSignalPad signals;
    private @Nullable AddressRange dense;

    /**
     * @param memories every rank's memory, in rank order
     * @param closers  what unmaps the peers
     */
    CudaMapping(CudaAllocation allocation, CudaBackend backend, PhysicalMemory[] memories, Closers closers, CudaSignalPad signals) {
        this.allocation = allocation;
        this.backend = backend;
        this.memories = memories;
        this.closers = closers;
        this.signals = signals;
    }

    @Override
    public Memory peer(int rank) {
        return new CudaMemory(allocation.data(rank), allocation.sizeBytes());
    }

    @Override
    public SignalPad signals() {
        return signals;
    }

    /** Memory whose pad takes a granule of its own is mapped a second time for the view, without that granule. */
    @Override
    public synchronized Memory contiguous() {
        long strideBytes = contiguousStrideBytes();
        long viewBytes = strideBytes * (memories.length - 1) + allocation.sizeBytes();
        if (strideBytes == allocation.dataStrideBytes()) {
            return new CudaMemory(allocation.data(0), viewBytes);
        }
        if (dense == null) {
            try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
                AddressRange range = AddressRange.reserve(strideBytes * memories.length, "reserving addresses for a contiguous view");
                try {
                    for (int rank = 0; rank < memories.length; rank++) {
                        range.map(rank * strideBytes, memories[rank], strideBytes, backend.cudaDevice(), "mapping rank " + rank + "'s buffer into the contiguous view");
                    }
                } catch (RuntimeException e) {
                    range.close();
                    throw e;
                }
                dense = closers.add(range);
            }
        }
        return new CudaMemory(dense.address(), viewBytes);
    }

    @Override
    public long contiguousStrideBytes() {
        return allocation.isWrapped() ? allocation.dataStrideBytes() : CudaAllocation.roundUp(allocation.sizeBytes(), backend.granularityBytes());
    }

    @Override
    public Support multicastSupport() {
        return backend.multicast();
    }

    @Override
    public Memory multicast() {
        throw new IllegalStateException(backend.multicast().explanation());
    }

    @Override
    public void close() {
        try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
            closers.close();
        }
    }
}
