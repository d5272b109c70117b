package org.symmem.spi;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** Memory of this process that is not symmetric. */
record SegmentMemory(MemorySegment of) implements Memory {
    @Override
    public long address() {
        return of.isNative() ? of.address() : 0;
    }

    @Override
    public long sizeBytes() {
        return of.byteSize();
    }

    @Override
    public Optional<MemorySegment> segment() {
        return Optional.of(of);
    }
}
