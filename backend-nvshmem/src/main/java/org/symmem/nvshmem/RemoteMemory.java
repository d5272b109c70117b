package org.symmem.nvshmem;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.symmem.spi.Memory;

/**
 * A peer's buffer that no load or store of this process reaches; the library copies to and from it.
 *
 * @param symmetric the same place of this rank's own heap
 * @param pe        whose it is
 * @param sizeBytes its size
 */
record RemoteMemory(long symmetric, int pe, long sizeBytes) implements Memory {
    @Override
    public long address() {
        return 0;
    }

    @Override
    public Optional<MemorySegment> segment() {
        return Optional.empty();
    }
}
