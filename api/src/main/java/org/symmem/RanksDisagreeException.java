package org.symmem;

/** Ranks gave different values for something that must be equal on all; every rank gets this error. */
public final class RanksDisagreeException extends SymmetricMemoryException {
    /** @param message which value differs, with every rank's value, and what to do */
    public RanksDisagreeException(String message) {
        super(ErrorCode.RANKS_DISAGREE, message);
    }
}
