package org.symmem.rendezvous;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.HostIdentity;

/**
 * A group that meets in a store. Each all-gather uses keys of its own, {@code name/sequence/rank}; a rank removes its key of one
 * all-gather after the next, when every rank is known to have read it, so the store does not grow.
 *
 * <p>An all-gather costs a rank one {@link KeyValueStore#exchange}, which is two round trips to a {@link TcpStore}, however many
 * ranks there are.
 */
final class StoreProcessGroup implements ProcessGroup {
    /** How long the first all-gather waits before it looks whether those who came count the same ranks as this one. */
    private static final Duration FIRST_LOOK = Duration.ofMillis(500);

    private final String name;
    private final int rank;
    private final int worldSize;
    private final int localRank;
    private final Duration timeout;
    private final KeyValueStore store;
    private final Runnable leave;
    private final Map<String, Integer> subgroups = new HashMap<>();
    private long sequence;
    private boolean closed;

    /** @param leave what closing does */
    StoreProcessGroup(String name, int rank, int worldSize, int localRank, Duration timeout, KeyValueStore store, Runnable leave) {
        checkRank(name, rank, worldSize);
        this.name = name;
        this.rank = rank;
        this.worldSize = worldSize;
        this.localRank = localRank;
        this.timeout = timeout;
        this.store = store;
        this.leave = leave;
    }

    static void checkRank(String name, int rank, int worldSize) {
        if (worldSize < 1 || rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("rank " + rank + " is not in [0, " + worldSize + ") of group " + name);
        }
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
        ensureOpen();
        long now = sequence++;
        if (worldSize == 1) {
            return List.of(contribution.clone());
        }
        if (now == 0 && store.get(key(0, rank)).isPresent()) {
            throw new SymmetricMemoryException(ErrorCode.SETTING, "rank " + rank + " of group " + name
                    + " is already taken, by another process or by an earlier group of this name. Give every rank a number, and every group a name, of its own");
        }
        List<Contribution> all = exchange(now, new Contribution(step, worldSize, contribution), stepTimeout);
        return Contribution.ofOneStep(name, all);
    }

    private List<Contribution> exchange(long now, Contribution own, Duration stepTimeout) {
        List<String> keys = IntStream.range(0, worldSize).mapToObj(r -> key(now, r)).toList();
        Optional<String> outworn = now == 0 ? Optional.empty() : Optional.of(key(now - 1, rank));
        long start = System.nanoTime();
        // A rank that counts more ranks than there are would wait for one that never comes, so the first wait is not one wait.
        Duration wait = now == 0 && stepTimeout.compareTo(FIRST_LOOK) > 0 ? FIRST_LOOK : stepTimeout;
        while (true) {
            Optional<List<byte[]>> values = store.exchange(key(now, rank), own.toBytes(), keys, outworn, wait);
            if (values.isPresent()) {
                List<Contribution> all = values.get().stream().map(Contribution::from).toList();
                Contribution.compareWorldSizes(name, rank, worldSize, all);
                return all;
            }
            Map<Integer, Contribution> came = present(keys);
            Contribution.compareWorldSizes(name, rank, worldSize, came.values());
            Duration waited = Duration.ofNanos(System.nanoTime() - start);
            if (waited.compareTo(stepTimeout) >= 0) {
                throw missing(own.step(), came, waited);
            }
            wait = stepTimeout.minus(waited);
        }
    }

    private Map<Integer, Contribution> present(List<String> keys) {
        Map<Integer, Contribution> came = new LinkedHashMap<>();
        for (int r = 0; r < keys.size(); r++) {
            int from = r;
            store.get(keys.get(r)).ifPresent(value -> came.put(from, Contribution.from(value)));
        }
        return came;
    }

    private DeadlineException missing(String step, Map<Integer, Contribution> came, Duration waited) {
        List<Integer> missing = IntStream.range(0, worldSize).filter(r -> !came.containsKey(r)).boxed().toList();
        return new DeadlineException(ErrorCode.RANK_MISSING,
                step + ": ranks " + missing + " did not come within " + waited.toMillis() + " ms; this is rank " + rank + "/" + worldSize
                        + " on host "
                        + HostIdentity.local().name() + ", group " + name
                        + ". Check that these ranks run and reach this step, or allow more time (symmem.timeout, in seconds)",
                missing);
    }

    @Override
    public ProcessGroup subgroup(int... ranks) {
        ensureOpen();
        Set<Integer> distinct = new HashSet<>();
        int own = -1;
        for (int i = 0; i < ranks.length; i++) {
            if (ranks[i] < 0 || ranks[i] >= worldSize || !distinct.add(ranks[i])) {
                throw new IllegalArgumentException(
                        "a subgroup of " + name + " has distinct ranks in [0, " + worldSize + "), not " + Arrays.toString(ranks));
            }
            if (ranks[i] == rank) {
                own = i;
            }
        }
        if (own < 0) {
            throw new IllegalArgumentException(
                    "rank " + rank + " is not among the ranks " + Arrays.toString(ranks) + " of the subgroup that it makes");
        }
        String members = Arrays.stream(ranks).mapToObj(String::valueOf).collect(Collectors.joining(","));
        // The count is kept for each set of ranks: other ranks make other groups in between.
        int count = subgroups.merge(members, 1, Integer::sum);
        return new StoreProcessGroup(name + "/" + members + "#" + count, own, ranks.length, localRank, timeout, store, () -> {});
    }

    private String key(long at, int of) {
        return name + "/" + at + "/" + of;
    }

    private void ensureOpen() {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            leave.run();
        }
    }

    @Override
    public String toString() {
        return "ProcessGroup[" + name + ", rank " + rank + "/" + worldSize + "]";
    }
}
