package org.symmem.nvshmem;

import java.util.Arrays;
import org.symmem.cuda.CudaStream;
import org.symmem.spi.Memory;
import org.symmem.spi.StreamQueue;

/** A stream where stores do not reach all peers: copies to those that they do not reach are the library's, in the same order. */
record RemoteStream(CudaStream stream, RemoteCopies remote) implements StreamQueue {
    @Override
    public long handle() {
        return stream.handle();
    }

    @Override
    public void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        if (target instanceof RemoteMemory || source instanceof RemoteMemory) {
            remote.copy(stream, target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
        } else {
            stream.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
        }
    }

    @Override
    public void copyToAll(Memory[] targets, long[] targetOffsetsBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        if (source instanceof RemoteMemory || Arrays.stream(targets).anyMatch(RemoteMemory.class::isInstance)) {
            StreamQueue.super.copyToAll(targets, targetOffsetsBytes, source, sourceOffsetBytes, sizeBytes);
        } else {
            stream.copyToAll(targets, targetOffsetsBytes, source, sourceOffsetBytes, sizeBytes);
        }
    }

    @Override
    public void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        if (target instanceof RemoteMemory to) {
            remote.fill(stream, to, offsetBytes, elements, elementBits, elementSize);
        } else {
            stream.fill(target, offsetBytes, elements, elementBits, elementSize);
        }
    }

    @Override
    public boolean synchronize(long timeoutNanos) {
        remote.quiet(stream);
        return stream.synchronize(timeoutNanos);
    }

    @Override
    public void close() {
        stream.close();
    }
}
