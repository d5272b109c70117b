package org.symmem;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A collective step failed on one rank or more. Every rank of the group gets this error with the same failures; on a rank
 * that failed itself, its own error is the cause.
 */
public final class CollectiveFailedException extends SymmetricMemoryException {
    private final List<RankFailure> failures;

    /**
     * @param code     what kind of error it is for the group
     * @param what     the operation, for instance {@code rendezvous of SymmetricTensor[…]}
     * @param failures the failed ranks, in rank order; not empty
     * @param cause    this rank's own error, or null if it was another rank that failed
     */
    public CollectiveFailedException(ErrorCode code, String what, List<RankFailure> failures, @Nullable Throwable cause) {
        super(
                code,
                what + " failed on all ranks because of "
                        + failures.stream().map(RankFailure::toString).collect(Collectors.joining("; ")),
                cause);
        this.failures = List.copyOf(failures);
    }

    /** {@return the ranks that failed and why, in rank order} */
    public List<RankFailure> failures() {
        return failures;
    }
}
