package org.symmem.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
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
    void ranksMeetOverTcpAndTheStoreDoesNotGrow() throws Exception {
        try (TcpStoreServer server = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                StoreLimits.defaults());
                TcpStore store = TcpStore.connect("127.0.0.1", server.port(), SOON)) {
            ThreadRanks.run(3, store, "g", SOON, group -> {
                for (int i = 0; i < 1000; i++) {
                    assertThat(group.allGather("step", of(i + group.rank()), SOON)).containsExactly(of(i), of(i + 1), of(i + 2));
                }
                return null;
            });
            assertThat(store.keyCount()).isLessThanOrEqualTo(2 * 3 + 4);
        }
    }

    @Test
    void aRankThatComesAfterTheOthersHaveGivenUpFailsToo() throws Exception {
        CountDownLatch givenUp = new CountDownLatch(2);
        List<DeadlineException> errors = ThreadRanks.run(3, new InMemoryStore(), "g", SOON, group -> {
            group.allGather("first", of(0), SOON);
            if (group.rank() == 1) {
                givenUp.await();
            }
            DeadlineException error = catchThrowableOfType(DeadlineException.class,
                    () -> group.allGather("loading", of(0), Duration.ofMillis(50)));
            givenUp.countDown();
            // All are at the same place again.
            assertThat(group.allGather("later", of(group.rank()), SOON)).containsExactly(of(0), of(1), of(2));
            return error;
        });
        assertThat(errors).allSatisfy(error -> assertThat(error.missingRanks()).containsExactly(1));
        assertThat(errors.get(1)).hasMessageContaining("loading").hasMessageContaining("ranks [0, 2]").hasMessageContaining("given up");
    }

    @Test
    void aRankThatIsLateWithinTheDeadlineIsAwaited() throws Exception {
        InMemoryStore store = new InMemoryStore();
        ThreadRanks.run(2, store, "g", SOON, group -> {
            if (group.rank() == 1) {
                store.await(List.of("g/0/0"), SOON);
            }
            assertThat(group.allGather("step", of(group.rank()), SOON)).containsExactly(of(0), of(1));
            return null;
        });
    }

    @Test
    void aMissingRankIsNamed() throws Exception {
        List<DeadlineException> errors = ThreadRanks.run(3, new InMemoryStore(), "g", SOON,
                group -> group.rank() == 1 ? null
                        : catchThrowableOfType(DeadlineException.class, () -> group.allGather("loading", of(0), Duration.ofMillis(100))));
        assertThat(errors.get(0).missingRanks()).containsExactly(1);
        assertThat(errors.get(2)).hasMessageContaining("[1]")
                .hasMessageContaining("loading")
                .hasMessageContaining("rank 2/3")
                .hasMessageContaining("100 ms")
                .hasMessageContaining("InMemoryStore");
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
        InMemoryStore store = new InMemoryStore();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            // The one that waits for a rank which never comes is there first.
            Future<?> third = threads.submit(() -> disagree(store, 2, 3));
            store.await(List.of("g/roll/2"), SOON);
            List<Future<?>> others = List.of(threads.submit(() -> disagree(store, 0, 2)), threads.submit(() -> disagree(store, 1, 2)));
            for (Future<?> one : List.of(third, others.get(0), others.get(1))) {
                one.get();
            }
        }
    }

    @Test
    void ranksThatCouldMeetHearOfOneThatCountsAnotherWorld() throws Exception {
        InMemoryStore store = new InMemoryStore();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            Future<?> first = threads.submit(() -> disagree(store, 0, 2));
            store.await(List.of("g/roll/0"), SOON);
            disagree(store, 2, 3);
            disagree(store, 1, 2);
            first.get();
        }
    }

    private static void disagree(KeyValueStore store, int rank, int worldSize) {
        try (ProcessGroup group = ProcessGroups.over(store, "g", rank, worldSize, rank, SOON)) {
            assertThatThrownBy(() -> group.allGather("step", of(0), SOON)).isInstanceOf(RanksDisagreeException.class)
                    .hasMessageContaining("world size")
                    .hasMessageContainingAll("2", "3");
        }
    }

    @Test
    void twoRanksOfOneNumberAndAllOthersGetAnError() throws Exception {
        InMemoryStore store = new InMemoryStore();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            Future<?> first = threads.submit(() -> taken(store, 0));
            store.await(List.of("g/roll/0"), SOON);
            taken(store, 0);
            taken(store, 1);
            first.get();
        }
    }

    @Test
    void aSecondProcessWithARanksNumberIsFoundHoweverLate() throws Exception {
        InMemoryStore store = new InMemoryStore();
        ThreadRanks.run(2, store, "g", SOON, group -> {
            for (int i = 0; i < 5; i++) {
                group.allGather("step", of(0), SOON);
            }
            return null;
        });
        taken(store, 0);
    }

    private static void taken(KeyValueStore store, int rank) {
        try (ProcessGroup group = ProcessGroups.over(store, "g", rank, 2, rank, SOON)) {
            assertThatThrownBy(() -> group.allGather("step", of(0), SOON)).isInstanceOf(RanksDisagreeException.class)
                    .hasMessageContaining("rank 0 of group g is already taken")
                    .hasMessageContaining("process " + ProcessHandle.current().pid());
        }
    }

    /** The variables of a rank whose rank 0 serves the store. */
    private static Map<String, String> launched(int rank, int port) {
        return map("RANK=" + rank + " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 SYMMEM_TIMEOUT=10 MASTER_PORT=" + port);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Test
    void rankZeroServesTheStoreUntilTheOthersHaveLeft() throws Exception {
        int port = freePort();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            // Rank 1 is there first and tries until rank 0 serves.
            Future<ProcessGroup> early = threads.submit(() -> ProcessGroups.fromEnvironment(launched(1, port)));
            ProcessGroup zero = ProcessGroups.fromEnvironment(launched(0, port));
            ProcessGroup one = early.get();
            Future<List<byte[]>> met = threads.submit(() -> zero.allGather("step", of(0), SOON));
            assertThat(one.allGather("step", of(1), SOON)).containsExactly(of(0), of(1));
            met.get();
            Future<?> leaving = threads.submit(zero::close);
            assertThatThrownBy(() -> leaving.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            try (TcpStore last = TcpStore.connect("127.0.0.1", port, SOON)) {
                assertThat(last.add("still served", 1)).isEqualTo(1);
            }
            one.close();
            leaving.get(5, TimeUnit.SECONDS);
            one.close();
            assertThatThrownBy(() -> one.allGather("step", of(1), SOON)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed: ProcessGroup[symmem/job/0");
        }
    }

    @Test
    void oneOfTwoJobsOnOnePortHearsOfTheOther() throws Exception {
        int port = freePort();
        Map<String, String> other = new HashMap<>(
                map("SLURM_NTASKS=2 MASTER_ADDR=127.0.0.1 SYMMEM_TIMEOUT=10 SLURM_JOB_ID=2 MASTER_PORT=" + port));
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            ProcessGroup zero = ProcessGroups.fromEnvironment(launched(0, port));
            other.put("SLURM_PROCID", "0");
            assertThatThrownBy(() -> ProcessGroups.fromEnvironment(other)).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContainingAll("cannot listen on 127.0.0.1:" + port, "another MASTER_PORT", "SM-E-STORE-3");
            other.put("SLURM_PROCID", "1");
            assertThatThrownBy(() -> ProcessGroups.fromEnvironment(other)).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContainingAll("127.0.0.1:" + port + " belongs to job symmem/job/0, not to symmem/2/0",
                            "a MASTER_PORT of its own", "SM-E-STORE-1");
            // The job whose store it is has not been disturbed.
            ProcessGroup one = ProcessGroups.fromEnvironment(launched(1, port));
            Future<List<byte[]>> met = threads.submit(() -> zero.allGather("step", of(0), SOON));
            assertThat(one.allGather("step", of(1), SOON)).containsExactly(of(0), of(1));
            met.get();
            one.close();
            zero.close();
        }
    }

    @Test
    void aSecondProcessOfOneRankOnOnePortIsSaid() throws Exception {
        int port = freePort();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            // Two jobs that nothing tells apart: the second's rank 1 finds its place taken.
            ProcessGroup zero = ProcessGroups.fromEnvironment(launched(0, port));
            ProcessGroup one = ProcessGroups.fromEnvironment(launched(1, port));
            Future<List<byte[]>> met = threads.submit(() -> zero.allGather("step", of(0), SOON));
            one.allGather("step", of(1), SOON);
            met.get();
            try (ProcessGroup second = ProcessGroups.fromEnvironment(launched(1, port))) {
                assertThatThrownBy(() -> second.allGather("step", of(1), SOON)).isInstanceOf(RanksDisagreeException.class)
                        .hasMessageContaining("rank 1 of group symmem/job/0 is already taken");
            }
            one.close();
            zero.close();
        }
    }

    @Test
    void aWorldOfOneNeedsNoStoreAndNoAddress() {
        try (ProcessGroup alone = ProcessGroups.fromEnvironment(map("RANK=0 WORLD_SIZE=1"))) {
            assertThat(alone.worldSize()).isEqualTo(1);
            assertThat(alone.allGather("step", of(7), SOON)).containsExactly(of(7));
        }
    }

    @Test
    void anAddressThatCannotBeResolvedIsSaidByRankZeroAndByTheOthers() {
        for (int rank = 0; rank < 2; rank++) {
            Map<String, String> variables = new HashMap<>(launched(rank, 29_500));
            variables.put("MASTER_ADDR", "no-such-host.invalid");
            assertThatThrownBy(() -> ProcessGroups.fromEnvironment(variables)).isInstanceOf(SymmetricMemoryException.class)
                    .hasMessageContainingAll("no-such-host.invalid", "MASTER_ADDR", "resolved");
        }
    }

    @ParameterizedTest
    @CsvSource({"RANK=0 WORLD_SIZE=1, job", "RANK=0 WORLD_SIZE=1 TORCHELASTIC_RUN_ID=run, run",
        "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 OMPI_MCA_ess_base_jobid=5 SLURM_JOB_ID=9, 5",
        "SLURM_PROCID=0 SLURM_NTASKS=1 SLURM_JOB_ID=9 SLURM_STEP_ID=3, 9.3"})
    void jobsOfOneLauncherHaveKeysOfTheirOwn(String variables, String job) {
        assertThat(LaunchEnvironment.of(map(variables)).keyPrefix()).isEqualTo("symmem/" + job + "/0");
    }

    @Test
    void aStoreOfTheLauncherIsNotServedTwiceAndItsGroupMayBeJoinedAgain() throws Exception {
        try (TcpStoreServer agent = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                StoreLimits.defaults());
                ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            for (int round = 0; round < 2; round++) {
                List<Future<String>> ranks = new ArrayList<>();
                for (int r = 0; r < 2; r++) {
                    Map<String, String> variables = new HashMap<>(launched(r, agent.port()));
                    variables.putAll(map("TORCHELASTIC_USE_AGENT_STORE=True TORCHELASTIC_RUN_ID=again"));
                    ranks.add(threads.submit(() -> {
                        try (ProcessGroup group = ProcessGroups.fromEnvironment(variables)) {
                            group.allGather("step", of(group.rank()), SOON);
                            return group.name();
                        }
                    }));
                }
                assertThat(ranks.get(0).get()).isEqualTo(ranks.get(1).get()).startsWith("symmem/again/0/");
            }
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
        "RANK=0 WORLD_SIZE=4 SLURM_PROCID=3 SLURM_NTASKS=9 MASTER_ADDR=a MASTER_PORT=65535, 0, 4, 0",
        "SLURM_PROCID=2 SLURM_NTASKS=4 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1, 2, 4, 2",
        "RANK=0 WORLD_SIZE=1, 0, 1, 0"
    })
    void launchersVariablesAreUnderstood(String variables, int rank, int worldSize, int localRank) {
        LaunchEnvironment launch = LaunchEnvironment.of(map(variables));
        assertThat(List.of(launch.rank(), launch.worldSize(), launch.localRank())).containsExactly(rank, worldSize, localRank);
    }

    @ParameterizedTest
    @CsvSource({
        "RANK=2 WORLD_SIZE=2, below WORLD_SIZE=2", "RANK=0 WORLD_SIZE=2 LOCAL_RANK=2, LOCAL_RANK=2", "RANK=0, for instance WORLD_SIZE=1",
        "RANK=0 WORLD_SIZE=2 MASTER_ADDR=a MASTER_PORT=0, MASTER_PORT=0", "RANK=0 WORLD_SIZE=99999999999, WORLD_SIZE=99999999999",
        "OMPI_COMM_WORLD_RANK=5 OMPI_COMM_WORLD_SIZE=4, mpirun sets it", "SLURM_PROCID=x SLURM_NTASKS=4, srun sets it",
        "SLURM_PROCID=1 SLURM_NTASKS=4 WORLD_SIZE=2, WORLD_SIZE=2 and SLURM_NTASKS=4 disagree", "A=1, RANK is not set",
        "WORLD_SIZE=2, RANK is not set", "RANK=0, WORLD_SIZE is not set", "RANK=-1 WORLD_SIZE=2, RANK=-1",
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

    @ParameterizedTest
    @CsvSource({"60, 60000", "2.5, 2500", " 0.001 , 1"})
    void theTimeoutIsInSeconds(String seconds, long millis) {
        assertThat(Settings.timeout(Map.of(Settings.TIMEOUT_VARIABLE, seconds))).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-1", "NaN", "", "60s", "1e300"})
    void aWrongTimeoutIsAnErrorNotTheDefault(String seconds) {
        assertThatThrownBy(() -> Settings.timeout(Map.of(Settings.TIMEOUT_VARIABLE, seconds))).isInstanceOf(SymmetricMemoryException.class)
                .hasMessageContaining("SYMMEM_TIMEOUT")
                .hasMessageContaining("\"" + seconds + "\"");
    }
}
