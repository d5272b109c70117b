package org.symmem;

/** A rank's process has ended while this one waited for it or needed it. */
public final class RankLostException extends SymmetricMemoryException {
    private final int rank;

    /**
     * @param rank    the rank that has ended
     * @param message what was awaited of it, where, and what to do
     */
    public RankLostException(int rank, String message) {
        super(ErrorCode.RANK_LOST, message);
        this.rank = rank;
    }

    /** {@return the rank that has ended} */
    public int rank() {
        return rank;
    }
}
