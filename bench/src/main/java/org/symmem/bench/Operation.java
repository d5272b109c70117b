package org.symmem.bench;

import java.util.List;
import org.symmem.Capability;

/**
 * Something that is measured.
 *
 * @param name         for users
 * @param description  what one call does
 * @param sized        whether it is measured for each size
 * @param moves        what a call moves, so that it has a bandwidth
 * @param leastRanks   how many ranks it needs
 * @param capabilities what it needs
 * @param preparation  makes it ready on every rank; collective
 */
public record Operation(String name, String description, boolean sized, Moves moves, int leastRanks, List<Capability> capabilities,
        Preparation preparation) {
    /** What a call moves. */
    public enum Moves {
        /** It is about time alone. */
        NOTHING,
        /** The buffer of one rank. */
        ONE_BUFFER,
        /** The buffer of every rank. */
        ALL_BUFFERS
    }

    /** {@return the bytes that a call moves; 0 if it moves none} */
    public long movedBytes(int ranks, long bytes) {
        return switch (moves) {
            case NOTHING -> 0;
            case ONE_BUFFER -> bytes;
            case ALL_BUFFERS -> ranks * bytes;
        };
    }

    /** {@return the bytes that all ranks together need at most} */
    public long neededBytes(int ranks, long bytes) {
        return sized ? ranks * (movedBytes(ranks, bytes) + bytes) : 0;
    }

    /** Makes the operation ready. */
    @FunctionalInterface
    interface Preparation {
        Work prepare(Setting setting, long bytes);
    }
}
