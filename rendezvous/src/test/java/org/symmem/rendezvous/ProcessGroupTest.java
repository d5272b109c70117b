package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.symmem.DeadlineException;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.RanksDisagreeException;
import org.symmem.SymmetricMemoryException;

@Timeout(30)
class ProcessGroupTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    private static byte[] of(int number) {
        return new byte[]{(byte) number};
    }

    @Test
    void everyRankGetsWhatEveryRankGaveAndTheStoreDoesNotGrow() throws Exception {
        InMemoryStore store = new InMemoryStore();
        ThreadRanks.run(3, store, "g", SOON, group -> {
            for (int i = 0; i < 1000; i++) {
                List<byte[]> all = group.allGather("step", of(i + group.rank()), SOON);
                assertThat(all).containsExactly(of(i), of(i + 1), of(i + 2));
            }
            return null;
        });
        assertThat(store.size()).isLessThanOrEqualTo(2 * 3 + 4);
    }

    @Test
    void aMissingRankIsNamed() throws Exception {
        List<DeadlineException> errors = ThreadRanks.run(3, new InMemoryStore(), "g", SOON,
                group -> group.rank() == 1 ? null
                        : catchThrowableOfType(DeadlineException.class, () -> group.allGather("loading", of(0), Duration.ofMillis(100))));
        assertThat(errors.get(0).missingRanks()).containsExactly(1);
        assertThat(errors.get(2)).hasMessageContaining("[1]").hasMessageContaining("loading").hasMessageContaining("rank 2/3");
    }

    @Test
    void ranksAtDifferentStepsAllGetAnError() throws Exception {
        ThreadRanks.run(2, new InMemoryStore(), "g", SOON, group -> {
            assertThatThrownBy(() -> group.allGather(group.rank() == 0 ? "opening" : "closing", of(0), SOON))
                    .isInstanceOf(RanksDisagreeException.class)
                    .hasMessageContaining("opening")
                    .hasMessageContaining("closing");
            return null;
        });
    }

    @Test
    void ranksThatCountDifferentWorldsAllGetAnError() throws Exception {
        KeyValueStore store = new InMemoryStore();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<?>> both = List.of(threads.submit(() -> disagree(store, 0, 2)), threads.submit(() -> disagree(store, 1, 3)));
            for (Future<?> one : both) {
                one.get();
            }
        }
    }

    private static void disagree(KeyValueStore store, int rank, int worldSize) {
        try (ProcessGroup group = ProcessGroups.over(store, "g", rank, worldSize, rank, SOON)) {
            assertThatThrownBy(() -> group.allGather("step", of(0), SOON)).isInstanceOf(RanksDisagreeException.class)
                    .hasMessageContaining("world size");
        }
    }

    @Test
    void aRankThatIsTakenIsRefused() {
        KeyValueStore store = new InMemoryStore();
        try (ProcessGroup first = ProcessGroups.over(store, "g", 0, 2, 0, SOON);
                ProcessGroup second = ProcessGroups.over(store, "g", 0, 2, 0, SOON)) {
            assertThatThrownBy(() -> first.allGather("step", of(0), Duration.ofMillis(10))).isInstanceOf(DeadlineException.class);
            assertThatThrownBy(() -> second.allGather("step", of(0), SOON)).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContaining("already taken");
        }
    }

    @Test
    void subgroupsStayApartAlsoWhenTheyOverlapOrComeAgain() throws Exception {
        ThreadRanks.run(3, new InMemoryStore(), "g", SOON, group -> {
            for (int round = 0; round < 3; round++) {
                if (group.rank() < 2) {
                    try (ProcessGroup some = group.subgroup(0, 1)) {
                        assertThat(some.allGather("some", of(group.rank()), SOON)).containsExactly(of(0), of(1));
                    }
                }
                try (ProcessGroup reversed = group.subgroup(2, 1, 0)) {
                    assertThat(reversed.rank()).isEqualTo(2 - group.rank());
                    assertThat(reversed.allGather("all", of(group.rank()), SOON)).containsExactly(of(2), of(1), of(0));
                }
            }
            assertThatThrownBy(() -> group.subgroup(0, 3)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> group.subgroup((group.rank() + 1) % 3)).isInstanceOf(IllegalArgumentException.class);
            return null;
        });
    }

    @Test
    void anEnginesOwnAllGatherServesAsMeetingPlace() throws Exception {
        byte[][] board = new byte[2][];
        CyclicBarrier barrier = new CyclicBarrier(2);
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<?>> ranks = new java.util.ArrayList<>();
            for (int r = 0; r < 2; r++) {
                int rank = r;
                ranks.add(threads.submit(() -> {
                    AllGather engine = (contribution, timeout) -> {
                        try {
                            board[rank] = contribution;
                            barrier.await();
                            List<byte[]> all = List.of(board[0], board[1]);
                            barrier.await();
                            return all;
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                    };
                    try (ProcessGroup group = ProcessGroups.over(engine, "engine", rank, 2, rank)) {
                        assertThat(group.allGather("step", of(rank), SOON)).containsExactly(of(0), of(1));
                        assertThatThrownBy(() -> group.subgroup(0)).isInstanceOf(UnsupportedOperationException.class)
                                .hasMessageContaining("store");
                    }
                }));
            }
            for (Future<?> rank : ranks) {
                rank.get();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "RANK=1 WORLD_SIZE=4 LOCAL_RANK=0 MASTER_ADDR=a MASTER_PORT=29500, 1, 4, 0",
        "RANK=1 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=29500, 1, 4, 1",
        "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_LOCAL_RANK=1 MASTER_ADDR=a MASTER_PORT=1, 3, 4, 1",
        "SLURM_PROCID=2 SLURM_NTASKS=4 SLURM_LOCALID=0 SLURM_JOB_ID=77 MASTER_ADDR=a MASTER_PORT=1, 2, 4, 0",
        "RANK=0 WORLD_SIZE=1, 0, 1, 0"
    })
    void launchersVariablesAreUnderstood(String variables, int rank, int worldSize, int localRank) {
        LaunchEnvironment launch = LaunchEnvironment.of(map(variables));
        assertThat(List.of(launch.rank(), launch.worldSize(), launch.localRank())).containsExactly(rank, worldSize, localRank);
    }

    @ParameterizedTest
    @CsvSource({
        "A=1, RANK is not set", "WORLD_SIZE=2, RANK is not set", "RANK=0, WORLD_SIZE is not set", "RANK=-1 WORLD_SIZE=2, RANK=-1",
        "RANK=x WORLD_SIZE=2, RANK=x", "RANK=2 WORLD_SIZE=2, RANK=2",
        "RANK=0 WORLD_SIZE=0, WORLD_SIZE=0", "RANK=0 WORLD_SIZE=2 MASTER_PORT=1, MASTER_ADDR",
        "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a, MASTER_PORT", "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=99999, MASTER_PORT=99999"
    })
    void aWrongVariableIsNamedWithItsValue(String variables, String part) {
        assertThatThrownBy(() -> LaunchEnvironment.of(map(variables))).isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining(part)
                .hasMessageContaining("SM-E-SETTING-1");
    }

    @Test
    void aRestartGetsKeysOfItsOwnAndTheAgentServesTheStore() {
        Map<String, String> variables = map(
                "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=1 TORCHELASTIC_RUN_ID=run TORCHELASTIC_RESTART_COUNT=3 TORCHELASTIC_USE_AGENT_STORE=True");
        LaunchEnvironment launch = LaunchEnvironment.of(variables);
        assertThat(launch.keyPrefix()).isEqualTo("symmem/run/3");
        assertThat(launch.agentStore()).isTrue();
    }

    private static Map<String, String> map(String variables) {
        return java.util.stream.Stream.of(variables.split(" "))
                .map(pair -> pair.split("="))
                .collect(java.util.stream.Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    }
}
