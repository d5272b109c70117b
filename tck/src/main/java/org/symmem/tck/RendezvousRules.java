package org.symmem.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.RanksDisagreeException;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.UnsupportedCapabilityException;
import org.symmem.rendezvous.InMemoryStore;

/** Group C: rendezvous. */
interface RendezvousRules extends Rules {
    private static SymmetricTensor bytes(SymmetricMemory memory, long size) {
        return memory.allocate(Shape.of(size), DataType.UINT8);
    }

    /** If this fails, check which handle is mapped for which rank. */
    @Rule("SM-RDV-1")
    default void SM_RDV_1_everyRankReadsEveryRank() {
        ranks().run(rank -> {
            try (SymmetricTensor tensor = bytes(rank.memory(), 10_000)) {
                rank.write(tensor.local(), rank.values(rank.rank(), 0, 10_000, 1));
                tensor.rendezvous();
                rank.meet();
                for (int peer = 0; peer < rank.worldSize(); peer++) {
                    rank.checkHolds(tensor.remote(peer), peer, 0, 1, "the peer's view");
                }
                rank.meet();
            }
        });
    }

    /** If this fails, check that a second rendezvous returns at once and maps nothing. */
    @Rule("SM-RDV-2")
    default void SM_RDV_2_aSecondRendezvousDoesNothingAndNeedsNobody() {
        ranks().run(rank -> {
            try (SymmetricTensor tensor = bytes(rank.memory(), 100)) {
                rank.check(!tensor.isRendezvoused(), "the tensor should not be rendezvoused yet");
                tensor.rendezvous();
                OpenResources before = OpenResources.now();
                if (rank.rank() == 0) {
                    tensor.rendezvous(Duration.ofMillis(100));
                }
                rank.checkEqual(java.util.List.of(), OpenResources.now().moreThan(before), "what a second rendezvous opened");
                rank.check(tensor.isRendezvoused(), "the tensor should be rendezvoused");
                rank.meet();
            }
        });
    }

    /** If this fails, the comparison in {@code org.symmem} is broken, or the backend waits for ranks before it. */
    @Rule(value = "SM-RDV-3", ranks = 2)
    default void SM_RDV_3_ranksWithDifferentSizesAllGetAnErrorWithBoth() {
        ranks().run(rank -> checkDisagreement(rank, Shape.of(rank.rank() == 0 ? 100 : 200), DataType.UINT8, "100", "200"));
    }

    /** If this fails, the comparison in {@code org.symmem} is broken, or the backend waits for ranks before it. */
    @Rule(value = "SM-RDV-4", ranks = 2)
    default void SM_RDV_4_ranksWithDifferentDataTypesAllGetAnErrorWithBoth() {
        ranks().run(
                rank -> checkDisagreement(rank, Shape.of(64), rank.rank() == 0 ? DataType.INT32 : DataType.FLOAT32, "int32", "float32"));
    }

    /** If this fails, the comparison in {@code org.symmem} is broken, or the backend waits for ranks before it. */
    @Rule(value = "SM-RDV-5", ranks = 2)
    default void SM_RDV_5_ranksWithDifferentShapesOfOneSizeAllGetAnErrorWithBoth() {
        ranks().run(rank -> checkDisagreement(rank, rank.rank() == 0 ? Shape.of(4, 16) : Shape.of(16, 4), DataType.INT8, "4x16", "16x4"));
    }

    private static void checkDisagreement(RankContext rank, Shape shape, DataType type, String... parts) {
        SymmetricMemory memory = rank.open(rank.freshGroup());
        rank.checkThrows("a rendezvous of " + String.join(" and ", parts), RanksDisagreeException.class, () -> {
            SymmetricTensor tensor = memory.allocate(shape, type);
            try (tensor) {
                tensor.rendezvous();
            }
        }, parts);
        // The group is still good: all ranks took the same branch.
        try (SymmetricTensor after = bytes(memory, 10)) {
            after.rendezvous();
        }
    }

    /** If this fails, the order of allocations is not compared: two tensors of one size could be taken for each other. */
    @Rule(value = "SM-RDV-6", ranks = 2, needs = Capability.LOCAL_ALLOCATION)
    default void SM_RDV_6_ranksThatRendezvousInDifferentOrderAllGetAnError() {
        ranks().run(rank -> {
            SymmetricMemory memory = rank.open(rank.freshGroup());
            try (SymmetricTensor first = bytes(memory, 64); SymmetricTensor second = bytes(memory, 64)) {
                rank.checkThrows("a rendezvous of different allocations", RanksDisagreeException.class,
                        () -> (rank.rank() == 0 ? first : second).rendezvous(), "allocation 0",
                        "allocation 1");
            }
        });
    }

    /** If this fails, look for state of the process where it should be of the group: sequence numbers, names, sockets. */
    @Rule(value = "SM-RDV-7", ranks = 2, needs = Capability.SUBGROUPS)
    default void SM_RDV_7_aSubgroupAndThenAllRanksRendezvous() {
        ranks().run(rank -> {
            ProcessGroup all = rank.freshGroup();
            if (rank.rank() < rank.worldSize() - 1) {
                ProcessGroup some = rank.opened(all.subgroup(IntStream.range(0, rank.worldSize() - 1).toArray()));
                checkShares(rank, rank.open(some), 7);
            }
            checkShares(rank, rank.open(all), 8);
        });
    }

    /** If this fails, look for names or numbers that two groups share. */
    @Rule(value = "SM-RDV-8", ranks = 2, needs = Capability.SUBGROUPS)
    default void SM_RDV_8_overlappingGroupsStayApart() {
        ranks().run(rank -> {
            ProcessGroup all = rank.freshGroup();
            int[] forward = IntStream.range(0, rank.worldSize()).toArray();
            int[] backward = IntStream.range(0, rank.worldSize()).map(r -> rank.worldSize() - 1 - r).toArray();
            SymmetricMemory one = rank.open(rank.opened(all.subgroup(forward)));
            SymmetricMemory other = rank.open(rank.opened(all.subgroup(backward)));
            rank.checkEqual(rank.worldSize() - 1 - rank.rank(), other.group().rank(), "the rank in the group of reversed order");
            try (SymmetricTensor a = bytes(one, 500); SymmetricTensor b = bytes(other, 500)) {
                rank.write(a.local(), rank.values(one.group().rank(), 0, 500, 1));
                rank.write(b.local(), rank.values(other.group().rank(), 0, 500, 2));
                a.rendezvous();
                b.rendezvous();
                rank.meet();
                for (int peer = 0; peer < rank.worldSize(); peer++) {
                    rank.checkHolds(a.remote(peer), peer, 0, 1, "the first group's tensor");
                    rank.checkHolds(b.remote(peer), peer, 0, 2, "the second group's tensor");
                }
                rank.meet();
            }
        });
    }

    /** If this fails, look for something of the first group that its closing left behind under its name. */
    @Rule(value = "SM-RDV-9", needs = Capability.SUBGROUPS)
    default void SM_RDV_9_aGroupOfTheSameRanksCanBeMadeAgain() {
        ranks().run(rank -> {
            ProcessGroup all = rank.freshGroup();
            for (int round = 0; round < 3; round++) {
                try (ProcessGroup again = all.subgroup(IntStream.range(0, rank.worldSize()).toArray());
                        SymmetricMemory memory = SymmetricMemory.open(again, rank.options())) {
                    checkShares(rank, memory, round);
                }
            }
        });
    }

    private static void checkShares(RankContext rank, SymmetricMemory memory, int round) {
        ProcessGroup group = memory.group();
        try (SymmetricTensor tensor = bytes(memory, 300)) {
            rank.write(tensor.local(), rank.values(group.rank(), 0, 300, round));
            tensor.rendezvous();
            rank.meet(group);
            for (int peer = 0; peer < group.worldSize(); peer++) {
                rank.checkHolds(tensor.remote(peer), peer, 0, round, "the tensor of group " + group.name());
            }
            rank.meet(group);
        }
    }

    /** If this fails, look for a wait inside the backend that is shorter than the group's timeout. */
    @Rule(value = "SM-RDV-10", ranks = 2)
    default void SM_RDV_10_aLateRankIsWaitedFor() {
        ranks().run(rank -> {
            SymmetricMemory memory = rank.open(rank.freshGroup());
            if (rank.rank() == 0) {
                Thread.sleep(1000);
            }
            checkShares(rank, memory, 10);
        });
    }

    /** If this fails, look for a wait without a deadline, or an error that does not say who is missing. */
    @Rule(value = "SM-RDV-11", ranks = 2, needs = Capability.LOCAL_ALLOCATION)
    default void SM_RDV_11_aMissingRankIsNamedAtTheDeadline() {
        ranks().run(rank -> {
            SymmetricMemory memory = rank.open(rank.freshGroup());
            try (SymmetricTensor tensor = bytes(memory, 64)) {
                int absent = rank.worldSize() - 1;
                if (rank.rank() != absent) {
                    long start = System.nanoTime();
                    var error = rank.checkThrows("a rendezvous that rank " + absent + " stays away from", DeadlineException.class,
                            () -> tensor.rendezvous(Duration.ofMillis(400)),
                            "[" + absent + "]");
                    long waitedMillis = (System.nanoTime() - start) / 1_000_000;
                    rank.checkEqual(java.util.List.of(absent), error.missingRanks(), "the missing ranks");
                    rank.check(waitedMillis >= 400 && waitedMillis < 400 + RankContext.SOON.toMillis() / 2,
                            "the deadline of 400 ms was kept in " + waitedMillis + " ms");
                    rank.check(!tensor.isRendezvoused(), "the tensor should not be rendezvoused");
                }
                rank.meet();
            }
        });
    }

    /** If this fails, look for a lazy start that the first operation of a group does not wait for. */
    @Rule("SM-RDV-12")
    default void SM_RDV_12_aRendezvousCanBeTheFirstThingThatAGroupDoes() {
        ranks().run(rank -> {
            try (SymmetricMemory memory = SymmetricMemory.open(rank.freshGroup(), rank.options());
                    SymmetricTensor tensor = bytes(memory, 8)) {
                tensor.rendezvous();
                rank.meet();
            }
        });
    }

    /** If this fails, look for views, signals or mappings that are handed out before there is a mapping. */
    @Rule("SM-RDV-13")
    default void SM_RDV_13_beforeTheRendezvousOnlyTheOwnBufferCanBeReached() {
        ranks().run(rank -> {
            try (SymmetricTensor tensor = bytes(rank.memory(), 64)) {
                rank.write(tensor.remote(rank.rank()), rank.values(rank.rank(), 0, 64, 13));
                rank.checkHolds(tensor.local(), rank.rank(), 0, 13, "the own buffer through its own rank");
                if (rank.worldSize() > 1) {
                    rank.checkThrows(IllegalStateException.class, () -> tensor.remote(rank.next()), "rendezvous");
                }
                rank.checkThrows(IllegalStateException.class, tensor::signals, "rendezvous");
            }
        });
    }

    /** If this fails, look for a step of the rendezvous that does not notice a peer's death, or waits without a deadline. */
    @Rule(value = "SM-RDV-14", ranks = 2, needs = Capability.LOCAL_ALLOCATION)
    default void SM_RDV_14_aRankKilledBeforeTheRendezvousIsNamedWithinTheDeadline() {
        ranks().runUntilLastIsKilled(rank -> {
            Duration deadline = Duration.ofSeconds(2);
            SymmetricMemory memory = rank.open(rank.freshGroup(deadline));
            SymmetricTensor tensor = rank.opened(bytes(memory, 64));
            int victim = rank.worldSize() - 1;
            if (rank.rank() == victim) {
                rank.killMyself();
            }
            long start = System.nanoTime();
            var error = rank.checkThrows("a rendezvous with a rank that is dead", SymmetricMemoryException.class, tensor::rendezvous,
                    Integer.toString(victim));
            rank.check(
                    error.code().equals(ErrorCode.RANK_MISSING) || error.code().equals(ErrorCode.RANK_LOST)
                            || error.code().equals(ErrorCode.RANK_FAILED),
                    "the code should be of a missing, lost or failed rank: " + error);
            rank.check(System.nanoTime() - start < deadline.multipliedBy(3).toNanos(), "the deadline should be kept");
            rank.meetSurvivors();
        });
    }

    /** If this fails, check that a failing step leaves the other ranks' memory as it was. */
    @Rule(value = "SM-RDV-15", ranks = 2, needs = Capability.LOCAL_ALLOCATION)
    default void SM_RDV_15_afterAFailedRendezvousTheOwnBufferStillWorksAndAllCanTryAgain() {
        ranks().run(rank -> {
            SymmetricMemory memory = rank.open(rank.freshGroup());
            try (SymmetricTensor first = bytes(memory, 64); SymmetricTensor second = bytes(memory, 64)) {
                rank.write(first.local(), rank.values(rank.rank(), 0, 64, 15));
                rank.checkThrows(RanksDisagreeException.class, () -> (rank.rank() == 0 ? first : second).rendezvous());
                rank.checkHolds(first.local(), rank.rank(), 0, 15, "the own buffer after a failed rendezvous");
                first.rendezvous();
                second.rendezvous();
                rank.checkHolds(first.remote(rank.next()), rank.next(), 0, 15, "a peer's buffer after the second try");
                rank.meet();
            }
        });
    }

    /** If this fails, look for a wait inside the rendezvous that takes a peer's first message for a promise of the next. */
    @Rule(value = "SM-RDV-16", ranks = 2, needs = Capability.LOCAL_ALLOCATION)
    default void SM_RDV_16_aRankKilledInsideTheRendezvousIsNamedWithinTheDeadline() {
        ranks().runUntilLastIsKilled(rank -> {
            Duration deadline = Duration.ofSeconds(2);
            SymmetricMemory memory = rank.open(rank.freshGroup(deadline));
            SymmetricTensor tensor = rank.opened(bytes(memory, 64));
            int victim = rank.worldSize() - 1;
            ProcessHandle victimProcess = rank.processOf(victim);
            if (rank.rank() == victim) {
                // The others come only when this process is dead, so it is killed while it waits for them.
                rank.killMyselfAfter(Duration.ofMillis(200));
                tensor.rendezvous();
            }
            victimProcess.onExit().get(RankContext.SOON.toMillis(), TimeUnit.MILLISECONDS);
            long start = System.nanoTime();
            var error = rank.checkThrows("a rendezvous with a rank that is dead", SymmetricMemoryException.class, tensor::rendezvous,
                    Integer.toString(victim));
            rank.check(
                    error.code().equals(ErrorCode.RANK_MISSING) || error.code().equals(ErrorCode.RANK_LOST)
                            || error.code().equals(ErrorCode.RANK_FAILED),
                    "the code should be of a missing, lost or failed rank: " + error);
            rank.check(System.nanoTime() - start < deadline.multipliedBy(3).toNanos(), "the deadline should be kept");
            rank.check(!tensor.isRendezvoused(), "the tensor should not be rendezvoused");
            rank.meetSurvivors();
        });
    }

    /** The agreement of steps is tested in {@code org.symmem}; emulated libraries fail on demand for the backends that use them. */
    @Rule(value = "SM-RDV-17", untested = "it takes a native call that fails on one rank only")
    default void SM_RDV_17_aStepThatFailsOnOneRankFailsOnAllAndLeavesNothing() {}

    /** If this fails, look for what is one a process and should be one a rank: sockets, descriptors, tables by process id. */
    @Rule(value = "SM-RDV-18", needs = Capability.THREAD_RANKS)
    default void SM_RDV_18_threadsOfOneProcessAreRanks() {
        ranks().run(rank -> {
            KeyValueStore store = new InMemoryStore();
            int number = 3;
            try (ExecutorService threads = Executors.newFixedThreadPool(number)) {
                List<Future<?>> all = new ArrayList<>();
                for (int thread = 0; thread < number; thread++) {
                    int own = thread;
                    all.add(threads.submit(() -> {
                        try (ProcessGroup group = rank.threadGroup(store, own, number);
                                SymmetricMemory memory = SymmetricMemory.open(group, rank.options())) {
                            checkShares(rank, memory, 18);
                        }
                    }));
                }
                for (Future<?> one : all) {
                    one.get();
                }
            }
            rank.meet();
        });
    }

    /** If this fails, the check in {@code org.symmem} is broken, or the backend leaves ranks out though it says that it cannot. */
    @Rule(value = "SM-RDV-19", ranks = 2, absent = Capability.SUBGROUPS)
    default void SM_RDV_19_withoutSubgroupsAGroupOfSomeRanksIsRefusedCleanly() {
        ranks().run(rank -> {
            ProcessGroup all = rank.freshGroup();
            if (rank.rank() < rank.worldSize() - 1) {
                ProcessGroup some = rank.opened(all.subgroup(IntStream.range(0, rank.worldSize() - 1).toArray()));
                var error = rank.checkThrows(UnsupportedCapabilityException.class, () -> SymmetricMemory.open(some, rank.options()));
                rank.checkEqual(Capability.SUBGROUPS, error.capability(), "the capability");
            }
            checkShares(rank, rank.open(all), 19);
        });
    }
}
