package org.symmem.spi;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A piece of memory as one process reaches it: this rank's own buffer, a peer's, or all of them side by side. A backend may
 * keep more in its own implementation (a device, a rank for put and get).
 */
public interface Memory {
    /** {@return the plain address in this process's (or its device's) address space, or 0 if no plain address reaches it} */
    long address();

    /** {@return the length, in bytes} */
    long sizeBytes();

    /** {@return the memory for loads and stores of the CPU, where it can reach it} */
    Optional<MemorySegment> segment();

    /**
     * @param segment memory of this process, on or off the heap
     * @return the segment as the source or target of a copy
     */
    static Memory of(MemorySegment segment) {
        return new SegmentMemory(segment);
    }
}
