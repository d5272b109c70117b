package org.symmem.host;

import java.lang.foreign.Arena;
import org.symmem.spi.GlobalAllocation;
import org.symmem.spi.Memory;

/** Memory of this process alone. */
record HostGlobalAllocation(Arena arena, Memory memory) implements GlobalAllocation {
    /** As symmetric data is, so that copies between them are as fast. */
    private static final long ALIGNMENT = 128;

    static HostGlobalAllocation allocate(long sizeBytes) {
        Arena arena = Arena.ofShared();
        try {
            return new HostGlobalAllocation(arena, new HostMemory(arena.allocate(sizeBytes, ALIGNMENT)));
        } catch (OutOfMemoryError e) {
            arena.close();
            throw new org.symmem.NativeCallException(org.symmem.ErrorCode.RESOURCE_LIMIT, "malloc", "ENOMEM", 12,
                    "allocating " + sizeBytes + " bytes of memory of this process: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
