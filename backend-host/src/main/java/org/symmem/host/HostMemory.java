package org.symmem.host;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.symmem.spi.Memory;

/** A piece of shared host memory as this process maps it. */
record HostMemory(MemorySegment mapped) implements Memory {
    @Override
    public long address() {
        return mapped.address();
    }

    @Override
    public long sizeBytes() {
        return mapped.byteSize();
    }

    @Override
    public Optional<MemorySegment> segment() {
        return Optional.of(mapped);
    }
}
