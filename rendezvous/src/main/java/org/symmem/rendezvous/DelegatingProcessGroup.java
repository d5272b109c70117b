package org.symmem.rendezvous;

import java.time.Duration;
import org.symmem.ProcessGroup;

/** The ranks of another group, meeting in another way. */
abstract class DelegatingProcessGroup implements ProcessGroup {
    private final ProcessGroup joined;

    DelegatingProcessGroup(ProcessGroup joined) {
        this.joined = joined;
    }

    @Override
    public String name() {
        return joined.name();
    }

    @Override
    public int rank() {
        return joined.rank();
    }

    @Override
    public int worldSize() {
        return joined.worldSize();
    }

    @Override
    public int localRank() {
        return joined.localRank();
    }

    @Override
    public Duration timeout() {
        return joined.timeout();
    }

    @Override
    public ProcessGroup subgroup(int... ranks) {
        return joined.subgroup(ranks);
    }

    @Override
    public boolean isPartOfAnother() {
        return joined.isPartOfAnother();
    }

    /** Nothing of its own: what it meets by is somebody else's to close. */
    @Override
    public void close() {}
}
