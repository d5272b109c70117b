package org.symmem.rendezvous;

import java.time.Duration;
import java.util.List;
import org.symmem.ProcessGroup;

/** A group that meets by an engine's all-gather. */
final class GatheringProcessGroup implements ProcessGroup {
    private final AllGather gather;
    private final String name;
    private final int rank;
    private final int worldSize;
    private final int localRank;
    private final Duration timeout;
    private boolean closed;

    GatheringProcessGroup(AllGather gather, String name, int rank, int worldSize, int localRank, Duration timeout) {
        StoreProcessGroup.checkRank(name, rank, worldSize);
        this.gather = gather;
        this.name = name;
        this.rank = rank;
        this.worldSize = worldSize;
        this.localRank = localRank;
        this.timeout = timeout;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int worldSize() {
        return worldSize;
    }

    @Override
    public int localRank() {
        return localRank;
    }

    @Override
    public Duration timeout() {
        return timeout;
    }

    @Override
    public List<byte[]> allGather(String step, byte[] contribution, Duration stepTimeout) {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
        List<Contribution> all = gather.gather(new Contribution(step, worldSize, contribution).toBytes(), stepTimeout)
                .stream()
                .map(Contribution::from)
                .toList();
        Contribution.compareWorldSizes(name, rank, worldSize, all);
        return Contribution.ofOneStep(name, all);
    }

    @Override
    public ProcessGroup subgroup(int... ranks) {
        throw new UnsupportedOperationException(this
                + " meets by its engine's all-gather, which takes all ranks: make groups of some ranks over a store (ProcessGroup.of)");
    }

    @Override
    public void close() {
        closed = true;
    }

    @Override
    public String toString() {
        return "ProcessGroup[" + name + ", rank " + rank + "/" + worldSize + "]";
    }
}
