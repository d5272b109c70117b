package org.symmem.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.symmem.CollectiveFailedException;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;
import org.symmem.tck.RankContext;
import org.symmem.tck.RankJob;

/**
 * Every call of the driver fails in turn on one rank of two: all ranks get the same error, within the deadline, and nothing stays
 * alive. Over the emulated driver, with multicast.
 */
class FailingCallsTest {
    private static final String CLOSING = "closing: ";
    private static final int UNKNOWN_ERROR = 999;
    /** Calls that a wait repeats until it is over: how often says nothing. */
    private static final int MOST_OCCURRENCES = 24;
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    /** What they should have let go stays alive when they fail; that they are reported and the rest is let go is another test. */
    private static final Set<String> LETTING_GO = Set.of("cuMemUnmap", "cuMemRelease", "cuMemAddressFree", "cuStreamDestroy",
            "cuMemFree", "cuDevicePrimaryCtxRelease", "cuMulticastUnbind", "cuCtxPopCurrent");
    /** Nothing is asked of the driver but a word for an error. */
    private static final Set<String> HARMLESS = Set.of("cuErrorName");

    @Test
    void aCallThatFailsOnOneRankFailsAlikeOnAllAndLeavesNothing() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(2, 2, Map.of("MULTICAST", "1")))) {
            for (String function : EmulatedDriver.functions()) {
                if (!LETTING_GO.contains(function) && !HARMLESS.contains(function)) {
                    ranks.run("failing-" + function, rank -> failInTurn(rank, function));
                }
            }
        }
    }

    /** Multicast fails, the tensor works: the rule SM-MC-5. */
    @Test
    void multicastThatFailsOnOneRankIsAbsentOnAllAndTheRestWorks() {
        try (RankJob ranks = new RankJob(EmulatedDriver.settings(2, 2, Map.of("MULTICAST", "1")))) {
            for (String function : List.of("cuMulticastAddDevice", "cuMulticastBindMem")) {
                ranks.run("SM-MC-5-" + function, rank -> {
                    String before = EmulatedDriver.live();
                    if (rank.rank() == 1) {
                        EmulatedDriver.failOnce(function, 1, UNKNOWN_ERROR);
                    }
                    try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(4096), DataType.UINT8)) {
                        tensor.rendezvous();
                        String answer = tensor.multicastSupport().explanation();
                        rank.check(!tensor.multicastSupport().supported() && answer.contains("rank 1") && answer.contains(function),
                                "the reason should name rank 1 and " + function + ": " + answer);
                        checkAlike(rank, answer);
                        rank.write(tensor.local(), rank.values(rank.rank(), 0, 4096, 0));
                        rank.meet();
                        rank.checkHolds(tensor.remote(rank.next()), rank.next(), 0, 0, "the peer's buffer");
                        rank.meet();
                    }
                    EmulatedDriver.failNothing();
                    rank.checkEqual(before, EmulatedDriver.live(), "what is alive");
                });
            }
        }
    }

    /** In this process, since what could not be let go stays. */
    @ParameterizedTest
    @ValueSource(strings = {"cuMemUnmap", "cuMemRelease", "cuMemAddressFree"})
    void aCallThatFailsInClosingIsReportedAndTheRestIsLetGo(String function) {
        try (ProcessGroup alone = ProcessGroups.alone();
                SymmetricMemory memory = SymmetricMemory.open(alone, SymmetricMemory.Options.defaults().withBackend("cuda"))) {
            SymmetricTensor tensor = memory.allocate(Shape.of(4096), DataType.UINT8);
            long before = callsThatLetGo();
            EmulatedDriver.failOnce(function, 1, UNKNOWN_ERROR);

            assertThatThrownBy(tensor::close).hasMessageContainingAll(function, "CUDA_ERROR_UNKNOWN", "999");

            assertThat(callsThatLetGo() - before).isEqualTo(3);
        } finally {
            EmulatedDriver.failNothing();
        }
    }

    private static long callsThatLetGo() {
        return EmulatedDriver.calls("cuMemRelease") + EmulatedDriver.calls("cuMemUnmap") + EmulatedDriver.calls("cuMemAddressFree");
    }

    private static void failInTurn(RankContext rank, String function) {
        // What is made once a process is made here.
        rank.check(attempt(rank).isEmpty(), "it should go well where nothing fails");
        String before = EmulatedDriver.live();
        for (int occurrence = 1; occurrence <= MOST_OCCURRENCES; occurrence++) {
            long calls = EmulatedDriver.calls(function);
            if (rank.rank() == 1) {
                EmulatedDriver.failOnce(function, occurrence, UNKNOWN_ERROR);
            }
            long start = System.nanoTime();
            String failure = attempt(rank);
            long took = System.nanoTime() - start;
            EmulatedDriver.failNothing();
            String which = function + ", occurrence " + occurrence;
            boolean fired = Boolean.parseBoolean(fromRank1(rank, Boolean.toString(EmulatedDriver.calls(function) - calls >= occurrence)));
            if (!fired) {
                rank.checkEqual("", failure, "the failure without a failing call (" + which + ")");
                return;
            }
            String first = fromRank1(rank, failure);
            if (first.startsWith(CLOSING)) {
                rank.check(rank.rank() == 1 || failure.isEmpty(), "closing failed on rank 1 only, and this rank says: " + failure);
            } else {
                rank.checkEqual(first, failure, "what this rank says, as rank 1 does");
            }
            rank.check(failure.isEmpty() || failure.contains("999") || failure.contains("CUDA_ERROR_UNKNOWN"),
                    "the error should have the call's code (" + which + "): " + failure);
            rank.check(took < 2 * DEADLINE.toNanos(), which + " took " + took / 1_000_000 + " ms");
            rank.checkEqual(before, EmulatedDriver.live(), "what is alive after " + which + " failed with \"" + failure + "\"");
        }
    }

    /** {@return what all ranks say went wrong, or nothing; closing is local, and so are its errors} */
    private static String attempt(RankContext rank) {
        Closers opened = new Closers();
        String failure;
        try {
            ProcessGroup group = opened.add(rank.freshGroup(DEADLINE));
            SymmetricMemory memory = opened.add(SymmetricMemory.open(group, rank.options()));
            Agreement agreement = new Agreement(group, "the attempt", "a tensor", memory::device, DEADLINE);
            SymmetricTensor[] tensor = new SymmetricTensor[1];
            // Whole granules, so that the pad is a slot of the pool.
            agreement.check("allocating", () -> tensor[0] = opened.add(memory.allocate(Shape.of(4 << 20), DataType.UINT8)));
            agreement.check("allocating ordinary memory", () -> opened.add(memory.allocateGlobal(Shape.of(4096), DataType.UINT8)));
            tensor[0].rendezvous();
            agreement.check("communicating", () -> communicate(rank, memory, tensor[0]));
            failure = "";
        } catch (CollectiveFailedException e) {
            failure = e.failures().toString();
        } catch (SymmetricMemoryException e) {
            failure = String.valueOf(e.getMessage());
        }
        try {
            opened.close();
        } catch (SymmetricMemoryException e) {
            failure = failure.isEmpty() ? CLOSING + e.getMessage() : failure;
        }
        return failure;
    }

    private static void communicate(RankContext rank, SymmetricMemory memory, SymmetricTensor tensor) {
        Duration wait = Duration.ofMillis(500);
        try (Stream stream = memory.newStream()) {
            tensor.local().slice(0, 64).fill(1);
            tensor.remote(rank.next()).slice(64, 64).copyFrom(tensor.local().slice(0, 64), stream);
            TensorView[] several = {tensor.remote(rank.next()).slice(128, 64), tensor.local().slice(192, 64)};
            tensor.local().slice(0, 64).copyTo(several, stream);
            tensor.signals().barrier(0, stream, wait);
            stream.synchronize(DEADLINE);
            tensor.signals().signal(rank.next(), 1);
            tensor.signals().await(rank.previous(), 1, wait);
        }
    }

    private static void checkAlike(RankContext rank, String own) {
        rank.checkEqual(fromRank1(rank, own), own, "what rank " + rank.rank() + " says, as rank 1 does");
    }

    private static String fromRank1(RankContext rank, String own) {
        return new String(rank.memory()
                .group()
                .allGather("comparing", own.getBytes(StandardCharsets.UTF_8), RankContext.SOON)
                .get(1), StandardCharsets.UTF_8);
    }
}
