package org.symmem.rendezvous;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
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
import org.symmem.spi.HostIdentity;

/**
 * A group that meets in a store. Each all-gather uses keys of its own, {@code name/sequence/rank}; a rank removes its key of one
 * all-gather after the next, when every rank is known to have read it, so the store does not grow.
 *
 * <p>An all-gather costs a rank one {@link KeyValueStore#exchange}, which is two round trips to a {@link TcpStore} for up to 1,024
 * ranks, and two more for each further 1,024. The first of a group costs up to seven more, for the {@link RollCall}. A rank that
 * gives up withdraws what it contributed, so that one that comes later fails too instead of going on alone.
 */
final class StoreProcessGroup implements ProcessGroup {
    /** How long the first all-gather waits before it looks at the roll call; then twice as long each time, up to the other. */
    private static final Duration FIRST_LOOK = Duration.ofMillis(500);
    private static final Duration LAST_LOOK = Duration.ofSeconds(4);

    private final String name;
    private final int rank;
    private final int worldSize;
    private final int localRank;
    private final Duration timeout;
    private final KeyValueStore store;
    private final Runnable leave;
    private final boolean partOfAnother;
    /** Empty for a group that was made of another, whose ranks are known to agree. */
    private final Optional<RollCall> rollCall;
    private final Map<String, Integer> subgroups = new HashMap<>();
    private long sequence;
    private boolean closed;

    private StoreProcessGroup(String name, int rank, int worldSize, int localRank, Duration timeout, KeyValueStore store,
            Optional<RollCall> rollCall, Runnable leave, boolean partOfAnother) {
        this.partOfAnother = partOfAnother;
        this.name = name;
        this.rank = rank;
        this.worldSize = worldSize;
        this.localRank = localRank;
        this.timeout = timeout;
        this.store = store;
        this.rollCall = rollCall;
        this.leave = leave;
    }

    /** @param leave what closing does */
    static StoreProcessGroup of(String name, int rank, int worldSize, int localRank, Duration timeout, KeyValueStore store,
            Runnable leave) {
        checkRank(name, rank, worldSize);
        return new StoreProcessGroup(name, rank, worldSize, localRank, timeout, store,
                Optional.of(new RollCall(store, name, rank, worldSize)), leave, false);
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
        List<Contribution> all = now == 0 && rollCall.isPresent()
                ? exchangeFirst(rollCall.get(), new Contribution(step, worldSize, contribution), stepTimeout)
                : exchange(now, new Contribution(step, worldSize, contribution), stepTimeout);
        Contribution.compareWorldSizes(name, rank, worldSize, all);
        return Contribution.ofOneStep(name, all);
    }

    /** A rank that counts more ranks than there are would wait for one that never comes, so the first wait is not one wait. */
    private List<Contribution> exchangeFirst(RollCall roll, Contribution own, Duration stepTimeout) {
        roll.answer();
        long start = System.nanoTime();
        for (Duration wait = FIRST_LOOK; wait.compareTo(stepTimeout.minus(since(start))) < 0; wait = longer(wait)) {
            Optional<List<Contribution>> all = tryExchange(0, own, wait);
            roll.look();
            if (all.isPresent()) {
                return all.get();
            }
        }
        try {
            List<Contribution> all = exchange(0, own, stepTimeout, start);
            roll.look();
            return all;
        } catch (DeadlineException e) {
            // A mistake explains better than its consequence why ranks are missing.
            roll.look();
            throw e;
        }
    }

    private static Duration longer(Duration wait) {
        Duration twice = wait.multipliedBy(2);
        return twice.compareTo(LAST_LOOK) < 0 ? twice : LAST_LOOK;
    }

    private List<Contribution> exchange(long now, Contribution own, Duration stepTimeout) {
        return exchange(now, own, stepTimeout, System.nanoTime());
    }

    /** @param start when the step began, in nanoseconds */
    private List<Contribution> exchange(long now, Contribution own, Duration stepTimeout, long start) {
        Duration left = stepTimeout.minus(since(start));
        Optional<List<Contribution>> all = tryExchange(now, own, left.isNegative() ? Duration.ZERO : left);
        if (all.isPresent()) {
            return all.get();
        }
        List<Optional<byte[]>> came = keys(now).stream().map(store::get).toList();
        List<Integer> missing = IntStream.range(0, worldSize).filter(r -> came.get(r).isEmpty()).boxed().toList();
        if (missing.isEmpty()) {
            // The last one came between the end of the wait and this look.
            return came.stream().map(value -> Contribution.from(value.orElseThrow())).toList();
        }
        store.set(key(now, rank), own.withdrawn(missing).toBytes());
        throw missing(own.step(), missing, since(start), stepTimeout);
    }

    private Optional<List<Contribution>> tryExchange(long now, Contribution own, Duration wait) {
        Optional<String> outworn = now == 0 ? Optional.empty() : Optional.of(key(now - 1, rank));
        return store.exchange(key(now, rank), own.toBytes(), keys(now), outworn, wait)
                .map(values -> values.stream().map(Contribution::from).toList());
    }

    private static Duration since(long start) {
        return Duration.ofNanos(System.nanoTime() - start);
    }

    private DeadlineException missing(String step, List<Integer> missing, Duration waited, Duration allowed) {
        return new DeadlineException(ErrorCode.RANK_MISSING,
                step + ": ranks " + missing + " did not come within " + allowed.toMillis() + " ms (" + waited.toMillis()
                        + " ms have passed); this is rank " + rank + "/" + worldSize + " on host " + HostIdentity.local().name()
                        + ", group " + name + ", which meets in " + store
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
        return new StoreProcessGroup(name + "/" + members + "#" + count, own, ranks.length, localRank, timeout, store, Optional.empty(),
                () -> {}, partOfAnother || ranks.length < worldSize);
    }

    @Override
    public boolean isPartOfAnother() {
        return partOfAnother;
    }

    private List<String> keys(long at) {
        return IntStream.range(0, worldSize).mapToObj(r -> key(at, r)).toList();
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
