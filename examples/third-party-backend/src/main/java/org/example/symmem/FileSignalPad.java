package org.example.symmem;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;

/** Counts in shared memory: written with release, read with acquire, looked at again and again until the deadline. */
final class FileSignalPad implements SignalPad {
    private static final VarHandle COUNT = ValueLayout.JAVA_LONG.varHandle();
    private static final int SPINS = 2_000;
    private static final long NAP_NANOS = 50_000;

    private final SignalPadLayout layout;
    private final int rank;
    private final MemorySegment[] pads;
    private final long[] sent;
    private final long[] received;
    private final long[] barriers;

    FileSignalPad(SignalPadLayout layout, int rank, MemorySegment[] pads) {
        this.layout = layout;
        this.rank = rank;
        this.pads = pads;
        this.sent = new long[layout.channels() * layout.worldSize()];
        this.received = new long[layout.channels() * layout.worldSize()];
        this.barriers = new long[layout.channels()];
    }

    @Override
    public void signal(int peer, int channel) {
        COUNT.setRelease(pads[peer], layout.signalsOffset(channel, rank), ++sent[channel * layout.worldSize() + peer]);
    }

    @Override
    public boolean await(int source, int channel, long timeoutNanos) {
        int index = channel * layout.worldSize() + source;
        if (!reached(layout.signalsOffset(channel, source), received[index] + 1, System.nanoTime(), timeoutNanos)) {
            return false;
        }
        received[index]++;
        return true;
    }

    @Override
    public int[] barrier(int channel, long timeoutNanos) {
        // Counted only when all have come, so that a call after a timeout is the same barrier.
        long number = barriers[channel] + 1;
        long start = System.nanoTime();
        for (MemorySegment pad : pads) {
            COUNT.setRelease(pad, layout.arrivalsOffset(channel, rank), number);
        }
        int[] missing = IntStream.range(0, layout.worldSize())
                .filter(peer -> !reached(layout.arrivalsOffset(channel, peer), number, start, timeoutNanos))
                .toArray();
        if (missing.length == 0) {
            barriers[channel] = number;
        }
        return missing;
    }

    private boolean reached(long offset, long count, long start, long timeoutNanos) {
        for (int looks = 0; (long) COUNT.getAcquire(pads[rank], offset) < count; looks++) {
            if (looks < SPINS) {
                Thread.onSpinWait();
            } else if (System.nanoTime() - start >= timeoutNanos) {
                return false;
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
        return true;
    }
}
