package org.symmem.nvshmem;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.NativeCallException;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.cuda.CudaDevice;
import org.symmem.cuda.CudaEngine;
import org.symmem.cuda.CudaStream;
import org.symmem.cuda.PhysicalMemory;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.Closers;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** The NVSHMEM backend at work for one group, which is all ranks of the process's world. */
final class NvshmemBackend implements Backend {
    /** Of devices' virtual memory, in which alone buffers can be registered. */
    private static final long REGISTRATION_UNIT_BYTES = 2 << 20;

    private final ProcessGroup group;
    private final ProcessGroup meetingGroup;
    private final PeWorld world;
    private final CudaEngine engine;
    private final DescriptorExchange exchange;
    private final RemoteCopies remote;
    private final CudaStream remoteStream;
    private final Support registration;

    NvshmemBackend(ProcessGroup group, PeWorld world, CudaEngine engine, DescriptorExchange exchange) {
        this.group = group;
        this.meetingGroup = exchange.meetingGroup(group);
        this.world = world;
        this.engine = engine;
        this.exchange = exchange;
        this.remote = new RemoteCopies(world, engine);
        this.remoteStream = engine.newStream();
        this.registration = registration();
    }

    private Support registration() {
        if (!NvshmemNative.hasRegistration()) {
            return new Support.No("this NVSHMEM has no nvshmemx_buffer_register_symmetric");
        }
        return world.sharesDevices() ? new Support.No("NVSHMEM cannot register buffers where ranks share a device")
                : new Support.Yes("nvshmemx_buffer_register_symmetric");
    }

    PeWorld world() {
        return world;
    }

    CudaEngine engine() {
        return engine;
    }

    Set<Integer> lostRanks() {
        return exchange.lostRanks();
    }

    Agreement agreement(String operation) {
        return new Agreement(meetingGroup, operation, "NVSHMEM's heap, rank " + group.rank() + "/" + group.worldSize(), this::device,
                group.timeout());
    }

    @Override
    public String device() {
        return engine.device().toString();
    }

    @Override
    public Map<Capability, Support> capabilities() {
        CudaDevice device = engine.device();
        Support reach = world.reachesAll() ? new Support.Yes("nvshmem_ptr")
                : new Support.No("loads and stores do not reach every rank's heap (nvshmem_ptr gives null); put and get do");
        Support signals = !world.reachesAll() ? reach
                : device.hasStreamMemoryOperations() ? new Support.Yes("stream memory operations on 64-bit words of the heap")
                        : new Support.No(device + " has no stream memory operations on 64-bit words");
        String collective = "NVSHMEM's heap changes on all ranks together";
        Map<Capability, Support> all = new EnumMap<>(Capability.class);
        all.put(Capability.HOST_ACCESS, new Support.No("device memory is not mapped for the CPU; copy it"));
        all.put(Capability.PEER_ADDRESS, reach);
        all.put(Capability.CONTIGUOUS_VIEW, new Support.No("NVSHMEM maps the ranks' heaps where it likes, not side by side"));
        all.put(Capability.MULTICAST, multicast());
        all.put(Capability.GLOBAL_MEMORY, new Support.Yes("memory of cuMemAlloc"));
        all.put(Capability.WRAP, new Support.Yes("memory of NVSHMEM's heap" + (registration.supported()
                ? ", and whole memories of cuMemCreate"
                : "; no other, since " + registration.explanation())));
        all.put(Capability.EXTERNAL_STREAM, new Support.Yes("any CUstream of the device"));
        all.put(Capability.LOCAL_ALLOCATION, new Support.No(collective));
        all.put(Capability.LOCAL_CLOSE, new Support.No(collective));
        all.put(Capability.HOST_SIGNALS, signals);
        all.put(Capability.STREAM_SIGNALS, signals);
        all.put(Capability.SUBGROUPS, new Support.No("NVSHMEM allocates with all its PEs; its teams have no memory of their own"));
        all.put(Capability.THREAD_RANKS, new Support.No("NVSHMEM has one PE a process"));
        all.put(Capability.SHARED_DEVICE,
                new Support.Yes("ranks that share a device take turns" + (world.status() == NvshmemNative.LIMITED_SHARING
                        ? "; NVSHMEM refuses much of its own there, none of which is called"
                        : "")));
        all.put(Capability.MULTIPLE_HOSTS, new Support.No("lost ranks are noticed by connections that do not leave the host"));
        return all;
    }

    /** Decided without the library, which follows a null pointer when it is asked for an address where it has made no multicast. */
    Support multicast() {
        if (!NvshmemNative.hasMulticast()) {
            return new Support.No("this NVSHMEM has no nvshmemx_mc_ptr");
        }
        if (world.sharesDevices()) {
            return new Support.No("ranks share a device, and multicast takes a device a rank");
        }
        String off = System.getenv().getOrDefault("NVSHMEM_DISABLE_NVLS", "1");
        if (!off.equals("0")) {
            return new Support.No("NVLink multicast is off by NVSHMEM_DISABLE_NVLS=" + off
                    + ", which is set unless the user sets 0: it can put a host that is shared out of service");
        }
        return engine.device().hasMulticast() ? new Support.Yes("nvshmemx_mc_ptr")
                : new Support.No(engine.device() + " has no multicast (attribute MULTICAST_SUPPORTED is 0)");
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return meetingGroup;
    }

    @Override
    public long granularityBytes() {
        return HeapAccount.ALIGNMENT;
    }

    @Override
    public Allocation allocate(long sizeBytes, SignalPadLayout pad) {
        return NvshmemAllocation.allocate(this, sizeBytes, pad);
    }

    @Override
    public GlobalAllocation allocateGlobal(long sizeBytes) {
        return engine.allocateGlobal(sizeBytes);
    }

    @Override
    public List<String> validate(MemoryRegion region, long sizeBytes) {
        List<String> reasons = new ArrayList<>();
        if (region.sizeBytes() < sizeBytes) {
            reasons.add("it has " + region.sizeBytes() + " bytes, the tensor needs " + sizeBytes);
        }
        if (!isInHeap(region)) {
            if (registration instanceof Support.No no) {
                reasons.add("it is not in NVSHMEM's heap, and no other memory can be used: " + no.reason());
            } else {
                reasons.addAll(whyNotRegistered(region));
            }
        }
        return reasons;
    }

    boolean isInHeap(MemoryRegion region) {
        return region.address() != 0 && world.isInHeap(region.address()) && world.isInHeap(region.address() + region.sizeBytes() - 1);
    }

    private List<String> whyNotRegistered(MemoryRegion region) {
        List<String> reasons = new ArrayList<>();
        if (region.address() % REGISTRATION_UNIT_BYTES != 0 || region.sizeBytes() % REGISTRATION_UNIT_BYTES != 0) {
            reasons.add("it is not in NVSHMEM's heap, and to be registered it must begin at a multiple of " + REGISTRATION_UNIT_BYTES
                    + " bytes and be as long as one");
        }
        try (CudaDevice.Current current = engine.device().makeCurrent();
                PhysicalMemory memory = PhysicalMemory.behind(region.address(), region.sizeBytes(), "looking behind an address")) {
            return reasons;
        } catch (NativeCallException e) {
            reasons.add("it is neither in NVSHMEM's heap nor memory that cuMemCreate made and this process has mapped (" + e.call() + ": "
                    + e.codeName() + ")");
            return reasons;
        }
    }

    @Override
    public Allocation wrap(MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        return NvshmemAllocation.wrap(this, region, sizeBytes, pad);
    }

    @Override
    public StreamQueue newStream() {
        return queue(engine.newStream());
    }

    @Override
    public StreamQueue wrapStream(long handle) {
        return queue(engine.wrapStream(handle));
    }

    private StreamQueue queue(CudaStream stream) {
        return world.reachesAll() ? stream : new RemoteStream(stream, remote);
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        if (target instanceof RemoteMemory || source instanceof RemoteMemory) {
            synchronized (remoteStream) {
                remote.copy(remoteStream, target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
                remote.finish(remoteStream);
            }
        } else {
            engine.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
        }
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        if (target instanceof RemoteMemory to) {
            synchronized (remoteStream) {
                remote.fill(remoteStream, to, offsetBytes, elements, elementBits, elementSize);
            }
        } else {
            engine.fill(target, offsetBytes, elements, elementBits, elementSize);
        }
    }

    @Override
    public void close() {
        try (Closers closers = new Closers()) {
            closers.add(engine);
            closers.add(exchange);
            closers.add(remoteStream);
            closers.add(() -> world.leave(agreement("closing"), this::lostRanks));
        }
    }
}
