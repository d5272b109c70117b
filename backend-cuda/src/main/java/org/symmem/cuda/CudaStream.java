package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;

/**
 * A stream of the device, made here or the user's. Waits that are parked on it have deadlines: whoever synchronises the stream,
 * and the backend's watch, release those that have passed and fail the stream.
 */
public final class CudaStream implements StreamQueue {
    private static final long SPIN_NANOS = 500_000;
    private static final long PAUSE_NANOS = 20_000;
    /** How many waits are remembered before it is asked which of them are over. */
    private static final int MANY_WAITS = 4096;

    private final CudaDevice device;
    private final long handle;
    private final boolean owned;
    private final boolean batchesCopies;
    private final Deque<StreamWait> waits = new ArrayDeque<>();
    private @Nullable SymmetricMemoryException failure;
    private boolean closed;

    CudaStream(CudaDevice device, long handle, boolean owned) {
        this.device = device;
        this.handle = handle;
        this.owned = owned;
        this.batchesCopies = BatchedCopies.on(handle);
    }

    /** {@return a new stream, which waits for no other} */
    public static CudaStream create(CudaDevice device) {
        int nonBlocking = 1;
        try (Arena arena = Arena.ofConfined(); CudaDevice.Current current = device.makeCurrent()) {
            MemorySegment stream = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.streamCreate(stream, nonBlocking, "making a stream");
            return new CudaStream(device, stream.get(ValueLayout.JAVA_LONG, 0), true);
        }
    }

    @Override
    public long handle() {
        return handle;
    }

    @Override
    public synchronized void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        String purpose = "copying " + sizeBytes + " bytes";
        try (CudaDevice.Current current = device.makeCurrent()) {
            if (target instanceof CudaMemory to && source instanceof CudaMemory from) {
                CudaDriver.memcpyDtoDAsync(to.address() + targetOffsetBytes, from.address() + sourceOffsetBytes, sizeBytes, handle,
                        purpose);
            } else if (target instanceof CudaMemory to) {
                CudaDriver.memcpyHtoDAsync(to.address() + targetOffsetBytes, offHeap(source).asSlice(sourceOffsetBytes, sizeBytes),
                        sizeBytes, handle, purpose);
            } else if (source instanceof CudaMemory from) {
                CudaDriver.memcpyDtoHAsync(offHeap(target).asSlice(targetOffsetBytes, sizeBytes), from.address() + sourceOffsetBytes,
                        sizeBytes, handle, purpose);
            } else {
                throw new IllegalArgumentException("neither side of a copy is memory of " + device);
            }
        }
    }

    @Override
    public synchronized void copyToAll(Memory[] targets, long[] targetOffsetsBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        if (targets.length < 2 || !batchesCopies || !(source instanceof CudaMemory from)
                || !Arrays.stream(targets).allMatch(CudaMemory.class::isInstance)) {
            StreamQueue.super.copyToAll(targets, targetOffsetsBytes, source, sourceOffsetBytes, sizeBytes);
            return;
        }
        long[] addresses = new long[targets.length];
        for (int i = 0; i < targets.length; i++) {
            addresses[i] = ((CudaMemory) targets[i]).address() + targetOffsetsBytes[i];
        }
        try (CudaDevice.Current current = device.makeCurrent()) {
            BatchedCopies.put(addresses, from.address() + sourceOffsetBytes, sizeBytes, handle,
                    "copying " + sizeBytes + " bytes to " + targets.length + " places");
        }
    }

    private static MemorySegment offHeap(Memory memory) {
        return memory.segment()
                .filter(MemorySegment::isNative)
                .orElseThrow(() -> new IllegalArgumentException(
                        "a copy on a stream needs memory off the Java heap, which does not move; the blocking copy takes both"));
    }

    @Override
    public synchronized void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        long at = ((CudaMemory) target).address() + offsetBytes;
        String purpose = "filling " + elements * elementSize + " bytes";
        int low = (int) elementBits;
        int high = (int) (elementBits >>> 32);
        try (CudaDevice.Current current = device.makeCurrent()) {
            switch (elementSize) {
                case 1 -> CudaDriver.memsetD8Async(at, low & 0xff, elements, handle, purpose);
                case 2 -> CudaDriver.memsetD16Async(at, low & 0xffff, elements, handle, purpose);
                case 4 -> CudaDriver.memsetD32Async(at, low, elements, handle, purpose);
                default -> {
                    if (low == high) {
                        CudaDriver.memsetD32Async(at, low, 2 * elements, handle, purpose);
                    } else {
                        // There is no fill with 64 bits: the halves are two columns, a row an element.
                        CudaDriver.memsetD2D32Async(at, Long.BYTES, low, 1, elements, handle, purpose);
                        CudaDriver.memsetD2D32Async(at + Integer.BYTES, Long.BYTES, high, 1, elements, handle, purpose);
                    }
                }
            }
        }
    }

    /** Puts stores and waits on the stream in one call. */
    synchronized void batch(MemorySegment operations, int count, String purpose) {
        try (CudaDevice.Current current = device.makeCurrent()) {
            CudaDriver.streamBatchMemOp(handle, count, operations, 0, purpose);
        }
    }

    /** Remembers a wait that is on the stream, so that its deadline can be kept. */
    synchronized void parked(StreamWait wait) {
        if (waits.size() >= MANY_WAITS) {
            forgetOldWaits();
        }
        waits.addLast(wait);
    }

    private void forgetOldWaits() {
        if (idle()) {
            forgetWaits();
        }
        while (!waits.isEmpty() && waits.peekFirst().isOver()) {
            failedBy(waits.removeFirst().end());
        }
    }

    private void forgetWaits() {
        while (!waits.isEmpty()) {
            failedBy(waits.removeFirst().end());
        }
    }

    private void failedBy(Optional<SymmetricMemoryException> error) {
        if (failure == null && error.isPresent()) {
            failure = error.get();
        }
    }

    private boolean idle() {
        try (CudaDevice.Current current = device.makeCurrent()) {
            return CudaDriver.streamQuery(handle, "asking whether a stream is done");
        }
    }

    /** Releases waits whose deadline has passed, and fails the stream because of the first. */
    synchronized void keepDeadlines() {
        if (closed) {
            return;
        }
        while (!waits.isEmpty() && waits.peekFirst().deadlineHasPassed()) {
            StreamWait wait = waits.removeFirst();
            failedBy(wait.releaseIfParked());
            failedBy(wait.end());
        }
    }

    @Override
    public boolean synchronize(long timeoutNanos) {
        long start = System.nanoTime();
        while (true) {
            synchronized (this) {
                keepDeadlines();
                if (owned && waits.isEmpty()) {
                    // Copies and fills only: they come to their end by themselves, and the driver notices it soonest.
                    finish();
                }
                if (idle()) {
                    forgetWaits();
                    if (failure != null) {
                        throw new SymmetricMemoryException(ErrorCode.STREAM_FAILED,
                                "a stream of " + device + " failed: " + failure.getMessage() + ". Close the stream and make a new one",
                                failure);
                    }
                    return true;
                }
            }
            long waited = System.nanoTime() - start;
            if (waited >= timeoutNanos) {
                return false;
            }
            if (waited < SPIN_NANOS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    /** Waits until the stream is done; only for streams on which nothing waits for a peer. */
    void finish() {
        try (CudaDevice.Current current = device.makeCurrent()) {
            CudaDriver.streamSynchronize(handle, "waiting for a copy");
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            forgetWaits();
            if (owned) {
                try (CudaDevice.Current current = device.makeCurrent()) {
                    CudaDriver.streamDestroy(handle, "closing a stream");
                }
            }
        }
    }
}
