package org.symmem.spi;

/**
 * Data movement. A {@link Backend}'s own transfers block the caller until the data is there; a {@link StreamQueue}'s run in the
 * order of the stream and return at once.
 *
 * <p>Ranges are checked before they come here: they lie inside the memories.
 */
public interface Transfers {
    /**
     * Copies bytes; the ranges do not overlap.
     *
     * @param target            where to
     * @param targetOffsetBytes from its first byte
     * @param source            where from
     * @param sourceOffsetBytes from its first byte
     * @param sizeBytes         how many; positive
     */
    void copy(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes);

    /**
     * Copies one range to several places, which do not overlap; in any order. One after the other unless the backend knows better.
     *
     * @param targets             where to
     * @param targetOffsetsBytes  from the first byte of each
     * @param source              where from
     * @param sourceOffsetBytes   from its first byte
     * @param sizeBytes           how many; positive
     */
    default void copyToAll(Memory[] targets, long[] targetOffsetsBytes, Memory source, long sourceOffsetBytes, long sizeBytes) {
        for (int i = 0; i < targets.length; i++) {
            copy(targets[i], targetOffsetsBytes[i], source, sourceOffsetBytes, sizeBytes);
        }
    }

    /**
     * Repeats one element.
     *
     * @param target      where to
     * @param offsetBytes from its first byte; a multiple of the element's size
     * @param elements    how often; positive
     * @param elementBits the element in the low bits
     * @param elementSize its size in bytes: 1, 2, 4 or 8
     */
    void fill(Memory target, long offsetBytes, long elements, long elementBits, int elementSize);
}
