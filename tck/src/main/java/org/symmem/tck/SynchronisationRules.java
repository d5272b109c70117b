package org.symmem.tck;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.Shape;
import org.symmem.Signals;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.UnsupportedCapabilityException;

/** Group E: signals, barriers, and what they make visible. */
interface SynchronisationRules extends Rules {
    private static SymmetricTensor rendezvoused(RankContext rank, SymmetricMemory memory, long size) {
        SymmetricTensor tensor = rank.opened(memory.allocate(Shape.of(size), DataType.UINT8));
        tensor.rendezvous();
        return tensor;
    }

    private static SymmetricTensor rendezvoused(RankContext rank, long size) {
        return rendezvoused(rank, rank.memory(), size);
    }

    /** If this fails, check that the barrier releases before it tells the others and acquires after it heard of all of them. */
    @Rule(value = "SM-SYNC-1", needs = Capability.HOST_SIGNALS, stochastic = true)
    default void SM_SYNC_1_aBarrierOrdersStoresBeforeLoads() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 64);
            for (int round = 0; round < 1000; round++) {
                rank.write(tensor.local(), rank.values(rank.rank(), 0, 64, round));
                tensor.signals().barrier(0, RankContext.SOON);
                for (int peer = 0; peer < rank.worldSize(); peer++) {
                    rank.checkHolds(tensor.remote(peer), peer, 0, round, "after barrier " + round);
                }
                tensor.signals().barrier(0, RankContext.SOON);
            }
        });
    }

    /** If this fails, the barrier does not wait: check which counts it compares. */
    @Rule(value = "SM-SYNC-2", needs = Capability.HOST_SIGNALS, ranks = 2)
    default void SM_SYNC_2_nobodyPassesABarrierBeforeTheLastRankHasCome() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 8);
            for (int late = 0; late < rank.worldSize(); late++) {
                rank.meet();
                if (rank.rank() == late) {
                    Thread.sleep(150);
                    tensor.local().fill(late + 1);
                }
                tensor.signals().barrier(late % tensor.signals().channels(), RankContext.SOON);
                rank.checkEqual((byte) (late + 1), rank.read(tensor.remote(late))[0],
                        "what the late rank stored before it came to the barrier");
                rank.meet();
            }
        });
    }

    /** If this fails, check that a signal releases the stores before it, and that a wait acquires. */
    @Rule(value = "SM-SYNC-3", needs = Capability.HOST_SIGNALS, stochastic = true)
    default void SM_SYNC_3_whatWasStoredBeforeASignalIsSeenAfterItsWait() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 2048);
            for (int round = 0; round < 500; round++) {
                rank.write(tensor.remote(rank.next()), rank.values(rank.next(), 0, 2048, round));
                tensor.signals().signal(rank.next(), 0);
                tensor.signals().await(rank.previous(), 0, RankContext.SOON);
                rank.checkHolds(tensor.local(), rank.rank(), 0, round, "what the previous rank stored before it signalled");
                tensor.signals().signal(rank.previous(), 1);
                tensor.signals().await(rank.next(), 1, RankContext.SOON);
            }
        });
    }

    /** If this fails, signals overwrite each other: they must count. */
    @Rule(value = "SM-SYNC-4", needs = Capability.HOST_SIGNALS)
    default void SM_SYNC_4_theNthWaitIsSatisfiedByTheNthSignalAndNoneIsLost() {
        ranks().run(rank -> {
            Signals signals = rendezvoused(rank, 8).signals();
            int number = 1000;
            for (int i = 0; i < number; i++) {
                signals.signal(rank.next(), 2);
            }
            for (int i = 0; i < number; i++) {
                signals.await(rank.previous(), 2, RankContext.SOON);
            }
            rank.checkThrows("waiting once more than was signalled", DeadlineException.class,
                    () -> signals.await(rank.previous(), 2, Duration.ofMillis(20)));
            rank.meet();
        });
    }

    /** If this fails, check the offsets of slots in the pad: by channel and by source. */
    @Rule(value = "SM-SYNC-5", needs = Capability.HOST_SIGNALS)
    default void SM_SYNC_5_channelsAndSourcesAreIndependent() {
        ranks().run(rank -> {
            Signals signals = rendezvoused(rank, 8).signals();
            int last = signals.channels() - 1;
            signals.signal(rank.next(), last);
            signals.barrier(0, RankContext.SOON);
            for (int channel = 0; channel < last; channel++) {
                int quiet = channel;
                rank.checkThrows("waiting on channel " + quiet + " for a signal sent on channel " + last, DeadlineException.class,
                        () -> signals.await(rank.previous(), quiet, Duration.ofMillis(1)));
            }
            for (int source = 0; source < rank.worldSize(); source++) {
                int quiet = source;
                if (source != rank.previous()) {
                    rank.checkThrows("waiting for rank " + quiet + " and a signal of rank " + rank.previous(), DeadlineException.class,
                            () -> signals.await(quiet, last, Duration.ofMillis(1)));
                }
            }
            signals.await(rank.previous(), last, RankContext.SOON);
            rank.meet();
        });
    }

    /** If this fails, the check of channels in {@code org.symmem} is broken. */
    @Rule(value = "SM-SYNC-6", needs = Capability.HOST_SIGNALS)
    default void SM_SYNC_6_aChannelOutOfRangeIsRefusedAndTheLastOneWorks() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 8);
            Signals signals = tensor.signals();
            for (int wrong : new int[]{-1, signals.channels(), Integer.MAX_VALUE}) {
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.signal(0, wrong), "channel " + wrong);
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.await(0, wrong, RankContext.SOON), "channel " + wrong);
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.barrier(wrong, RankContext.SOON), "channel " + wrong);
            }
            signals.barrier(signals.channels() - 1, RankContext.SOON);
            rank.checkEqual((byte) 0, rank.read(tensor.local())[7], "a byte of the buffer");
            rank.meet();
        });
    }

    /** If this fails, the check of ranks in {@code org.symmem} is broken. */
    @Rule(value = "SM-SYNC-7", needs = Capability.HOST_SIGNALS)
    default void SM_SYNC_7_aRankOutOfRangeIsRefusedBySignalAndWait() {
        ranks().run(rank -> {
            Signals signals = rendezvoused(rank, 8).signals();
            for (int wrong : new int[]{-1, rank.worldSize()}) {
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.signal(wrong, 0), "rank " + wrong);
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.await(wrong, 0, RankContext.SOON), "rank " + wrong);
            }
            signals.signal(rank.rank(), 0);
            signals.await(rank.rank(), 0, RankContext.SOON);
            rank.meet();
        });
    }

    /** If this fails, check that a wait which times out consumes nothing and leaves the other channels alone. */
    @Rule(value = "SM-SYNC-8", needs = Capability.HOST_SIGNALS)
    default void SM_SYNC_8_aWaitThatTimesOutNamesTheRankAndCanBeRepeated() {
        ranks().run(rank -> {
            Signals signals = rendezvoused(rank, 8).signals();
            long start = System.nanoTime();
            var error = rank.checkThrows(DeadlineException.class, () -> signals.await(rank.previous(), 3, Duration.ofMillis(120)),
                    "rank " + rank.previous(), "channel 3");
            long waitedMillis = (System.nanoTime() - start) / 1_000_000;
            rank.checkEqual(ErrorCode.SIGNAL_TIMEOUT, error.code(), "the code");
            rank.checkEqual(List.of(rank.previous()), error.missingRanks(), "the missing ranks");
            rank.check(waitedMillis >= 119 && waitedMillis < 5000, "a wait of 120 ms took " + waitedMillis + " ms");
            signals.barrier(0, RankContext.SOON);
            signals.signal(rank.next(), 3);
            signals.await(rank.previous(), 3, RankContext.SOON);
            rank.meet();
        });
    }

    /** If this fails, check that a barrier which times out can be continued, and who it says is missing. */
    @Rule(value = "SM-SYNC-9", needs = Capability.HOST_SIGNALS, ranks = 2)
    default void SM_SYNC_9_aBarrierThatTimesOutNamesTheMissingRanksAndCanBeContinued() {
        ranks().run(rank -> {
            Signals signals = rendezvoused(rank, 8).signals();
            int late = rank.worldSize() - 1;
            if (rank.rank() != late) {
                rank.meet();
                var error = rank.checkThrows("a barrier that rank " + late + " is late for", DeadlineException.class,
                        () -> signals.barrier(1, Duration.ofMillis(100)), "[" + late + "]");
                rank.checkEqual(List.of(late), error.missingRanks(), "the missing ranks");
                rank.meet();
            } else {
                rank.meet();
                rank.meet();
            }
            for (int i = 0; i < 10; i++) {
                signals.barrier(1, RankContext.SOON);
            }
            rank.meet();
        });
    }

    /** If this fails, look for state that channels share. */
    @Rule(value = "SM-SYNC-10", needs = Capability.HOST_SIGNALS, stochastic = true)
    default void SM_SYNC_10_twoThreadsUseTwoChannelsAtOnce() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 256);
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                List<Future<?>> both = new java.util.ArrayList<>();
                for (int thread = 0; thread < 2; thread++) {
                    int channel = thread;
                    both.add(threads.submit(() -> {
                        for (int round = 0; round < 300; round++) {
                            rank.write(tensor.remote(rank.next()).slice(channel * 128L, 128),
                                    rank.values(rank.next(), channel * 128L, 128, round));
                            tensor.signals().barrier(channel, RankContext.SOON);
                            rank.checkHolds(tensor.local().slice(channel * 128L, 128), rank.rank(), channel * 128L, round,
                                    "thread " + channel + "'s half");
                            tensor.signals().barrier(channel, RankContext.SOON);
                        }
                    }));
                }
                for (Future<?> one : both) {
                    one.get();
                }
            }
            rank.meet();
        });
    }

    /** If this fails, look for pads that two tensors or two groups share. */
    @Rule(value = "SM-SYNC-11", needs = Capability.HOST_SIGNALS)
    default void SM_SYNC_11_signalsOfTwoTensorsAndTwoGroupsAreIndependent() {
        ranks().run(rank -> {
            Signals one = rendezvoused(rank, 8).signals();
            Signals two = rendezvoused(rank, 8).signals();
            Signals other = rank.memory().capability(Capability.SUBGROUPS).supported()
                    ? rendezvoused(rank, rank.open(rank.freshGroup()), 8).signals()
                    : two;
            one.signal(rank.next(), 0);
            one.barrier(1, RankContext.SOON);
            rank.checkThrows("waiting for a signal of another tensor", DeadlineException.class,
                    () -> two.await(rank.previous(), 0, Duration.ofMillis(20)));
            rank.checkThrows("waiting for a signal of another group", DeadlineException.class,
                    () -> other.await(rank.previous(), 0, Duration.ofMillis(20)));
            rank.meet();
            // A rank that has waited in vain must not signal one that has yet to.
            rank.meet();
            two.signal(rank.next(), 0);
            other.barrier(0, RankContext.SOON);
            two.await(rank.previous(), 0, RankContext.SOON);
            one.await(rank.previous(), 0, RankContext.SOON);
            rank.meet();
        });
    }

    /** If this fails, check that signals on a stream come after the copies before them, and waits before the copies after them. */
    @Rule(value = "SM-SYNC-12", needs = Capability.STREAM_SIGNALS, stochastic = true)
    default void SM_SYNC_12_signalsAndWaitsOnAStreamAreOrderedWithItsCopies() {
        ranks().run(rank -> {
            int size = 100_000;
            SymmetricTensor inbox = rendezvoused(rank, size);
            SymmetricTensor outbox = rendezvoused(rank, size);
            SymmetricTensor kept = rendezvoused(rank, size);
            Stream stream = rank.opened(rank.memory().newStream());
            for (int round = 0; round < 50; round++) {
                rank.write(outbox.local(), rank.values(rank.rank(), 0, size, round));
                inbox.remote(rank.next()).copyFrom(outbox.local(), stream);
                inbox.signals().signal(rank.next(), 0, stream);
                inbox.signals().await(rank.previous(), 0, stream, RankContext.SOON);
                kept.local().copyFrom(inbox.local(), stream);
                inbox.signals().barrier(1, stream, RankContext.SOON);
                stream.synchronize(RankContext.SOON);
                rank.checkHolds(kept.local(), rank.previous(), 0, round, "what came before a signal on a stream");
            }
            rank.meet();
        });
    }

    /** If this fails, check that a wait which times out on a stream fails that stream, and nothing else. */
    @Rule(value = "SM-SYNC-13", needs = Capability.STREAM_SIGNALS)
    default void SM_SYNC_13_aWaitThatTimesOutOnAStreamFailsTheStreamAndNothingElse() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 64);
            SymmetricTensor other = rendezvoused(rank, 64);
            rank.write(tensor.local(), rank.values(rank.rank(), 0, 64, 13));
            Stream failing = rank.opened(rank.memory().newStream());
            tensor.signals().await(rank.previous(), 5, failing, Duration.ofMillis(100));
            rank.checkThrows("a stream that waited in vain", SymmetricMemoryException.class, () -> failing.synchronize(RankContext.SOON),
                    "rank " + rank.previous(),
                    "channel 5");
            rank.meet();
            Stream good = rank.opened(rank.memory().newStream());
            other.remote(rank.next()).copyFrom(tensor.local(), good);
            other.signals().barrier(0, good, RankContext.SOON);
            good.synchronize(RankContext.SOON);
            rank.checkHolds(other.local(), rank.previous(), 0, 13, "a copy on another stream after a wait has failed");
            rank.meet();
        });
    }

    /** If this fails, look for a stream's wait that stops the whole process or device. */
    @Rule(value = "SM-SYNC-14", needs = Capability.STREAM_SIGNALS)
    default void SM_SYNC_14_aStreamThatWaitsDoesNotHoldUpAnother() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 4096);
            Stream waiting = rank.opened(rank.memory().newStream());
            Stream free = rank.opened(rank.memory().newStream());
            tensor.signals().await(rank.previous(), 0, waiting, RankContext.SOON);
            tensor.local().fill(7, free);
            rank.checkDone(free, "a stream beside one that waits");
            rank.checkThrows(DeadlineException.class, () -> waiting.synchronize(Duration.ofMillis(50)));
            rank.meet();
            tensor.signals().signal(rank.next(), 0, free);
            rank.checkDone(free, "a stream beside one that waits");
            waiting.synchronize(RankContext.SOON);
            rank.meet();
        });
    }

    /** If this fails, look for a wait that does not notice a peer's death, or has no deadline. */
    @Rule(value = "SM-SYNC-15", needs = Capability.HOST_SIGNALS, ranks = 2)
    default void SM_SYNC_15_aRankKilledInABarrierIsNamedWithinTheDeadline() {
        ranks().runUntilLastIsKilled(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, rank.open(rank.freshGroup(Duration.ofSeconds(3))), 64);
            int victim = rank.worldSize() - 1;
            rank.meet();
            if (rank.rank() == victim) {
                rank.killMyself();
            }
            Duration deadline = Duration.ofSeconds(3);
            long start = System.nanoTime();
            var error = rank.checkThrows("a barrier with a rank that is dead", SymmetricMemoryException.class,
                    () -> tensor.signals().barrier(0, deadline),
                    Integer.toString(victim));
            rank.check(error.code().equals(ErrorCode.SIGNAL_TIMEOUT) || error.code().equals(ErrorCode.RANK_LOST),
                    "the code should be of a timeout or a lost rank: " + error);
            rank.check(System.nanoTime() - start < deadline.plusSeconds(2).toNanos(), "the deadline should be kept");
            rank.read(tensor.remote(victim));
            rank.meetSurvivors();
        });
    }

    /** If this fails, look for a wait that gives up on a peer that is merely stopped. */
    @Rule(value = "SM-SYNC-16", needs = Capability.HOST_SIGNALS, ranks = 2)
    default void SM_SYNC_16_aRankThatIsStoppedForASecondIsWaitedFor() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 64);
            rank.meet();
            if (rank.rank() == 0) {
                rank.stopMyself(Duration.ofSeconds(1));
            }
            tensor.signals().barrier(0, RankContext.SOON);
            rank.meet();
        });
    }

    /** If this fails, check that the pad is cleared before its handle is published, and that no counter outlives its tensor. */
    @Rule(value = "SM-SYNC-17", needs = Capability.HOST_SIGNALS)
    default void SM_SYNC_17_aFreshTensorHoldsNoSignalOfAnEarlierOne() {
        ranks().run(rank -> {
            for (int round = 0; round < 3; round++) {
                try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(64), DataType.UINT8)) {
                    tensor.rendezvous();
                    Signals signals = tensor.signals();
                    for (int channel = 0; channel < signals.channels(); channel++) {
                        int fresh = channel;
                        rank.checkThrows("waiting on a fresh tensor", DeadlineException.class,
                                () -> signals.await(rank.previous(), fresh, Duration.ofMillis(1)));
                    }
                    rank.meet();
                    for (int channel = 0; channel < signals.channels(); channel++) {
                        signals.signal(rank.next(), channel);
                        signals.barrier(channel, RankContext.SOON);
                    }
                    // Closed with every signal unheard.
                    rank.meet();
                }
            }
        });
    }

    /** If this fails, check that signals which the backend lacks are refused, not done as far as it can. */
    @Rule(value = "SM-SYNC-18", absent = Capability.HOST_SIGNALS)
    default void SM_SYNC_18_withoutHostSignalsTheyAreRefusedCleanly() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 64);
            Signals signals = tensor.signals();
            List<RankContext.Action> uses = List.of(() -> signals.signal(rank.next(), 0),
                    () -> signals.await(rank.previous(), 0, RankContext.SOON), () -> signals.barrier(0, RankContext.SOON));
            for (RankContext.Action use : uses) {
                var error = rank.checkThrows(UnsupportedCapabilityException.class, use);
                rank.checkEqual(Capability.HOST_SIGNALS, error.capability(), "the capability");
            }
            rank.checkEqual((byte) 0, rank.read(tensor.local())[0], "a byte of the buffer after the refusals");
            rank.meet();
        });
    }

    /** If this fails, check that signals on streams which the backend lacks are refused when they are put on, not later. */
    @Rule(value = "SM-SYNC-19", absent = Capability.STREAM_SIGNALS)
    default void SM_SYNC_19_withoutStreamSignalsTheyAreRefusedCleanly() {
        ranks().run(rank -> {
            SymmetricTensor tensor = rendezvoused(rank, 64);
            Signals signals = tensor.signals();
            Stream stream = rank.opened(rank.memory().newStream());
            List<RankContext.Action> uses = List.of(() -> signals.signal(rank.next(), 0, stream),
                    () -> signals.await(rank.previous(), 0, stream, RankContext.SOON),
                    () -> signals.barrier(0, stream, RankContext.SOON));
            for (RankContext.Action use : uses) {
                var error = rank.checkThrows(UnsupportedCapabilityException.class, use);
                rank.checkEqual(Capability.STREAM_SIGNALS, error.capability(), "the capability");
            }
            stream.synchronize(RankContext.SOON);
            rank.meet();
        });
    }

    /** If this fails, the checks of {@code org.symmem} come after the operation was put on the stream. */
    @Rule(value = "SM-SYNC-20", needs = Capability.STREAM_SIGNALS)
    default void SM_SYNC_20_ranksAndChannelsOutOfRangeAreRefusedBeforeAnythingIsPutOnTheStream() {
        ranks().run(rank -> {
            Signals signals = rendezvoused(rank, 8).signals();
            Stream stream = rank.opened(rank.memory().newStream());
            for (int wrong : new int[]{-1, signals.channels()}) {
                String said = "channel " + wrong;
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.signal(0, wrong, stream), said);
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.await(0, wrong, stream, RankContext.SOON), said);
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.barrier(wrong, stream, RankContext.SOON), said);
            }
            for (int wrong : new int[]{-1, rank.worldSize()}) {
                String said = "rank " + wrong;
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.signal(wrong, 0, stream), said);
                rank.checkThrows(IndexOutOfBoundsException.class, () -> signals.await(wrong, 0, stream, RankContext.SOON), said);
            }
            stream.synchronize(RankContext.SOON);
            rank.meet();
        });
    }
}
