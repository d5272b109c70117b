package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.Closers;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** The CUDA backend at work for one group: one device a rank. */
public final class CudaBackend implements Backend {
    private final ProcessGroup group;
    private final CudaEngine engine;
    private final HandleExchange handles;
    private final long granularityBytes;
    private final Support multicast;
    private final SignalPads pads;

    private CudaBackend(ProcessGroup group, CudaEngine engine, HandleExchange handles, MulticastChoice multicast, SignalPads pads,
            long granularityBytes) {
        this.group = group;
        this.engine = engine;
        this.handles = handles;
        this.multicast = multicast.support();
        this.granularityBytes = granularityBytes;
        this.pads = pads;
    }

    /** Prepares what the ranks share. Collective; engine and handles are the backend's when it returns. */
    static CudaBackend open(Agreement agreement, CudaEngine engine, HandleExchange handles, long allocationGranularityBytes) {
        MulticastChoice multicast = MulticastChoice.among(agreement, engine.device(), handles.handleType());
        long granularityBytes = Math.max(allocationGranularityBytes, multicast.granularityBytes());
        return new CudaBackend(agreement.group(), engine, handles, multicast,
                SignalPads.open(agreement, handles, engine.device(), granularityBytes), granularityBytes);
    }

    static long granularityOf(CudaDevice device) {
        try (Arena arena = Arena.ofConfined(); CudaDevice.Current current = device.makeCurrent()) {
            MemorySegment granularity = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memGetAllocationGranularity(granularity,
                    CudaStructures.allocationProperties(arena, device.device(), CudaStructures.POSIX_DESCRIPTOR),
                    CudaStructures.RECOMMENDED, "asking for the granularity");
            return granularity.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Has the deadline kept of a wait that is on a stream of this backend. */
    public void watch(StreamQueue stream, StreamWait wait) {
        CudaStream parked = (CudaStream) stream;
        parked.parked(wait);
        engine.watch(parked);
    }

    /** Waits for what this backend has on its way by itself, before memory is unmapped; nothing of it waits for a peer. */
    public void quiesce() {
        engine.quiesce();
    }

    ProcessGroup group() {
        return group;
    }

    CudaEngine engine() {
        return engine;
    }

    CudaDevice cudaDevice() {
        return engine.device();
    }

    HandleExchange handles() {
        return handles;
    }

    SignalPads pads() {
        return pads;
    }

    Support multicast() {
        return multicast;
    }

    @Override
    public String device() {
        return engine.device().toString();
    }

    @Override
    public Map<Capability, Support> capabilities() {
        CudaDevice device = engine.device();
        boolean streamSignals = device.hasStreamMemoryOperations();
        Support signals = streamSignals ? new Support.Yes("stream memory operations on 64-bit words")
                : new Support.No(device + " has no stream memory operations on 64-bit words");
        Map<Capability, Support> all = new EnumMap<>(Capability.class);
        all.put(Capability.HOST_ACCESS, new Support.No("device memory is not mapped for the CPU; copy it"));
        all.put(Capability.PEER_ADDRESS, new Support.Yes("virtual memory management, " + handles.describe()));
        all.put(Capability.CONTIGUOUS_VIEW, new Support.Yes("all ranks' memory side by side in one reservation"));
        all.put(Capability.MULTICAST, multicast);
        all.put(Capability.GLOBAL_MEMORY, new Support.Yes("memory of cuMemAlloc"));
        all.put(Capability.WRAP, new Support.Yes("memory of cuMemCreate that can be exported: " + handles.describe()));
        all.put(Capability.EXTERNAL_STREAM, new Support.Yes("any CUstream of the device"));
        all.put(Capability.LOCAL_ALLOCATION, new Support.Yes(""));
        all.put(Capability.LOCAL_CLOSE, new Support.Yes(""));
        all.put(Capability.HOST_SIGNALS, signals);
        all.put(Capability.STREAM_SIGNALS, signals);
        all.put(Capability.SUBGROUPS, new Support.Yes(""));
        all.put(Capability.THREAD_RANKS, new Support.Yes("handles are shared without descriptors"));
        all.put(Capability.SHARED_DEVICE, new Support.Yes("ranks that share a device take turns"));
        all.put(Capability.MULTIPLE_HOSTS, handles.handleType() == CudaStructures.FABRIC ? new Support.Yes("fabric handles")
                : new Support.No("POSIX descriptors do not leave the host"));
        return all;
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return handles.meetingGroup(joined);
    }

    @Override
    public long granularityBytes() {
        return granularityBytes;
    }

    @Override
    public Allocation allocate(long sizeBytes, SignalPadLayout pad) {
        return CudaAllocation.allocate(this, sizeBytes, pad);
    }

    @Override
    public GlobalAllocation allocateGlobal(long sizeBytes) {
        return engine.allocateGlobal(sizeBytes);
    }

    @Override
    public List<String> validate(MemoryRegion region, long sizeBytes) {
        return CudaAllocation.unsuitable(this, region, sizeBytes);
    }

    @Override
    public Allocation wrap(MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        return CudaAllocation.wrap(this, region, sizeBytes, pad);
    }

    @Override
    public StreamQueue newStream() {
        return engine.newStream();
    }

    @Override
    public StreamQueue wrapStream(long handle) {
        return engine.wrapStream(handle);
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        engine.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        engine.fill(target, offsetBytes, elements, elementBits, elementSize);
    }

    @Override
    public void close() {
        try (Closers closers = new Closers()) {
            closers.add(engine);
            closers.add(handles);
            closers.add(pads);
        }
    }
}
