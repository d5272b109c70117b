package org.symmem.host;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.linux.LibC;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** The host backend at work for one group. */
final class HostBackend implements Backend {
    private static final AtomicInteger STREAMS = new AtomicInteger();

    private final ProcessGroup group;
    private final DescriptorExchange exchange;

    HostBackend(ProcessGroup group, DescriptorExchange exchange) {
        this.group = group;
        this.exchange = exchange;
    }

    ProcessGroup group() {
        return group;
    }

    DescriptorExchange exchange() {
        return exchange;
    }

    @Override
    public String device() {
        return "host memory";
    }

    @Override
    public Map<Capability, Support> capabilities() {
        Map<Capability, Support> all = new EnumMap<>(Capability.class);
        all.put(Capability.HOST_ACCESS, new Support.Yes("shared mappings of sealed memfds"));
        all.put(Capability.PEER_ADDRESS, new Support.Yes("shared mappings of sealed memfds, descriptors by " + exchange.describe()));
        all.put(Capability.CONTIGUOUS_VIEW, new Support.Yes("all ranks' memfds side by side in one reservation"));
        all.put(Capability.MULTICAST, HostMapping.NO_MULTICAST);
        all.put(Capability.GLOBAL_MEMORY, new Support.Yes("memory of the process"));
        all.put(Capability.WRAP, new Support.Yes("shared mappings of memfds that are sealed against shrinking"));
        all.put(Capability.EXTERNAL_STREAM, new Support.No("a stream on the host has no native handle"));
        all.put(Capability.LOCAL_ALLOCATION, new Support.Yes(""));
        all.put(Capability.LOCAL_CLOSE, new Support.Yes(""));
        all.put(Capability.HOST_SIGNALS, new Support.Yes("release stores and acquire loads, then futex"));
        all.put(Capability.STREAM_SIGNALS, new Support.Yes("in the stream's own thread"));
        all.put(Capability.SUBGROUPS, new Support.Yes(""));
        all.put(Capability.THREAD_RANKS, new Support.Yes(""));
        all.put(Capability.SHARED_DEVICE, new Support.Yes("all ranks share the host's memory"));
        all.put(Capability.MULTIPLE_HOSTS, new Support.No("memory of one host cannot be mapped on another"));
        return all;
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return exchange.meetingGroup(joined);
    }

    @Override
    public long granularityBytes() {
        return LibC.pageSize();
    }

    @Override
    public Allocation allocate(long sizeBytes, SignalPadLayout pad) {
        return HostAllocation.allocate(this, sizeBytes, pad);
    }

    @Override
    public GlobalAllocation allocateGlobal(long sizeBytes) {
        return HostGlobalAllocation.allocate(sizeBytes);
    }

    @Override
    public List<String> validate(MemoryRegion region, long sizeBytes) {
        return HostAllocation.unsuitable(region, sizeBytes);
    }

    @Override
    public Allocation wrap(MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        return HostAllocation.wrap(this, region, sizeBytes, pad);
    }

    @Override
    public StreamQueue newStream() {
        return HostStream.start("symmem-stream-" + STREAMS.incrementAndGet() + "-rank-" + group.rank());
    }

    @Override
    public StreamQueue wrapStream(long handle) {
        throw new IllegalStateException("a stream on the host has no native handle");
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        HostTransfers.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        HostTransfers.fill(target, offsetBytes, elements, elementBits, elementSize);
    }

    @Override
    public void close() {
        exchange.close();
    }
}
