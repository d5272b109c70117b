package org.symmem.nccl;

import org.bytedeco.cuda.nccl.ncclWindow_vidmem;
import org.symmem.ErrorCode;
import org.symmem.MemoryRegion;
import org.symmem.SymmetricMemoryException;
import org.symmem.cuda.CudaMemory;
import org.symmem.linux.InheritableDescriptors;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPadLayout;

/**
 * One rank's buffer in memory of {@code ncclMemAlloc}, with one window for all of it. The memory behind it is CUDA's virtual memory,
 * so the CUDA backend wraps it as it would a user's: that gives the signal pad, the dense contiguous view, and the peers' addresses
 * where this NCCL has no getters for them.
 */
final class NcclAllocation implements Allocation {
    /** As many as a device has addresses for. */
    private static final long MOST_BYTES = 1L << 47;

    private final NcclBackend backend;
    private final long address;
    private final long sizeBytes;
    private final Allocation shared;
    private final Closers closers;

    private NcclAllocation(NcclBackend backend, long address, long sizeBytes, Allocation shared, Closers closers) {
        this.backend = backend;
        this.address = address;
        this.sizeBytes = sizeBytes;
        this.shared = shared;
        this.closers = closers;
    }

    static NcclAllocation allocate(NcclBackend backend, long sizeBytes, SignalPadLayout pad) {
        if (sizeBytes > MOST_BYTES) {
            throw new SymmetricMemoryException(ErrorCode.RESOURCE_LIMIT,
                    "a buffer of " + sizeBytes + " bytes does not fit a device's address space: ask for less");
        }
        Closers closers = new Closers();
        NcclCommunicator communicator = backend.communicator();
        try {
            String purpose = "allocating " + sizeBytes + " bytes on " + backend.device();
            // NCCL rounds up to the granularity of allocations, which is less than that of multicast.
            long memoryBytes = Math.ceilDiv(sizeBytes, backend.granularityBytes()) * backend.granularityBytes();
            long address = communicator.alone(purpose, () -> communicator.nccl().memAlloc(memoryBytes, purpose));
            closers.add(() -> backend.free(address, sizeBytes));
            MemoryRegion region = MemoryRegion.of(address, sizeBytes);
            var unsuitable = backend.cuda().validate(region, sizeBytes);
            if (!unsuitable.isEmpty()) {
                throw new SymmetricMemoryException(NcclErrors.NO_WINDOW,
                        "memory of ncclMemAlloc cannot be symmetric: " + String.join("; ", unsuitable));
            }
            Allocation shared = closers.add(backend.cuda().wrap(region, sizeBytes, pad));
            backend.cuda().fill(shared.local(), 0, sizeBytes, 0, 1);
            return new NcclAllocation(backend, address, sizeBytes, shared, closers);
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    @Override
    public Memory local() {
        return new CudaMemory(address, sizeBytes);
    }

    @Override
    public PeerMapping rendezvous(Agreement agreement) {
        Closers opened = new Closers();
        try {
            PeerMapping mapping = opened.add(shared.rendezvous(agreement));
            ncclWindow_vidmem[] window = new ncclWindow_vidmem[1];
            InheritableDescriptors before = InheritableDescriptors.now();
            try {
                agreement.check("registering a window of " + sizeBytes + " bytes", () -> window[0] = register(agreement, opened));
            } finally {
                before.makeLaterOnesCloseOnExec();
            }
            Memory[] peers = new Memory[backend.group().worldSize()];
            agreement.check("asking NCCL for the peers' addresses", () -> {
                for (int peer = 0; peer < peers.length; peer++) {
                    peers[peer] = peer == backend.group().rank() ? local() : peerIn(window[0], peer, mapping);
                }
            });
            // Copies that were given up may still be at work on addresses in the window.
            opened.add(backend.cuda()::quiesce);
            return new NcclMapping(mapping, peers, backend.communicator(), opened);
        } catch (Throwable e) {
            opened.closeBecauseOf(e);
            throw e;
        }
    }

    private ncclWindow_vidmem register(Agreement agreement, Closers opened) {
        NcclCommunicator communicator = backend.communicator();
        String purpose = "registering a window of " + sizeBytes + " bytes for " + agreement.subject();
        ncclWindow_vidmem window = communicator.together(purpose, backend.shorter(agreement.timeout()),
                comm -> communicator.nccl().commWindowRegister(comm, address, sizeBytes, purpose));
        if (window.isNull()) {
            throw new SymmetricMemoryException(NcclErrors.NO_WINDOW,
                    "NCCL answered success and gave no window, though it gave one before. NCCL_DEBUG=INFO says more");
        }
        opened.add(() -> backend.deregister(window, sizeBytes));
        return window;
    }

    private Memory peerIn(ncclWindow_vidmem window, int peer, PeerMapping mapping) {
        NcclCommunicator communicator = backend.communicator();
        if (!communicator.nccl().hasPeerPointers()) {
            return mapping.peer(peer);
        }
        String purpose = "asking for the address of rank " + peer;
        long found = communicator.alone(purpose,
                () -> communicator.nccl().getPeerDevicePointer(communicator.joined(), window, peer, purpose));
        // No address: the peer is not among those that NCCL reaches by loads and stores; the exchanged handle reaches it.
        return found == 0 ? mapping.peer(peer) : new CudaMemory(found, sizeBytes);
    }

    @Override
    public void close() {
        closers.close();
    }
}
