package org.symmem.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.RanksDisagreeException;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.UnsupportedCapabilityException;
import org.symmem.collectives.Algorithm;
import org.symmem.collectives.Collective;
import org.symmem.collectives.Collectives;

/**
 * Group I: collectives. They are written once, against the users' interface, so what breaks them is the backend: its copies, signals
 * and waits in the order of a stream, used together.
 */
interface CollectiveRules extends Rules {
    /** None is a multiple of what a device moves at once but the last, which is large enough for multicast. */
    List<Integer> SIZES = List.of(1, 4099, 65_552);

    private static SymmetricTensor bytes(RankContext rank, long... extents) {
        return rank.opened(rank.memory().allocate(Shape.of(extents), DataType.UINT8));
    }

    private static List<Algorithm> algorithms(RankContext rank) {
        List<Algorithm> algorithms = new ArrayList<>(List.of(Algorithm.STAGED, Algorithm.WRITE, Algorithm.READ));
        if (rank.memory().capability(Capability.MULTICAST).supported()) {
            algorithms.add(Algorithm.MULTICAST);
        }
        return algorithms;
    }

    private static @Nullable TensorView ofRoot(RankContext rank, int root, TensorView source) {
        return rank.rank() == root ? source : null;
    }

    /** If this fails, check the copies on streams: sizes that are no multiple of a word, and peers' memory as their target and source. */
    @Rule(value = "SM-COLL-1", needs = Capability.STREAM_SIGNALS)
    default void SM_COLL_1_aBroadcastBringsTheRootsBytesToAllAndChangesNothingElse() {
        ranks().run(rank -> {
            for (Algorithm algorithm : algorithms(rank)) {
                for (int size : SIZES) {
                    SymmetricTensor before = bytes(rank, size);
                    SymmetricTensor target = bytes(rank, size);
                    SymmetricTensor source = bytes(rank, size);
                    rank.write(before.local(), rank.values(rank.rank(), 0, size, -1));
                    try (Collectives collectives = Collectives.of(rank.memory(), algorithm); Stream stream = rank.memory().newStream()) {
                        for (int root = 0; root < rank.worldSize(); root++) {
                            rank.write(source.local(), rank.values(rank.rank(), 0, size, root));
                            collectives.broadcast(target, root).run(ofRoot(rank, root, source.local()), stream, RankContext.SOON);
                            stream.synchronize(RankContext.SOON);
                            rank.checkHolds(target.local(), root, 0, root, "what rank " + root + " broadcast by " + algorithm);
                            rank.checkHolds(source.local(), rank.rank(), 0, root, "the source of a broadcast by " + algorithm);
                        }
                    }
                    rank.checkHolds(before.local(), rank.rank(), 0, -1, "a tensor beside the target of a broadcast by " + algorithm);
                }
            }
        });
    }

    /** If this fails, check copies on streams that begin at odd places of a peer's buffer. */
    @Rule(value = "SM-COLL-2", needs = Capability.STREAM_SIGNALS)
    default void SM_COLL_2_anAllgatherBringsEveryRanksBytesToAll() {
        ranks().run(rank -> {
            for (Algorithm algorithm : algorithms(rank)) {
                for (int size : SIZES) {
                    SymmetricTensor target = bytes(rank, rank.worldSize(), size);
                    SymmetricTensor source = bytes(rank, size);
                    try (Collectives collectives = Collectives.of(rank.memory(), algorithm); Stream stream = rank.memory().newStream()) {
                        Collective gather = collectives.allGather(target);
                        for (int round = 0; round < 3; round++) {
                            rank.write(source.local(), rank.values(rank.rank(), 0, size, round));
                            gather.run(source.local(), stream, RankContext.SOON);
                            stream.synchronize(RankContext.SOON);
                            checkGathered(rank, target, round, "by " + algorithm);
                        }
                    }
                }
            }
        });
    }

    private static void checkGathered(RankContext rank, SymmetricTensor target, int round, String how) {
        for (int peer = 0; peer < rank.worldSize(); peer++) {
            rank.checkHolds(target.local().select(peer), peer, 0, round, "what rank " + peer + " gave to an allgather " + how);
        }
    }

    /** If this fails, a signal or a wait on a stream was lost or counted twice. */
    @Rule(value = "SM-COLL-3", needs = Capability.STREAM_SIGNALS, stochastic = true)
    default void SM_COLL_3_oneCollectiveRunsBackToBackWithoutLosingAToken() {
        int rounds = TckSettings.fullLoad() ? 1000 : 100;
        ranks().note(rounds + " rounds" + (TckSettings.fullLoad() ? "" : " (1000 with " + TckSettings.LOAD + "=full)"));
        ranks().run(rank -> {
            SymmetricTensor sources = bytes(rank, rounds, 24);
            SymmetricTensor history = bytes(rank, rounds, rank.worldSize(), 24);
            SymmetricTensor target = bytes(rank, rank.worldSize(), 24);
            for (int round = 0; round < rounds; round++) {
                rank.write(sources.local().select(round), rank.values(rank.rank(), 0, 24, round));
            }
            for (Algorithm algorithm : algorithms(rank)) {
                history.local().fill(0);
                try (Collectives collectives = Collectives.of(rank.memory(), algorithm); Stream stream = rank.memory().newStream()) {
                    Collective gather = collectives.allGather(target);
                    for (int round = 0; round < rounds; round++) {
                        gather.run(sources.local().select(round), stream, RankContext.SOON);
                        history.local().select(round).copyFrom(target.local(), stream);
                    }
                    rank.checkDone(stream, "a stream with " + rounds + " allgathers back to back by " + algorithm);
                    for (int round = 0; round < rounds; round++) {
                        for (int peer = 0; peer < rank.worldSize(); peer++) {
                            rank.checkHolds(history.local().select(round).select(peer), peer, 0, round,
                                    "an allgather back to back by " + algorithm);
                        }
                    }
                }
            }
        });
    }

    /** If this fails, signals of one tensor are taken for another's. */
    @Rule(value = "SM-COLL-4", needs = Capability.STREAM_SIGNALS)
    default void SM_COLL_4_twoCollectivesCanBeInterleaved() {
        ranks().run(rank -> {
            for (Algorithm algorithm : algorithms(rank)) {
                SymmetricTensor[] targets = {bytes(rank, rank.worldSize(), 40), bytes(rank, rank.worldSize(), 40)};
                SymmetricTensor[] sources = {bytes(rank, 40), bytes(rank, 40)};
                try (Collectives collectives = Collectives.of(rank.memory(), algorithm); Stream stream = rank.memory().newStream()) {
                    Collective first = collectives.allGather(targets[0]);
                    Collective second = collectives.allGather(targets[1]);
                    for (int i = 0; i < 2; i++) {
                        rank.write(sources[i].local(), rank.values(rank.rank(), 0, 40, i));
                    }
                    first.post(sources[0].local(), stream);
                    if (rank.rank() == rank.worldSize() - 1) {
                        Thread.sleep(150);
                    }
                    second.post(sources[1].local(), stream);
                    second.await(stream, RankContext.SOON);
                    first.await(stream, RankContext.SOON);
                    stream.synchronize(RankContext.SOON);
                    checkGathered(rank, targets[0], 0, "by " + algorithm + " with another between");
                    checkGathered(rank, targets[1], 1, "by " + algorithm + " between another's halves");
                }
            }
        });
    }

    /** If this fails, a wait on a stream ends before its signal has come. */
    @Rule(value = "SM-COLL-5", needs = Capability.STREAM_SIGNALS, ranks = 2)
    default void SM_COLL_5_aCollectiveWaitsForARankThatIsLate() {
        ranks().run(rank -> {
            for (Algorithm algorithm : algorithms(rank)) {
                SymmetricTensor target = bytes(rank, rank.worldSize(), 100);
                SymmetricTensor source = bytes(rank, 100);
                rank.write(source.local(), rank.values(rank.rank(), 0, 100, 0));
                try (Collectives collectives = Collectives.of(rank.memory(), algorithm); Stream stream = rank.memory().newStream()) {
                    Collective gather = collectives.allGather(target);
                    if (rank.rank() == rank.worldSize() - 1) {
                        Thread.sleep(500);
                    }
                    gather.run(source.local(), stream, RankContext.SOON);
                    stream.synchronize(RankContext.SOON);
                    checkGathered(rank, target, 0, "by " + algorithm + " with a rank half a second late");
                }
            }
        });
    }

    /** If this fails, check that ranks agree before a collective is made, and that nothing of the failed one stays. */
    @Rule(value = "SM-COLL-6", needs = Capability.STREAM_SIGNALS, ranks = 2)
    default void SM_COLL_6_ranksThatDisagreeOnACollectiveAllGetAnError() {
        ranks().run(rank -> {
            SymmetricTensor target = bytes(rank, 64);
            try (Collectives collectives = Collectives.of(rank.memory())) {
                rank.checkThrows(RanksDisagreeException.class, () -> collectives.broadcast(target, rank.rank() == 0 ? 0 : 1),
                        "root: 0 on rank 0, 1 on rank");
                rank.checkThrows(IndexOutOfBoundsException.class, () -> collectives.broadcast(target, rank.worldSize()),
                        "root " + rank.worldSize() + " is not in");
                rank.write(target.local(), rank.values(rank.rank(), 0, 64, 0));
                collectives.broadcast(target, 1).run(target.local(), RankContext.SOON);
                rank.checkHolds(target.local(), 1, 0, 0, "a broadcast after ranks disagreed");
            }
        });
    }

    /** If this fails, a wait on a stream that passes its deadline hangs, or takes the stream's context along. */
    @Rule(value = "SM-COLL-7", needs = Capability.STREAM_SIGNALS, ranks = 2)
    default void SM_COLL_7_aCollectiveThatOneRankDoesNotRunFailsAtTheDeadline() {
        ranks().run(rank -> {
            SymmetricTensor target = bytes(rank, rank.worldSize(), 100);
            SymmetricTensor source = bytes(rank, 100);
            rank.write(source.local(), rank.values(rank.rank(), 0, 100, 0));
            try (Collectives collectives = Collectives.of(rank.memory()); Stream stream = rank.memory().newStream()) {
                Collective gather = collectives.allGather(target);
                if (rank.rank() != rank.worldSize() - 1) {
                    gather.run(source.local(), stream, Duration.ofMillis(200));
                    rank.checkThrows("a stream with a collective that a rank leaves out", SymmetricMemoryException.class,
                            () -> stream.synchronize(RankContext.SOON.dividedBy(2)),
                            "within 200 ms on a stream");
                }
                rank.meet();
            }
            try (Collectives collectives = Collectives.of(rank.memory())) {
                collectives.allGather(target).run(source.local(), RankContext.SOON);
                checkGathered(rank, target, 0, "after one that failed");
            }
        });
    }

    /** If this fails, ranks of a group are taken for ranks of the job. */
    @Rule(value = "SM-COLL-8", needs = {Capability.SUBGROUPS, Capability.STREAM_SIGNALS}, ranks = 2)
    default void SM_COLL_8_collectivesOfASubgroupUseItsRankNumbers() {
        ranks().run(rank -> {
            int[] reversed = IntStream.range(0, rank.worldSize()).map(r -> rank.worldSize() - 1 - r).toArray();
            ProcessGroup group = rank.opened(rank.memory().group().subgroup(reversed));
            SymmetricMemory memory = rank.open(group);
            SymmetricTensor target = rank.opened(memory.allocate(Shape.of(50), DataType.UINT8));
            rank.write(target.local(), rank.values(rank.rank(), 0, 50, 0));
            try (Collectives collectives = Collectives.of(memory); Stream stream = memory.newStream()) {
                collectives.broadcast(target, 0).run(target.local(), stream, RankContext.SOON);
                stream.synchronize(RankContext.SOON);
            }
            rank.checkHolds(target.local(), rank.worldSize() - 1, 0, 0, "what rank 0 of the reversed group broadcast");
        });
    }

    /** If this fails, check that the refusal is the same on all ranks. */
    @Rule(value = "SM-COLL-9", needs = Capability.STREAM_SIGNALS, absent = Capability.MULTICAST)
    default void SM_COLL_9_withoutMulticastACollectiveThatAsksForItIsRefused() {
        ranks().run(rank -> {
            SymmetricTensor target = bytes(rank, 64);
            try (Collectives collectives = Collectives.of(rank.memory(), Algorithm.MULTICAST)) {
                var error = rank.checkThrows(UnsupportedCapabilityException.class, () -> collectives.broadcast(target, 0));
                rank.checkEqual(Capability.MULTICAST, error.capability(), "the capability");
            }
            try (Collectives collectives = Collectives.of(rank.memory())) {
                rank.write(target.local(), rank.values(rank.rank(), 0, 64, 0));
                collectives.broadcast(target, 0).run(target.local(), RankContext.SOON);
                rank.checkHolds(target.local(), 0, 0, 0, "a broadcast after the refusal");
            }
        });
    }

    /** If this fails, a blocking copy, signal or wait returns before its time. */
    @Rule(value = "SM-COLL-10", needs = Capability.STREAM_SIGNALS, stochastic = true)
    default void SM_COLL_10_aBlockingRoundLeavesTheDataInTheTarget() {
        ranks().run(rank -> {
            SymmetricTensor target = bytes(rank, rank.worldSize(), 300);
            SymmetricTensor source = bytes(rank, 300);
            for (Algorithm algorithm : algorithms(rank)) {
                try (Collectives collectives = Collectives.of(rank.memory(), algorithm)) {
                    Collective gather = collectives.allGather(target);
                    for (int round = 0; round < 50; round++) {
                        rank.write(source.local(), rank.values(rank.rank(), 0, 300, round));
                        gather.run(source.local(), RankContext.SOON);
                        checkGathered(rank, target, round, "that blocked, by " + algorithm);
                    }
                }
            }
        });
    }
}
