package org.symmem.tck.mutant;

import java.time.Duration;
import java.util.List;
import org.symmem.ProcessGroup;

/** A group that meets otherwise than the one it stands for. */
abstract class OtherMeeting implements ProcessGroup {
    final ProcessGroup right;

    OtherMeeting(ProcessGroup right) {
        this.right = right;
    }

    @Override
    public abstract List<byte[]> allGather(String step, byte[] contribution, Duration timeout);

    @Override
    public String name() {
        return right.name();
    }

    @Override
    public int rank() {
        return right.rank();
    }

    @Override
    public int worldSize() {
        return right.worldSize();
    }

    @Override
    public int localRank() {
        return right.localRank();
    }

    @Override
    public Duration timeout() {
        return right.timeout();
    }

    @Override
    public ProcessGroup subgroup(int... ranks) {
        return right.subgroup(ranks);
    }

    @Override
    public boolean isPartOfAnother() {
        return right.isPartOfAnother();
    }

    @Override
    public void close() {
        right.close();
    }
}
