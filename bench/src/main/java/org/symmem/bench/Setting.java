package org.symmem.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;

/**
 * What an operation finds on its rank. Where the CPU reaches the memory, calls are made by it and block; elsewhere they are put on a
 * stream, and a batch of them ends when the stream is synchronised. Owned by whoever made it; one thread.
 */
final class Setting implements AutoCloseable {
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private final SymmetricMemory memory;
    private final Stream stream;
    private final boolean onStream;

    Setting(SymmetricMemory memory) {
        this.memory = memory;
        this.onStream = !memory.capability(Capability.HOST_ACCESS).supported();
        this.stream = memory.newStream();
    }

    SymmetricMemory memory() {
        return memory;
    }

    int rank() {
        return memory.group().rank();
    }

    int worldSize() {
        return memory.group().worldSize();
    }

    int next() {
        return (rank() + 1) % worldSize();
    }

    boolean onStream() {
        return onStream;
    }

    Stream stream() {
        return stream;
    }

    /** {@return how a batch is timed, in words} */
    String timing() {
        return onStream ? "wall time of a batch of calls on a stream, synchronised at its end; the API has no events of the device"
                : "wall time of a batch of blocking calls";
    }

    SymmetricTensor tensor(long bytes) {
        SymmetricTensor tensor = memory.allocate(Shape.of(bytes), DataType.UINT8);
        tensor.rendezvous();
        return tensor;
    }

    /** {@return memory of this process alone, touched already} */
    static MemorySegment plain(Arena arena, long bytes) {
        return arena.allocate(bytes, 64).fill((byte) 1);
    }

    /** Waits for what is on the stream. */
    void settle() {
        stream.synchronize(PATIENCE);
    }

    /** All ranks meet, by the group and not by signals, so that those that wait leave the processors to those that work. */
    void meet() {
        memory.group().allGather("benchmark", new byte[0], PATIENCE);
    }

    @Override
    public void close() {
        stream.close();
    }
}
