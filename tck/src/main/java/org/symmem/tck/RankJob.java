package org.symmem.tck;

import java.util.Set;

/**
 * The kit's ranks for tests of a backend's own: what only that backend can be asked, for instance with native calls that fail on
 * demand. Bodies are sent to the ranks' processes as rules are, and leave nothing behind either.
 */
public final class RankJob implements AutoCloseable {
    private final RankProcesses ranks;

    /** @param settings backend, ranks, variables; the ranks start with the first body */
    public RankJob(TckSettings settings) {
        ranks = new RankProcesses(settings);
    }

    /**
     * Runs a body on all ranks; every one must come to its end.
     *
     * @param name says in files of output which test it was
     * @param body what every rank does
     * @throws AssertionError if a rank says so, dies or hangs, or if the backend is not available
     */
    public void run(String name, RankBody body) {
        try {
            ranks.run(name, body, Set.of());
        } catch (RankProcesses.BackendUnavailable e) {
            throw new AssertionError("the backend is unavailable: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        ranks.close();
    }
}
