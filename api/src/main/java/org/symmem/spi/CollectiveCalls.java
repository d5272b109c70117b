package org.symmem.spi;

/**
 * A native library's own collectives, on memory of one backend. Every rank of the group puts the same calls on a stream in the same
 * order; a call returns at once and is done in the order of the stream. Ranges are checked before they come here.
 *
 * @implSpec A rank that never comes must not park the stream for ever: after the group's timeout the stream fails.
 */
public interface CollectiveCalls {
    /**
     * Copies the root's bytes over every other rank's.
     *
     * @param buffer      this rank's own
     * @param offsetBytes from its first byte
     * @param sizeBytes   how many; positive, the same on all ranks
     * @param root        in {@code [0, worldSize)}
     */
    void broadcast(Memory buffer, long offsetBytes, long sizeBytes, int root, StreamQueue stream);

    /**
     * Copies every rank's bytes to its place on every rank.
     *
     * @param target            this rank's own, for {@code worldSize} times the size
     * @param targetOffsetBytes from its first byte
     * @param source            this rank's own
     * @param sourceOffsetBytes from its first byte
     * @param sizeBytes         of each rank's part; positive, the same on all ranks
     */
    void allGather(Memory target, long targetOffsetBytes, Memory source, long sourceOffsetBytes, long sizeBytes, StreamQueue stream);
}
