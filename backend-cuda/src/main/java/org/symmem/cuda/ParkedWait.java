package org.symmem.cuda;

import java.util.List;
import java.util.Optional;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/**
 * A wait that a stream may be parked on.
 *
 * @param pad           the words that it waits for
 * @param channel       the channel, which is broken when the wait is released
 * @param offsets       where the words are in the pad, in bytes
 * @param ranks         who should store them
 * @param expected      what each should at least be
 * @param what          it in words
 * @param startNanos    when it began
 * @param timeoutNanos  how long it may take
 */
record ParkedWait(CudaSignalPad pad, int channel, long[] offsets, int[] ranks, long[] expected, String what, long startNanos,
        long timeoutNanos)
        implements
            StreamWait {
    @Override
    public boolean deadlineHasPassed() {
        return System.nanoTime() - startNanos >= timeoutNanos;
    }

    /** {@return whether all words have come to what was expected} */
    @Override
    public boolean isOver() {
        return missing().isEmpty();
    }

    private List<Integer> missing() {
        List<Integer> missing = new java.util.ArrayList<>();
        for (int i = 0; i < offsets.length; i++) {
            if (pad.ownWord(offsets[i]) < expected[i]) {
                missing.add(ranks[i]);
            }
        }
        return missing;
    }

    /** Stores what was awaited, so that the stream and its context go on. {@return the error, if the wait was not over} */
    @Override
    public Optional<SymmetricMemoryException> releaseIfParked() {
        List<Integer> missing = missing();
        if (missing.isEmpty()) {
            return Optional.empty();
        }
        pad.release(channel, offsets, expected);
        return Optional.of(new DeadlineException(ErrorCode.SIGNAL_TIMEOUT,
                pad.where() + ": " + what + " within " + timeoutNanos / 1_000_000 + " ms on a stream; ranks " + missing
                        + " are late. The stream was released, and channel " + channel + " of the tensor is broken",
                missing));
    }
}
