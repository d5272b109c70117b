package org.symmem.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.symmem.DeadlineException;
import org.symmem.LiveAllocation;
import org.symmem.RanksDisagreeException;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.TensorView;

/** Ranks are threads; {@code cuda} is the emulated driver. */
class EvaluatorTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    private static final Program EVERYTHING = ProgramText.parse("""
            input x symmetric float32[5]
            input g global float32[5]
            allocate sum global float32[world, 5] strides [8, 1]
            allocate all symmetric float32[world, 5]
            allocate one symmetric float32[5]
            loop 3
                allocate t global float32[5]
                broadcast g from 1 to one
                copy x to t
                wait one
                allgather one to all
                wait all
                deallocate t
            end
            copy all to sum
            broadcast x from 0 to one
            wait one
            allgather x as v
            output v symmetric
            output sum global
            output one symmetric
            """);

    @ParameterizedTest
    @CsvSource({"host, 1", "host, 2", "host, 3", "cuda, 2"})
    void everyStepDoesWhatItSaysOnEveryRankRunAfterRun(String backend, int worldSize) throws Exception {
        Program program = worldSize > 1 ? EVERYTHING : ProgramText.parse(EVERYTHING.toString().replace("from 1", "from 0"));
        int root = Math.min(1, worldSize - 1);
        ThreadRanks.run(backend, worldSize, SOON, memory -> {
            int rank = memory.group().rank();
            try (Evaluator evaluator = Evaluator.on(memory, Lowering.SYMMETRIC); Execution execution = evaluator.prepare(program)) {
                for (int run = 0; run < 3; run++) {
                    fill(execution.input("x"), run, rank);
                    fill(execution.input("g"), run, rank + 50);
                    execution.run(SOON);
                    for (int peer = 0; peer < worldSize; peer++) {
                        check(execution.output("v").select(peer), run, peer);
                        check(execution.output("sum").select(peer), run, root + 50);
                    }
                    check(execution.output("one"), run, 0);
                    execution.meet();
                }
            }
            assertThat(memory.liveAllocations()).isEmpty();
        });
    }

    private static void fill(TensorView view, int run, int rank) {
        for (int i = 0; i < 5; i++) {
            view.set(run * 1000 + rank * 10 + i, i);
        }
    }

    private static void check(TensorView view, int run, int rank) {
        for (int i = 0; i < 5; i++) {
            assertThat(view.get(i)).isEqualTo(run * 1000 + rank * 10 + i);
        }
    }

    @Test
    void buffersAreUsedAgain() throws Exception {
        ThreadRanks.run("host", 2, SOON, memory -> {
            try (Evaluator evaluator = Evaluator.on(memory, Lowering.SYMMETRIC)) {
                evaluator.prepare(EVERYTHING).close();
                List<String> before = live(memory);
                Execution first = evaluator.prepare(EVERYTHING);
                assertThat(live(memory)).isEqualTo(before);
                long address = first.input("x").address();
                Execution second = evaluator.prepare(ProgramText.parse("input z symmetric float32[5]"));
                assertThat(second.input("z").address()).isNotEqualTo(address);
                first.close();
                second.close();
                try (Execution third = evaluator.prepare(ProgramText.parse("input z symmetric float32[5]"))) {
                    assertThat(third.input("z").address()).isEqualTo(address);
                }
                assertThatThrownBy(() -> first.input("x")).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
            }
        });
    }

    private static List<String> live(SymmetricMemory memory) {
        return memory.liveAllocations().stream().map(LiveAllocation::tensor).sorted().toList();
    }

    @Test
    void ranksWithOtherShapesAllHearOfTheFirstStatementThatDiffers() throws Exception {
        ThreadRanks.run("host", 3, SOON, memory -> {
            try (Evaluator evaluator = Evaluator.on(memory, Lowering.SYMMETRIC)) {
                List<String> before = live(memory);
                String extent = memory.group().rank() == 2 ? "8" : "4";
                assertThatThrownBy(() -> evaluator
                        .prepare(ProgramText.parse("barrier\ninput x symmetric float32[" + extent + "]")))
                        .isInstanceOf(RanksDisagreeException.class)
                        .hasMessageContaining(
                                "statement 2 is \"input x symmetric float32[4]\" on ranks [0, 1], \"input x symmetric float32[8]\" on ranks [2]");
                assertThat(live(memory)).isEqualTo(before);
                evaluator.prepare(ProgramText.parse("input x symmetric float32[4]")).close();
            }
        });
    }

    @Test
    void ranksThatGaveBackInAnotherOrderAllHearOfIt() throws Exception {
        Program one = ProgramText.parse("input x symmetric float32[4]");
        ThreadRanks.run("host", 2, SOON, memory -> {
            try (Evaluator evaluator = Evaluator.on(memory, Lowering.SYMMETRIC)) {
                Execution first = evaluator.prepare(one);
                Execution second = evaluator.prepare(one);
                (memory.group().rank() == 0 ? first : second).close();
                assertThatThrownBy(() -> evaluator.prepare(one)).isInstanceOf(RanksDisagreeException.class)
                        .hasMessageContaining("order in which buffers are taken: 0 on rank 0, 1 on rank 1");
            }
        });
    }

    @Test
    void aWrongProgramAllocatesNothing() throws Exception {
        ThreadRanks.run("host", 2, SOON, memory -> {
            try (Evaluator evaluator = Evaluator.on(memory, Lowering.SYMMETRIC)) {
                List<String> before = live(memory);
                assertThatThrownBy(() -> evaluator.prepare(ProgramText.parse("input x symmetric float32[4]\nwait x")))
                        .isInstanceOf(ProgramException.class)
                        .hasMessageStartingWith("line 2, column 6: nothing was begun into x");
                assertThat(live(memory)).isEqualTo(before);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({"host", "cuda"})
    void aRankThatDoesNotComeIsATimeoutThatNamesTheStepAndItsLine(String backend) throws Exception {
        Program program = ProgramText.parse("""
                input x symmetric float32[4]
                allocate y symmetric float32[world, 4]
                barrier
                allgather x to y
                wait y
                barrier
                """);
        ThreadRanks.run(backend, 2, SOON, memory -> {
            try (Evaluator evaluator = Evaluator.on(memory, Lowering.SYMMETRIC); Execution execution = evaluator.prepare(program)) {
                if (memory.group().rank() == 0) {
                    assertThatThrownBy(() -> execution.run(Duration.ofMillis(300))).isInstanceOf(DeadlineException.class)
                            .hasMessageStartingWith("line 5: wait y: ");
                    assertThatThrownBy(() -> execution.run(SOON)).isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("a run has failed");
                } else {
                    // It comes to the begin of the run and to the barrier of line 3, and no further.
                    for (int barrier = 0; barrier < 2; barrier++) {
                        evaluator.control().signals().barrier(0, SOON);
                    }
                }
                memory.agreement("the test", "a test").check("ending", () -> {});
            }
        });
    }

    @Test
    void ranksThatLowerOtherwiseAllHearOfIt() throws Exception {
        ThreadRanks.run("host", 2, SOON, memory -> assertThatThrownBy(
                () -> Evaluator.on(memory, Lowering.values()[memory.group().rank()])).isInstanceOf(RanksDisagreeException.class)
                .hasMessageContaining("lowering: symmetric on rank 0, native on rank 1"));
    }

    @Test
    void withoutCollectivesOfTheBackendThatLoweringIsRefused() throws Exception {
        ThreadRanks.run("host", 2, SOON, memory -> {
            assertThatThrownBy(() -> Evaluator.on(memory, Lowering.NATIVE)).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContaining("backend host has no collectives of its own");
            assertThat(memory.liveAllocations()).isEmpty();
        });
    }
}
