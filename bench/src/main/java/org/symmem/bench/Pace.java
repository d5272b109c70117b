package org.symmem.bench;

import java.util.Arrays;

/**
 * Decides how many calls the next batch has: while warming up so many that a batch is long beside what the clock and the start cost,
 * then the same for every repetition. Used by rank 0, which tells the others.
 */
final class Pace {
    private static final long BATCH_NANOS = 1_000_000;
    /** Streams hold so many calls at once. */
    private static final int MOST_CALLS = 10_000;
    private static final int GROWTH = 8;
    /** What takes longer than this is repeated less often. */
    private static final long ENOUGH_NANOS = 2_000_000_000L;

    private final Schedule schedule;
    private final double[] samples;
    private int taken;
    private int calls = 1;
    private boolean warm;
    private long spentNanos;

    Pace(Schedule schedule) {
        this.schedule = schedule;
        this.samples = new double[schedule.repetitions()];
    }

    /** {@return how many calls to make; 0 if it is enough} */
    int next() {
        boolean enough = taken == samples.length || warm && taken >= Schedule.LEAST_REPETITIONS && spentNanos > ENOUGH_NANOS;
        return enough ? 0 : calls;
    }

    /** Hears how long the batch took. */
    void took(long nanos) {
        spentNanos += nanos;
        if (warm) {
            samples[taken++] = (double) nanos / calls;
            return;
        }
        boolean longEnough = nanos >= BATCH_NANOS || calls == MOST_CALLS;
        if (!longEnough) {
            long wanted = nanos == 0 ? (long) calls * GROWTH : calls * BATCH_NANOS / nanos + 1;
            calls = (int) Math.min(Math.min(wanted, (long) calls * GROWTH), MOST_CALLS);
        } else if (spentNanos >= schedule.warmUpMillis() * 1_000_000L) {
            warm = true;
            spentNanos = 0;
        }
    }

    int calls() {
        return calls;
    }

    /** {@return nanoseconds a call of each repetition} */
    double[] samples() {
        return Arrays.copyOf(samples, taken);
    }
}
