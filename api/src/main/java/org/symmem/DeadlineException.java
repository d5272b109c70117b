package org.symmem;

import java.util.List;

/** A wait passed its deadline. The message and {@link #missingRanks()} name the ranks that did not come. */
public final class DeadlineException extends SymmetricMemoryException {
    private final List<Integer> missingRanks;

    /**
     * @param code         {@link ErrorCode#RANK_MISSING} or {@link ErrorCode#SIGNAL_TIMEOUT}
     * @param message      what was awaited, for how long, where, and what to do
     * @param missingRanks the ranks that did not come, in order
     */
    public DeadlineException(ErrorCode code, String message, List<Integer> missingRanks) {
        super(code, message);
        this.missingRanks = List.copyOf(missingRanks);
    }

    /** {@return the ranks that did not come, in order} */
    public List<Integer> missingRanks() {
        return missingRanks;
    }
}
