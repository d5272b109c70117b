package org.symmem.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Waits for descriptors, as poll(2) does.
 *
 * <pre>
 *   struct pollfd   0 fd i32 | 4 events i16 | 6 revents i16 | 8
 * </pre>
 */
public final class Poll {
    private static final long EVENTS = 4;
    private static final long RETURNED = 6;
    private static final long BYTES = 8;
    private static final short READABLE = 1;
    private static final short WRITABLE = 4;
    private static final short BROKEN = 8 | 16 | 32;

    private Poll() {}

    /**
     * Waits until a descriptor can be read from, or is at its end.
     *
     * @param timeoutNanos how long at most; 0 only looks
     * @return the indices of those that can
     */
    public static Set<Integer> readable(List<Integer> descriptors, long timeoutNanos) {
        return poll(descriptors, READABLE, READABLE | BROKEN, timeoutNanos);
    }

    /** As {@link #readable}, for writing. */
    public static Set<Integer> writable(List<Integer> descriptors, long timeoutNanos) {
        return poll(descriptors, WRITABLE, WRITABLE | BROKEN, timeoutNanos);
    }

    /** {@return the indices of those whose other end is closed} Only looks. */
    public static Set<Integer> ended(List<Integer> descriptors) {
        return poll(descriptors, (short) 0, BROKEN, 0);
    }

    private static Set<Integer> poll(List<Integer> descriptors, short events, int wanted, long timeoutNanos) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment array = arena.allocate(BYTES * Math.max(1, descriptors.size()), 8);
            for (int i = 0; i < descriptors.size(); i++) {
                array.set(ValueLayout.JAVA_INT, i * BYTES, descriptors.get(i));
                array.set(ValueLayout.JAVA_SHORT, i * BYTES + EVENTS, events);
            }
            LibC.poll(array, descriptors.size(), (int) Math.min(Integer.MAX_VALUE, Math.ceilDiv(timeoutNanos, 1_000_000L)),
                    "waiting for descriptors");
            Set<Integer> ready = new HashSet<>();
            for (int i = 0; i < descriptors.size(); i++) {
                if ((array.get(ValueLayout.JAVA_SHORT, i * BYTES + RETURNED) & wanted) != 0) {
                    ready.add(i);
                }
            }
            return ready;
        }
    }
}
