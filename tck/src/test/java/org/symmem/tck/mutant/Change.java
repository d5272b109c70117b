package org.symmem.tck.mutant;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.symmem.Availability;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** What a backend does otherwise than the host backend, step by step. What is not overridden is as there. */
interface Change {
    /** Runs in the provider's constructor. */
    default void construct() {}

    /** What the provider says that it is called. */
    default String name(String right) {
        return right;
    }

    default Availability availability(Availability right) {
        return right;
    }

    /** Runs before the backend is opened. */
    default void open(ProcessGroup group) {}

    /** {@return what opening returns} */
    default @Nullable Backend opened(Backend right) {
        return right;
    }

    default @Nullable Map<Capability, Support> capabilities(Map<Capability, Support> right) {
        return right;
    }

    default @Nullable Allocation allocate(Backend right, long sizeBytes, SignalPadLayout pad) {
        return right.allocate(sizeBytes, pad);
    }

    default Allocation wrap(Backend right, MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        return right.wrap(region, sizeBytes, pad);
    }

    default GlobalAllocation allocateGlobal(Backend right, long sizeBytes) {
        return right.allocateGlobal(sizeBytes);
    }

    default List<String> validate(Backend right, MemoryRegion region, long sizeBytes) {
        return right.validate(region, sizeBytes);
    }

    default Memory local(Allocation right) {
        return right.local();
    }

    /** {@return the group by which steps of the memory agree} */
    default ProcessGroup meeting(ProcessGroup right) {
        return right;
    }

    /** Runs before the right rendezvous. */
    default void rendezvous(ProcessGroup group, Agreement agreement) {}

    default @Nullable Memory peer(PeerMapping right, int rank, ProcessGroup group) {
        return right.peer(rank);
    }

    default long contiguousStrideBytes(PeerMapping right, long sizeBytes) {
        return right.contiguousStrideBytes();
    }

    default Memory contiguous(PeerMapping right, int worldSize) {
        return right.contiguous();
    }

    default Support multicastSupport(PeerMapping right, ProcessGroup group) {
        return right.multicastSupport();
    }

    default Memory multicast(PeerMapping right, int worldSize) {
        return right.multicast();
    }

    default void signal(SignalPad right, int peer, int channel) {
        right.signal(peer, channel);
    }

    /** Runs after a signal was sent. */
    default void signalled(PeerMapping mapping, int peer, int channel) {}

    /** Runs before a barrier that blocks. */
    default void atBarrier(PeerMapping mapping, ProcessGroup group, int channel) {}

    default boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
        return right.await(source, channel, timeoutNanos);
    }

    default int[] barrier(SignalPad right, int channel, long timeoutNanos) {
        return right.barrier(channel, timeoutNanos);
    }

    /** {@return a queue that does the operations of another on its own terms} */
    default StreamQueue stream(StreamQueue right) {
        return right;
    }

    /** {@return the host backend's queue behind one that {@link #stream} made} */
    default StreamQueue rightOf(StreamQueue stream) {
        return stream;
    }

    default StreamQueue wrapStream(Backend right, long handle) {
        return right.wrapStream(handle);
    }

    default void signal(SignalPad right, int peer, int channel, StreamQueue stream) {
        right.signal(peer, channel, stream);
    }

    default void await(SignalPad right, int source, int channel, StreamQueue stream, long timeoutNanos) {
        right.await(source, channel, stream, timeoutNanos);
    }

    default void copy(Backend right, Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        right.copy(target, targetOffsetBytes, source, sourceOffsetBytes, sizeBytes);
    }

    default void fill(Backend right, Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        right.fill(target, offsetBytes, elements, elementBits, elementSize);
    }

    default void closeMapping(PeerMapping right, ProcessGroup group) {
        right.close();
    }

    default void closeAllocation(Allocation right) {
        right.close();
    }

    default void closeBackend(Backend right) {
        right.close();
    }
}
