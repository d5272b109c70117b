package org.symmem.spi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The bytes of a signal pad, the same for every backend. Each rank owns one pad a tensor; the words of a slot are written by
 * the slot's source rank, except the sleeper words, which the owner writes.
 *
 * <pre>
 *   0               4               8              12              16
 *   +---------------+---------------+---------------+---------------+
 *   | magic "SMPD"  | layout version|  world size   |   channels    |   published with the buffer's handle
 *   +---------------+---------------+---------------+---------------+
 *   | unused up to byte 128                                         |
 *   +===============+===============+===============+===============+
 *   | slot of (channel 0, source 0), 128 bytes                      |
 *   | slot of (channel 0, source 1) …                               |
 *   | slot of (channel 1, source 0) …                               |
 *
 *   slot
 *   +0    signals   u64   signals sent by the source on this channel so far
 *   +8    sleeping  u32   not 0 while the owner sleeps for +0
 *   +64   arrivals  u64   barriers that the source has come to; in the owner's own slot, those that the owner has come to
 *   +72   sleeping  u32   not 0 while the owner sleeps for +64
 * </pre>
 *
 * Signals and arrivals stand in cache lines of their own (64 bytes), and so does each source. Counts only grow, so a pad
 * needs no resetting between uses.
 *
 * @param worldSize the ranks that may write
 * @param channels  the channels
 */
public record SignalPadLayout(int worldSize, int channels) {
    /** {@code SMPD} in memory, little-endian. */
    public static final int MAGIC = 0x44_50_4d_53;
    /** Ranks with different versions cannot share pads. */
    public static final int VERSION = 1;

    public static final long MAGIC_OFFSET = 0;
    public static final long VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    public static final long WORLD_SIZE_OFFSET = VERSION_OFFSET + Integer.BYTES;
    public static final long CHANNELS_OFFSET = WORLD_SIZE_OFFSET + Integer.BYTES;
    public static final long HEADER_BYTES = 128;

    public static final long SIGNALS_IN_SLOT = 0;
    public static final long SIGNALS_SLEEPING_IN_SLOT = SIGNALS_IN_SLOT + Long.BYTES;
    public static final long ARRIVALS_IN_SLOT = 64;
    public static final long ARRIVALS_SLEEPING_IN_SLOT = ARRIVALS_IN_SLOT + Long.BYTES;
    public static final long SLOT_BYTES = 128;

    /** {@return the size of a pad, in bytes} */
    public long sizeBytes() {
        return HEADER_BYTES + SLOT_BYTES * worldSize * channels;
    }

    /** {@return the offset of the count of signals from a source on a channel, in bytes} */
    public long signalsOffset(int channel, int source) {
        return slotOffset(channel, source) + SIGNALS_IN_SLOT;
    }

    /** {@return the offset of the count of barriers that a source has come to on a channel, in bytes} */
    public long arrivalsOffset(int channel, int source) {
        return slotOffset(channel, source) + ARRIVALS_IN_SLOT;
    }

    /** Writes the header of a pad that no other rank can see yet. */
    public void writeHeader(MemorySegment pad) {
        pad.set(ValueLayout.JAVA_INT, VERSION_OFFSET, VERSION);
        pad.set(ValueLayout.JAVA_INT, WORLD_SIZE_OFFSET, worldSize);
        pad.set(ValueLayout.JAVA_INT, CHANNELS_OFFSET, channels);
        pad.set(ValueLayout.JAVA_INT, MAGIC_OFFSET, MAGIC);
    }

    /**
     * Checks that a peer's pad has this layout.
     *
     * @throws IllegalArgumentException if it has not; the message says what differs
     */
    public void checkHeader(MemorySegment pad, int peer) {
        int[] found = {pad.get(ValueLayout.JAVA_INT, MAGIC_OFFSET), pad.get(ValueLayout.JAVA_INT, VERSION_OFFSET),
            pad.get(ValueLayout.JAVA_INT, WORLD_SIZE_OFFSET), pad.get(ValueLayout.JAVA_INT, CHANNELS_OFFSET)};
        int[] wanted = {MAGIC, VERSION, worldSize, channels};
        if (!Arrays.equals(found, wanted)) {
            throw new IllegalArgumentException("the signal pad of rank " + peer + " begins with magic, version, world size, channels "
                    + Arrays.toString(found) + ", not " + Arrays.toString(wanted));
        }
    }

    private long slotOffset(int channel, int source) {
        return HEADER_BYTES + SLOT_BYTES * ((long) channel * worldSize + source);
    }
}
