package org.symmem.nvshmem;

import java.util.concurrent.locks.LockSupport;
import org.symmem.cuda.CudaDevice;
import org.symmem.cuda.CudaEngine;
import org.symmem.cuda.CudaMemory;
import org.symmem.cuda.CudaStream;
import org.symmem.spi.Memory;

/**
 * Copies and fills of peers' memory that no store reaches, by the library. What the library cannot send from, or would have to send
 * twice, goes through memory of the own heap, piece by piece; the caller then waits, on a stream too.
 */
final class RemoteCopies {
    private final PeWorld world;
    private final CudaEngine engine;
    private final CudaMemory staging;

    RemoteCopies(PeWorld world, CudaEngine engine) {
        this.world = world;
        this.engine = engine;
        this.staging = new CudaMemory(world.staging(), PeWorld.stagingBytes());
    }

    void copy(CudaStream stream, Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        if (target instanceof RemoteMemory to && source instanceof CudaMemory from && world.isInHeap(from.address())) {
            try (CudaDevice.Current current = engine.device().makeCurrent()) {
                NvshmemNative.put(to.symmetric() + targetOffsetBytes, from.address() + sourceOffsetBytes, sizeBytes, to.pe(),
                        stream.handle());
            }
        } else if (source instanceof RemoteMemory from && target instanceof CudaMemory to && world.isInHeap(to.address())) {
            try (CudaDevice.Current current = engine.device().makeCurrent()) {
                NvshmemNative.get(to.address() + targetOffsetBytes, from.symmetric() + sourceOffsetBytes, sizeBytes, from.pe(),
                        stream.handle());
            }
        } else {
            copyStaged(stream, target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
        }
    }

    private synchronized void copyStaged(CudaStream stream, Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes,
            long sizeBytes) {
        finish(stream);
        for (long done = 0; done < sizeBytes; done += staging.sizeBytes()) {
            long length = Math.min(staging.sizeBytes(), sizeBytes - done);
            if (source instanceof RemoteMemory) {
                copy(stream, staging, 0, source, sourceOffsetBytes + done, length);
                finish(stream);
            } else {
                engine.copy(staging, 0, source, sourceOffsetBytes + done, length);
            }
            if (target instanceof RemoteMemory) {
                copy(stream, target, targetOffsetBytes + done, staging, 0, length);
                finish(stream);
            } else {
                engine.copy(target, targetOffsetBytes + done, staging, 0, length);
            }
        }
    }

    synchronized void fill(CudaStream stream, RemoteMemory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        finish(stream);
        long sizeBytes = elements * elementSize;
        engine.fill(staging, 0, Math.min(staging.sizeBytes(), sizeBytes) / elementSize, elementBits, elementSize);
        for (long done = 0; done < sizeBytes; done += staging.sizeBytes()) {
            copy(stream, target, offsetBytes + done, staging, 0, Math.min(staging.sizeBytes(), sizeBytes - done));
        }
        finish(stream);
    }

    /** Makes a stream wait until its puts are at the peers. */
    void quiet(CudaStream stream) {
        try (CudaDevice.Current current = engine.device().makeCurrent()) {
            NvshmemNative.quiet(stream.handle());
        }
    }

    /** Waits until what is on a stream is done, at the peers too. Nothing on it waits for a signal where this is used. */
    void finish(CudaStream stream) {
        quiet(stream);
        while (!stream.synchronize(Long.MAX_VALUE)) {
            LockSupport.parkNanos(1);
        }
    }
}
