package org.symmem.cuda;

import org.symmem.Support;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;

/**
 * Every rank's buffer in the places that the allocation reserved for them.
 *
 * @param closers         what ends multicast and unmaps the peers
 * @param multicastObject for stores to all ranks, if there is one
 */
record CudaMapping(CudaAllocation allocation, CudaBackend backend, Closers closers, CudaMulticast multicastObject,
        SignalPad signals) implements PeerMapping {
    @Override
    public Memory peer(int rank) {
        return new CudaMemory(allocation.data(rank), allocation.sizeBytes());
    }

    @Override
    public Memory contiguous() {
        int last = backend.group().worldSize() - 1;
        return new CudaMemory(allocation.data(0), contiguousStrideBytes() * last + allocation.sizeBytes());
    }

    @Override
    public long contiguousStrideBytes() {
        return allocation.dataStrideBytes();
    }

    @Override
    public Support multicastSupport() {
        return multicastObject.support();
    }

    @Override
    public Memory multicast() {
        return new CudaMemory(multicastObject.address() + allocation.dataOffsetBytes(), allocation.sizeBytes());
    }

    @Override
    public void close() {
        try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
            closers.close();
        }
    }
}
