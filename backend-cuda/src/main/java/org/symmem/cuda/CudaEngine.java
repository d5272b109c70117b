package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.symmem.NativeCallException;
import org.symmem.spi.Closers;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;

/**
 * What every backend on CUDA devices works with, wherever its memory comes from: one rank's device, the streams for blocking
 * operations, and the watch that keeps the deadlines of parked waits.
 */
public final class CudaEngine implements AutoCloseable {
    /** What goes through at once when a blocking copy has the Java heap on one side. */
    private static final int STAGING_BYTES = 1 << 20;
    private static final long WATCH_NANOS = 20_000_000;

    private final CudaDevice device;
    private final boolean flushesRemoteWrites;
    private final CudaStream blocking;
    private final CudaStream service;
    private final CudaStream looking;
    private final MemorySegment word = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
    private final Set<CudaStream> watched = ConcurrentHashMap.newKeySet();
    private final Thread watch;
    private volatile boolean closed;

    /** @param device closed with the engine */
    public CudaEngine(CudaDevice device, int rank) {
        Closers opened = new Closers();
        try {
            this.device = device;
            this.flushesRemoteWrites = device.canFlushRemoteWrites();
            this.blocking = opened.add(CudaStream.create(device));
            this.service = opened.add(CudaStream.create(device));
            this.looking = CudaStream.create(device);
        } catch (Throwable e) {
            opened.closeBecauseOf(e);
            throw e;
        }
        this.watch = Thread.ofPlatform()
                .daemon()
                .name("symmem-cuda-watch-rank-" + rank)
                .unstarted(() -> keepDeadlines(new WeakReference<>(this)));
        watch.start();
    }

    /** {@return this rank's device} */
    public CudaDevice device() {
        return device;
    }

    boolean flushesRemoteWrites() {
        return flushesRemoteWrites;
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

    /** Sets memory to zero and waits for it: once, since ranks that share a device take turns on it. */
    public void clear(CudaMemory... regions) {
        synchronized (blocking) {
            for (CudaMemory region : regions) {
                blocking.fill(region, 0, region.sizeBytes(), 0, 1);
            }
            blocking.finish();
        }
    }

    /** Has the deadlines of a stream's waits kept, whether or not anybody synchronises it. */
    void watch(CudaStream stream) {
        if (!watched.contains(stream)) {
            watched.add(stream);
        }
    }

    private static void keepDeadlines(WeakReference<CudaEngine> reference) {
        CudaEngine engine = reference.get();
        while (engine != null && !engine.closed) {
            engine.watched.forEach(CudaStream::keepDeadlines);
            engine = null;
            LockSupport.parkNanos(WATCH_NANOS);
            engine = reference.get();
        }
    }

    /**
     * Waits for what this engine has on its way: signals of threads, and copies that were given up because of an error. Comes before
     * memory is unmapped; nothing of it waits for a peer.
     */
    public void quiesce() {
        try {
            finish();
        } catch (NativeCallException e) {
            // Whatever that was, memory must not go under work that is still running.
            finish();
            throw e;
        }
    }

    private void finish() {
        service.finish();
        synchronized (blocking) {
            blocking.finish();
        }
    }

    /** {@return ordinary memory of the device, of zeros} */
    public GlobalAllocation allocateGlobal(long sizeBytes) {
        return CudaGlobalAllocation.allocate(this, sizeBytes);
    }

    /** {@return a new stream of the device, which waits for no other} */
    public CudaStream newStream() {
        return CudaStream.create(device);
    }

    /** {@return a stream that the user has, by its handle} */
    public CudaStream wrapStream(long handle) {
        return new CudaStream(device, handle, false);
    }

    /** Copies, and waits for it. */
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

    /** Fills, and waits for it. */
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
        try (Closers closers = new Closers()) {
            closers.add(device);
            closers.add(looking);
            closers.add(service);
            closers.add(blocking);
        }
    }
}
