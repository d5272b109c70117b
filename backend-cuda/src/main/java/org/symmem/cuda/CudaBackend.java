package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.Memory;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** The CUDA backend at work for one group: one device a rank. */
final class CudaBackend implements Backend {
    /** What goes through at once when a blocking copy has the Java heap on one side. */
    private static final int STAGING_BYTES = 1 << 20;
    private static final long WATCH_NANOS = 20_000_000;

    private final ProcessGroup group;
    private final CudaDevice device;
    private final DescriptorExchange exchange;
    private final long granularityBytes;
    private final boolean flushesRemoteWrites;
    private final Support multicast;
    private final CudaStream blocking;
    private final CudaStream service;
    private final CudaStream looking;
    private final MemorySegment word = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
    private final Set<CudaStream> watched = ConcurrentHashMap.newKeySet();
    private final Thread watch;
    private volatile boolean closed;

    CudaBackend(ProcessGroup group, CudaDevice device, DescriptorExchange exchange) {
        this.group = group;
        this.device = device;
        this.exchange = exchange;
        this.granularityBytes = granularityOf(device);
        this.flushesRemoteWrites = device.canFlushRemoteWrites();
        this.multicast = new Support.No(device.hasMulticast() ? "multicast of " + device + " is not used by this version"
                : device + " has no multicast (attribute MULTICAST_SUPPORTED is 0)");
        this.blocking = CudaStream.create(device);
        this.service = CudaStream.create(device);
        this.looking = CudaStream.create(device);
        this.watch = Thread.ofPlatform()
                .daemon()
                .name("symmem-cuda-watch-rank-" + group.rank())
                .unstarted(() -> keepDeadlines(new WeakReference<>(this)));
        watch.start();
    }

    static long granularityOf(CudaDevice device) {
        try (Arena arena = Arena.ofConfined(); CudaDevice.Current current = device.makeCurrent()) {
            MemorySegment granularity = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memGetAllocationGranularity(granularity, CudaStructures.allocationProperties(arena, device.device()),
                    CudaStructures.RECOMMENDED, "asking for the granularity");
            return granularity.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    ProcessGroup group() {
        return group;
    }

    CudaDevice cudaDevice() {
        return device;
    }

    DescriptorExchange exchange() {
        return exchange;
    }

    boolean flushesRemoteWrites() {
        return flushesRemoteWrites;
    }

    Support multicast() {
        return multicast;
    }

    /** {@return the stream for signals of threads; nothing on it ever waits} */
    CudaStream service() {
        return service;
    }

    /** {@return a word of device memory, read while streams may be parked} */
    long readWord(long address) {
        synchronized (looking) {
            looking.copy(Memory.of(word), 0, new CudaMemory(address, Long.BYTES), 0, Long.BYTES);
            looking.finish();
            return word.get(ValueLayout.JAVA_LONG, 0);
        }
    }

    /** Sets memory to zero and waits for it. */
    void clear(long address, long sizeBytes) {
        fill(new CudaMemory(address, sizeBytes), 0, sizeBytes, 0, 1);
    }

    /** Has the deadlines of a stream's waits kept, whether or not anybody synchronises it. */
    void watch(CudaStream stream) {
        if (!watched.contains(stream)) {
            watched.add(stream);
        }
    }

    private static void keepDeadlines(WeakReference<CudaBackend> reference) {
        CudaBackend backend = reference.get();
        while (backend != null && !backend.closed) {
            backend.watched.forEach(CudaStream::keepDeadlines);
            backend = null;
            LockSupport.parkNanos(WATCH_NANOS);
            backend = reference.get();
        }
    }

    @Override
    public String device() {
        return device.toString();
    }

    @Override
    public Map<Capability, Support> capabilities() {
        boolean streamSignals = device.hasStreamMemoryOperations();
        Support signals = streamSignals ? new Support.Yes("stream memory operations on 64-bit words")
                : new Support.No(device + " has no stream memory operations on 64-bit words");
        Map<Capability, Support> all = new EnumMap<>(Capability.class);
        all.put(Capability.HOST_ACCESS, new Support.No("device memory is not mapped for the CPU; copy it"));
        all.put(Capability.PEER_ADDRESS, new Support.Yes("virtual memory management, POSIX descriptors by " + exchange.describe()));
        all.put(Capability.CONTIGUOUS_VIEW, new Support.Yes("all ranks' memory side by side in one reservation"));
        all.put(Capability.MULTICAST, multicast);
        all.put(Capability.WRAP, new Support.Yes("memory of cuMemCreate that can be exported as a POSIX descriptor"));
        all.put(Capability.EXTERNAL_STREAM, new Support.Yes("any CUstream of the device"));
        all.put(Capability.LOCAL_ALLOCATION, new Support.Yes(""));
        all.put(Capability.LOCAL_CLOSE, new Support.Yes(""));
        all.put(Capability.HOST_SIGNALS, signals);
        all.put(Capability.STREAM_SIGNALS, signals);
        all.put(Capability.SUBGROUPS, new Support.Yes(""));
        all.put(Capability.THREAD_RANKS, new Support.Yes("handles are shared without descriptors"));
        all.put(Capability.SHARED_DEVICE, new Support.Yes("ranks that share a device take turns"));
        all.put(Capability.MULTIPLE_HOSTS, new Support.No("POSIX descriptors do not leave the host"));
        return all;
    }

    @Override
    public ProcessGroup meetingGroup(ProcessGroup joined) {
        return exchange.meetingGroup(joined);
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
    public List<String> validate(MemoryRegion region, long sizeBytes) {
        return CudaAllocation.unsuitable(this, region, sizeBytes);
    }

    @Override
    public Allocation wrap(MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        return CudaAllocation.wrap(this, region, sizeBytes, pad);
    }

    @Override
    public StreamQueue newStream() {
        return CudaStream.create(device);
    }

    @Override
    public StreamQueue wrapStream(long handle) {
        return new CudaStream(device, handle, false);
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        synchronized (blocking) {
            if (isOnHeap(target) || isOnHeap(source)) {
                copyStaged(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
            } else {
                blocking.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
                blocking.finish();
            }
        }
    }

    private static boolean isOnHeap(Memory memory) {
        return memory.segment().isPresent() && !memory.segment().get().isNative();
    }

    private void copyStaged(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment staging = arena.allocate(Math.min(STAGING_BYTES, sizeBytes), 64);
            Memory between = Memory.of(staging);
            for (long done = 0; done < sizeBytes; done += staging.byteSize()) {
                long length = Math.min(staging.byteSize(), sizeBytes - done);
                if (isOnHeap(source)) {
                    MemorySegment.copy(source.segment().orElseThrow(), sourceOffsetBytes + done, staging, 0, length);
                    blocking.copy(target, targetOffsetBytes + done, between, 0, length);
                    blocking.finish();
                } else {
                    blocking.copy(between, 0, source, sourceOffsetBytes + done, length);
                    blocking.finish();
                    MemorySegment.copy(staging, 0, target.segment().orElseThrow(), targetOffsetBytes + done, length);
                }
            }
        }
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        synchronized (blocking) {
            blocking.fill(target, offsetBytes, elements, elementBits, elementSize);
            blocking.finish();
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(watch);
        try (org.symmem.spi.Closers closers = new org.symmem.spi.Closers()) {
            closers.add(device);
            closers.add(exchange);
            closers.add(looking);
            closers.add(service);
            closers.add(blocking);
        }
    }
}
