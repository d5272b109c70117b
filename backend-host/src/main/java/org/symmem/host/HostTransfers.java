package org.symmem.host;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.symmem.linux.LibC;
import org.symmem.spi.Memory;

/** Copies and fills by the calling thread. */
final class HostTransfers {
    /** Large enough that the copies behind a fill run at full speed, small enough to stay in the cache. */
    private static final long PATTERN_BYTES = 32 * 1024;

    /** From here on the C library's copy is faster than the JVM's, by measurement: 32 KiB in 0.3 rather than 0.6 microseconds. */
    private static final long LEAST_FOR_MEMCPY = 16 * 1024;
    /** A call of the C library holds up garbage collection, so a long copy is made in several: 16 MiB take less than a millisecond. */
    private static final long MEMCPY_AT_ONCE = 16 << 20;

    private HostTransfers() {}

    static void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        MemorySegment to = segmentOf(target);
        MemorySegment from = segmentOf(source);
        if (sizeBytes < LEAST_FOR_MEMCPY || !to.isNative() || !from.isNative()) {
            MemorySegment.copy(from, sourceOffsetBytes, to, targetOffsetBytes, sizeBytes);
            return;
        }
        memcpy(to, targetOffsetBytes, from, sourceOffsetBytes, sizeBytes);
    }

    /** Apart from {@link #copy}, so that the compiler takes that into its callers, and their objects for the call are never made. */
    private static void memcpy(MemorySegment to, long targetOffsetBytes, MemorySegment from, long sourceOffsetBytes, long sizeBytes) {
        for (long done = 0; done < sizeBytes; done += MEMCPY_AT_ONCE) {
            long length = Math.min(MEMCPY_AT_ONCE, sizeBytes - done);
            LibC.memcpy(to.asSlice(targetOffsetBytes + done, length), from.asSlice(sourceOffsetBytes + done, length));
        }
    }

    static void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize) {
        MemorySegment range = segmentOf(target).asSlice(offsetBytes, elements * elementSize);
        if (elementSize == 1) {
            range.fill((byte) elementBits);
            return;
        }
        switch (elementSize) {
            case 2 -> range.set(ValueLayout.JAVA_SHORT_UNALIGNED, 0, (short) elementBits);
            case 4 -> range.set(ValueLayout.JAVA_INT_UNALIGNED, 0, (int) elementBits);
            case 8 -> range.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, elementBits);
            default -> throw new IllegalArgumentException("no element has " + elementSize + " bytes");
        }
        // What is filled doubles until it is a pattern that is then repeated.
        long filled = elementSize;
        while (filled < range.byteSize()) {
            long next = Math.min(Math.min(filled, PATTERN_BYTES), range.byteSize() - filled);
            MemorySegment.copy(range, 0, range, filled, next);
            filled += next;
        }
    }

    private static MemorySegment segmentOf(Memory memory) {
        // Told apart here, the JVM needs no object for the answer; asked through the interface it made one a copy, by measurement.
        if (memory instanceof HostMemory shared) {
            return shared.mapped();
        }
        return memory.segment().orElseThrow(() -> new IllegalArgumentException("not memory of this host: " + memory));
    }
}
