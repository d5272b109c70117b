package org.symmem.nccl;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bytedeco.cuda.nccl.ncclWindow_vidmem;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.NativeCallException;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.cuda.CudaBackend;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.Closers;
import org.symmem.spi.CollectiveCalls;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** The NCCL backend at work for one group. Streams, copies and signals are those of the CUDA backend, over the same devices. */
final class NcclBackend implements Backend {
    private final ProcessGroup group;
    private final CudaBackend cuda;
    private final NcclCommunicator communicator;
    private final NcclCollectives collectives;
    private final Closers closers;

    /** @param closers end the communicator and the CUDA backend */
    NcclBackend(ProcessGroup group, CudaBackend cuda, NcclCommunicator communicator, NcclCollectives collectives, Closers closers) {
        this.group = group;
        this.cuda = cuda;
        this.communicator = communicator;
        this.collectives = collectives;
        this.closers = closers;
    }

    ProcessGroup group() {
        return group;
    }

    CudaBackend cuda() {
        return cuda;
    }

    NcclCommunicator communicator() {
        return communicator;
    }

    /** {@return how long a call of NCCL may wait within a step, so that the step still ends alike on all ranks} */
    Duration shorter(Duration step) {
        return step.multipliedBy(2).dividedBy(3);
    }

    /** Frees memory of {@code ncclMemAlloc}; it belongs to no communicator, so also when that is broken. */
    void free(long address, long sizeBytes) {
        if (communicator.isFree()) {
            String purpose = "freeing " + sizeBytes + " bytes";
            communicator.afterwards(purpose, () -> {
                communicator.nccl().memFree(address, purpose);
                return address;
            });
        }
        // Else a thread of NCCL may still be at work on it: it stays until the process ends.
    }

    void deregister(ncclWindow_vidmem window, long sizeBytes) {
        if (communicator.isUsable()) {
            String purpose = "deregistering a window of " + sizeBytes + " bytes";
            try {
                communicator.alone(purpose, () -> {
                    communicator.nccl().commWindowDeregister(communicator.joined(), window, purpose);
                    return window;
                });
            } catch (NativeCallException e) {
                communicator.giveUp(purpose + " failed");
                throw e;
            }
        }
        // Else the window goes with the communicator, which is aborted when the backend is closed.
    }

    @Override
    public String device() {
        return cuda.device();
    }

    @Override
    public Map<Capability, Support> capabilities() {
        NcclLibrary library = communicator.nccl().library();
        Map<Capability, Support> all = new EnumMap<>(cuda.capabilities());
        all.put(Capability.PEER_ADDRESS, new Support.Yes(peerAddresses(communicator.nccl()) + "; "
                + cuda.capabilities().get(Capability.PEER_ADDRESS).explanation()));
        all.put(Capability.CONTIGUOUS_VIEW, new Support.Yes("dense, by a mapping of NCCL's memory of its own; within NCCL's windows ranks "
                + "are a device's memory apart"));
        all.put(Capability.WRAP, new Support.Yes("memory of cuMemCreate that can be exported; by exchanged handles, without a window"));
        all.computeIfPresent(Capability.STREAM_SIGNALS, (capability, support) -> support.supported()
                ? new Support.Yes(support.explanation() + "; not by ncclPutSignal, which has one channel (docs/adr/0007)")
                : support);
        all.put(Capability.THREAD_RANKS,
                new Support.No("ranks in one process would wait for each other inside NCCL's calls; start a process for each rank"));
        all.put(Capability.SHARED_DEVICE, sharedDevice(library.version(), System.getenv("NCCL_MULTI_RANK_GPU_ENABLE")));
        return all;
    }

    /** {@return where peers' addresses come from, and what NCCL's own need} */
    static String peerAddresses(Nccl nccl) {
        return nccl.hasPeerPointers() ? "peer pointers from NCCL (since " + NcclVersion.PEER_POINTERS + ")"
                : "peer pointers from NCCL: needs " + NcclVersion.PEER_POINTERS + ", found " + nccl.library().version()
                        + "; using the exported memory handles";
    }

    static Support sharedDevice(NcclVersion version, @org.jspecify.annotations.Nullable String setting) {
        if (!version.isAtLeast(NcclVersion.SHARED_DEVICE)) {
            return new Support.No("NCCL refuses two ranks on one device: needs " + NcclVersion.SHARED_DEVICE + ", found " + version);
        }
        return "1".equals(setting) ? new Support.Yes("NCCL_MULTI_RANK_GPU_ENABLE is 1; experimental in NCCL " + version)
                : new Support.No(
                        "NCCL " + version + " refuses two ranks on one device unless NCCL_MULTI_RANK_GPU_ENABLE is 1 on all ranks");
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return cuda.meetingGroup(joined);
    }

    @Override
    public long granularityBytes() {
        return cuda.granularityBytes();
    }

    @Override
    public Allocation allocate(long sizeBytes, SignalPadLayout pad) {
        return NcclAllocation.allocate(this, sizeBytes, pad);
    }

    @Override
    public GlobalAllocation allocateGlobal(long sizeBytes) {
        return cuda.allocateGlobal(sizeBytes);
    }

    @Override
    public List<String> validate(MemoryRegion region, long sizeBytes) {
        return cuda.validate(region, sizeBytes);
    }

    /** Without a window: NCCL leaves undefined what a second window over the same memory does, and the user may have one. */
    @Override
    public Allocation wrap(MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        return cuda.wrap(region, sizeBytes, pad);
    }

    @Override
    public StreamQueue newStream() {
        return cuda.newStream();
    }

    @Override
    public StreamQueue wrapStream(long handle) {
        return cuda.wrapStream(handle);
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        cuda.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        cuda.fill(target, offsetBytes, elements, elementBits, elementSize);
    }

    @Override
    public Optional<CollectiveCalls> collectives() {
        return Optional.of(collectives);
    }

    @Override
    public void close() {
        closers.close();
    }
}
