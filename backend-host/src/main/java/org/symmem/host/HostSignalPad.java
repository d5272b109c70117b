package org.symmem.host;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.RankLostException;
import org.symmem.linux.LibC;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/**
 * Signals in shared memory. A signal is one release store into the peer's pad; a wait spins on one acquire load of the own pad
 * and, when the peer is late, sleeps in the kernel (futex). No system call is made when peers are on time.
 *
 * <p>The counts of what was sent and received are plain fields: a channel is used by one thread at a time.
 */
final class HostSignalPad implements SignalPad {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    /**
     * How long a wait spins before it sleeps. Waking a sleeper costs up to 100 microseconds on virtual machines; were this not several
     * times as long, two ranks that once slept would put each other to sleep for ever after.
     */
    private static final long SPIN_NANOS = 500_000;
    /**
     * How long a wait spins before it gives the processor to whoever wants it at each look at the clock: longer than a peer that runs
     * takes to answer, and far less than the scheduler would let this rank spin while the peer waits for its processor.
     */
    private static final long YIELD_NANOS = 5_000;
    /** Loads between two looks at the clock, which costs as much as some loads. */
    private static final int LOADS_A_LOOK = 64;
    /** How long a wait sleeps before it looks whether the peer still lives. */
    private static final long SLEEP_NANOS = 20_000_000;

    private static final int NO_BARRIER = -1;
    private static final long NOT_LOOKED = Long.MIN_VALUE;
    private static final int[] NONE_MISSING = {};

    private final SignalPadLayout layout;
    private final int rank;
    private final MemorySegment[] pads;
    private final MemorySegment own;
    private final Supplier<Set<Integer>> lostRanks;
    private final String where;
    private final long spinNanos;
    private final long[] sent;
    private final long[] received;
    private final long[] barriers;

    /**
     * @param pads      every rank's pad as this process maps it, in rank order
     * @param lostRanks tells which ranks' processes have ended
     * @param where     the tensor and rank in words, for errors
     */
    HostSignalPad(SignalPadLayout layout, int rank, MemorySegment[] pads, Supplier<Set<Integer>> lostRanks, String where) {
        this.layout = layout;
        this.rank = rank;
        this.pads = pads;
        this.own = pads[rank];
        this.lostRanks = lostRanks;
        this.where = where;
        // With more ranks than processors the peer may need this one's processor to get on.
        this.spinNanos = layout.worldSize() <= Runtime.getRuntime().availableProcessors() ? SPIN_NANOS : SPIN_NANOS / 100;
        this.sent = new long[layout.channels() * layout.worldSize()];
        this.received = new long[layout.channels() * layout.worldSize()];
        this.barriers = new long[layout.channels()];
    }

    @Override
    public void signal(int peer, int channel) {
        long count = ++sent[channel * layout.worldSize() + peer];
        publish(pads[peer], layout.signalsOffset(channel, rank), count);
    }

    @Override
    public boolean await(int source, int channel, long timeoutNanos) {
        int index = channel * layout.worldSize() + source;
        long expected = received[index] + 1;
        long offset = layout.signalsOffset(channel, source);
        if (!isThere(offset, expected) && !reached(offset, expected, source, NO_BARRIER, System.nanoTime(), timeoutNanos)) {
            return false;
        }
        received[index] = expected;
        return true;
    }

    /**
     * A dissemination barrier: in round k a rank tells the one 2<sup>k</sup> after it and hears from the one 2<sup>k</sup>
     * before it, so that after log2(world size) rounds each has heard of all. Telling again in a repeated call does no harm, for
     * what is told is the number of the barrier.
     */
    @Override
    public int[] barrier(int channel, long timeoutNanos) {
        long number = barriers[channel] + 1;
        int worldSize = layout.worldSize();
        long start = NOT_LOOKED;
        LONG.setRelease(own, layout.arrivalsOffset(channel, rank), number);
        for (int distance = 1; distance < worldSize; distance *= 2) {
            publish(pads[(rank + distance) % worldSize], layout.arrivalsOffset(channel, rank), number);
            int before = (rank - distance + worldSize) % worldSize;
            long offset = layout.arrivalsOffset(channel, before);
            if (isThere(offset, number)) {
                continue;
            }
            // The clock costs as much as the rest of a barrier of ranks that are on time.
            start = start == NOT_LOOKED ? System.nanoTime() : start;
            if (!reached(offset, number, before, channel, start, timeoutNanos)) {
                return missing(channel, number, before);
            }
        }
        barriers[channel] = number;
        return NONE_MISSING;
    }

    private int[] missing(int channel, long number, int awaited) {
        int[] late = IntStream.range(0, layout.worldSize()).filter(r -> !hasArrived(r, channel, number)).toArray();
        return late.length > 0 ? late : new int[]{awaited};
    }

    private boolean hasArrived(int r, int channel, long number) {
        return (long) LONG.getAcquire(pads[r], layout.arrivalsOffset(channel, r)) >= number;
    }

    private static void publish(MemorySegment pad, long offset, long count) {
        LONG.setRelease(pad, offset, count);
        // The count must be out before the sleeping word is read: a sleeper writes that word first and reads the count after.
        VarHandle.fullFence();
        long sleeping = offset + SignalPadLayout.SIGNALS_SLEEPING_IN_SLOT - SignalPadLayout.SIGNALS_IN_SLOT;
        if ((int) INT.get(pad, sleeping) != 0) {
            LibC.futexWake(pad.asSlice(offset, Integer.BYTES));
        }
    }

    /** Spins for about as long as a peer that is on time takes. */
    private boolean isThere(long offset, long expected) {
        for (int i = 0; i < LOADS_A_LOOK; i++) {
            if ((long) LONG.getAcquire(own, offset) >= expected) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    /**
     * @param barrierChannel the channel of the barrier that waits, or {@link #NO_BARRIER}
     * @return whether the count at the offset came to what is expected before the timeout
     */
    private boolean reached(long offset, long expected, int source, int barrierChannel, long start, long timeoutNanos) {
        while (true) {
            if (isThere(offset, expected)) {
                return true;
            }
            long waited = System.nanoTime() - start;
            if (waited >= timeoutNanos) {
                return false;
            }
            if (waited >= YIELD_NANOS) {
                Thread.yield();
            }
            if (waited >= spinNanos) {
                return reachedAsleep(offset, expected, source, barrierChannel, start, timeoutNanos);
            }
        }
    }

    private boolean reachedAsleep(long offset, long expected, int source, int barrierChannel, long start, long timeoutNanos) {
        long sleeping = offset + SignalPadLayout.SIGNALS_SLEEPING_IN_SLOT - SignalPadLayout.SIGNALS_IN_SLOT;
        INT.setVolatile(own, sleeping, 1);
        try {
            while (true) {
                long count = (long) LONG.getAcquire(own, offset);
                if (count >= expected) {
                    return true;
                }
                long left = timeoutNanos - (System.nanoTime() - start);
                if (left <= 0) {
                    return false;
                }
                // All of them: a rank may have left only because another had died, and that one is the cause.
                List<Integer> lost = lostRanks.get()
                        .stream()
                        .filter(r -> barrierChannel == NO_BARRIER ? r == source : !hasArrived(r, barrierChannel, expected))
                        .sorted()
                        .toList();
                // The one that is waited for may have signalled just before it ended.
                if (!lost.isEmpty() && (long) LONG.getAcquire(own, offset) < expected) {
                    throw new RankLostException(lost.getFirst(), where + ": "
                            + (lost.size() == 1 ? "rank " + lost.getFirst() + " has" : "ranks " + lost + " have")
                            + " ended, or closed symmetric memory, while this rank waited; see the output of each");
                }
                LibC.futexWait(own.asSlice(offset, Integer.BYTES), (int) count, Math.min(left, SLEEP_NANOS));
            }
        } finally {
            INT.setVolatile(own, sleeping, 0);
        }
    }

    @Override
    public void signal(int peer, int channel, StreamQueue stream) {
        ((HostStream) stream).enqueue(() -> signal(peer, channel));
    }

    @Override
    public void await(int source, int channel, StreamQueue stream, long timeoutNanos) {
        ((HostStream) stream).enqueue(() -> {
            if (!await(source, channel, timeoutNanos)) {
                throw late("no signal from rank " + source + " on channel " + channel, timeoutNanos, source);
            }
        });
    }

    @Override
    public void barrier(int channel, StreamQueue stream, long timeoutNanos) {
        ((HostStream) stream).enqueue(() -> {
            int[] missing = barrier(channel, timeoutNanos);
            if (missing.length > 0) {
                throw late("ranks did not come to the barrier on channel " + channel, timeoutNanos, missing);
            }
        });
    }

    private DeadlineException late(String what, long timeoutNanos, int... ranks) {
        return new DeadlineException(ErrorCode.SIGNAL_TIMEOUT,
                where + ": " + what + " within " + timeoutNanos / 1_000_000 + " ms on a stream", IntStream.of(ranks).boxed().toList());
    }
}
