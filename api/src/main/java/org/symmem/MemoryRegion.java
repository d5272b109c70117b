package org.symmem;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A buffer that the user allocated beforehand, described for {@link SymmetricMemory#wrap}. Local; the buffer stays the user's
 * and must outlive the tensor that wraps it.
 */
public final class MemoryRegion {
    private final long address;
    private final long sizeBytes;
    private final Optional<MemorySegment> segment;
    private final OptionalInt descriptor;
    private final long descriptorOffsetBytes;

    private MemoryRegion(long address, long sizeBytes, Optional<MemorySegment> segment, OptionalInt descriptor,
            long descriptorOffsetBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("a region has a positive size, not " + sizeBytes + " bytes");
        }
        this.address = address;
        this.sizeBytes = sizeBytes;
        this.segment = segment;
        this.descriptor = descriptor;
        this.descriptorOffsetBytes = descriptorOffsetBytes;
    }

    /**
     * A region known by its address only, as device memory is.
     *
     * @param address   the first byte
     * @param sizeBytes the length, positive
     * @return the region
     */
    public static MemoryRegion of(long address, long sizeBytes) {
        return new MemoryRegion(address, sizeBytes, Optional.empty(), OptionalInt.empty(), 0);
    }

    /**
     * A region that this process's CPU can reach.
     *
     * @param segment the whole region
     * @return the region
     */
    public static MemoryRegion of(MemorySegment segment) {
        return new MemoryRegion(addressOf(segment), segment.byteSize(), Optional.of(segment), OptionalInt.empty(), 0);
    }

    /**
     * A mapping of a file descriptor: what the host backend can share.
     *
     * @param segment     the mapping, made with {@code MAP_SHARED}
     * @param descriptor  the descriptor that is mapped; duplicated, not kept
     * @param offsetBytes where in the file the mapping begins
     * @return the region
     */
    public static MemoryRegion ofDescriptor(MemorySegment segment, int descriptor, long offsetBytes) {
        return new MemoryRegion(addressOf(segment), segment.byteSize(), Optional.of(segment), OptionalInt.of(descriptor), offsetBytes);
    }

    private static long addressOf(MemorySegment segment) {
        return segment.isNative() ? segment.address() : 0;
    }

    /** {@return the address of the first byte; 0 for a segment on the Java heap} */
    public long address() {
        return address;
    }

    /** {@return the length, in bytes} */
    public long sizeBytes() {
        return sizeBytes;
    }

    /** {@return the region as this process's CPU reaches it, if it was given so} */
    public Optional<MemorySegment> segment() {
        return segment;
    }

    /** {@return the file descriptor that is mapped, if it was given} */
    public OptionalInt descriptor() {
        return descriptor;
    }

    /** {@return where in the descriptor's file the region begins, in bytes} */
    public long descriptorOffsetBytes() {
        return descriptorOffsetBytes;
    }

    @Override
    public String toString() {
        return "MemoryRegion[0x" + Long.toHexString(address) + ", " + sizeBytes + " bytes"
                + (descriptor.isPresent() ? ", descriptor " + descriptor.getAsInt() : "") + "]";
    }
}
