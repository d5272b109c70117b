package org.symmem.spi;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.symmem.Capability;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.Support;

/** A backend at work for one process group: allocations, streams and transfers of one rank. Its transfers block the caller. */
public interface Backend extends Transfers, AutoCloseable {
    /** {@return the device in words, for instance {@code host memory} or {@code device 0 (NVIDIA H200)}} */
    String device();

    /** {@return what this rank can do; a capability that is not named is lacking} */
    Map<Capability, Support> capabilities();

    /**
     * A group of the same ranks, by which steps of this backend's memory agree. A backend whose ranks have a shorter way to each
     * other than the store gives one that takes it.
     *
     * @param joined the group that the backend was opened for
     * @return that group, or one of the same ranks; not closed apart from the backend
     */
    default ProcessGroup meetingGroup(ProcessGroup joined) {
        return joined;
    }

    /** {@return the unit in which buffers are allocated, in bytes; a contiguous view of multiples of it has no gaps} */
    long granularityBytes();

    /**
     * Allocates a buffer of zeros with a pad of zeros.
     *
     * @param sizeBytes the buffer's size; positive
     * @param pad       the pad's layout and size
     * @return the allocation
     */
    Allocation allocate(long sizeBytes, SignalPadLayout pad);

    /**
     * Allocates ordinary memory of this rank's device, of zeros. Local. Asked only where the backend has {@code GLOBAL_MEMORY}.
     *
     * @param sizeBytes the size; positive
     * @return the allocation
     */
    default GlobalAllocation allocateGlobal(long sizeBytes) {
        throw new UnsupportedOperationException("this backend has no GLOBAL_MEMORY");
    }

    /**
     * Finds every reason why a buffer cannot be wrapped. Asked only where the backend has {@code WRAP}.
     *
     * @return the reasons, each a full phrase; empty if it can be used
     */
    default List<String> validate(MemoryRegion region, long sizeBytes) {
        throw new UnsupportedOperationException("this backend has no WRAP");
    }

    /**
     * Uses a buffer that passed {@link #validate}. Asked only where the backend has {@code WRAP}.
     *
     * @return the allocation; closing it does not free the region
     */
    default Allocation wrap(MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
        throw new UnsupportedOperationException("this backend has no WRAP");
    }

    /** {@return a new stream} */
    StreamQueue newStream();

    /**
     * @param handle a native stream of the user's. Asked only where the backend has {@code EXTERNAL_STREAM}
     * @return a queue on it
     */
    default StreamQueue wrapStream(long handle) {
        throw new UnsupportedOperationException("this backend has no EXTERNAL_STREAM");
    }

    /** {@return the native library's own collectives, if it has some; alike on all ranks} */
    default Optional<CollectiveCalls> collectives() {
        return Optional.empty();
    }

    /** Ends the backend's work for the group. All its allocations and streams are closed. */
    @Override
    void close();
}
