package org.example.symmem;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.symmem.spi.Memory;

/** Copies and fills of mapped memory. Ranges were checked before. */
final class Bytes {
    private Bytes() {}

    static void copy(Memory target, long targetOffset, Memory source, long sourceOffset, long size) {
        MemorySegment.copy(source.segment().orElseThrow(), sourceOffset, target.segment().orElseThrow(), targetOffset, size);
    }

    static void fill(Memory target, long offset, long elements, long bits, int elementSize) {
        MemorySegment to = target.segment().orElseThrow().asSlice(offset, elements * elementSize);
        for (long at = 0; at < to.byteSize(); at += elementSize) {
            switch (elementSize) {
                case 1 -> to.set(ValueLayout.JAVA_BYTE, at, (byte) bits);
                case 2 -> to.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, (short) bits);
                case 4 -> to.set(ValueLayout.JAVA_INT_UNALIGNED, at, (int) bits);
                default -> to.set(ValueLayout.JAVA_LONG_UNALIGNED, at, bits);
            }
        }
    }
}
