package org.symmem.cuda;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.symmem.spi.Memory;

/** Device memory as this process maps it. */
public record CudaMemory(long address, long sizeBytes) implements Memory {
    @Override
    public Optional<MemorySegment> segment() {
        return Optional.empty();
    }
}
