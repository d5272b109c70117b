package org.symmem.nvshmem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.rendezvous.StoreLimits;
import org.symmem.rendezvous.TcpStoreServer;

/** How the library is ended, and that nobody hangs who waits for one that is gone; over the emulated library. */
class EndTest {
    private static final SymmetricMemory.Options NVSHMEM = SymmetricMemory.Options.defaults().withBackend("nvshmem");

    /** A program that uses symmetric memory; its last rank may die. */
    static final class Program {
        private Program() {}

        public static void main(String[] arguments) throws Exception {
            try (ProcessGroup group = ProcessGroup.fromEnvironment();
                    SymmetricMemory memory = SymmetricMemory.open(group, NVSHMEM);
                    SymmetricTensor tensor = memory.allocate(Shape.of(100), DataType.UINT8)) {
                tensor.rendezvous();
                tensor.signals().barrier(0, Duration.ofSeconds(10));
                System.out.println("shared");
                if (arguments.length > 0 && group.rank() == group.worldSize() - 1) {
                    new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
                }
            }
            System.out.println("closed");
        }
    }

    /** How a process ended, and what it printed. */
    private record Ended(int exitCode, String output) {}

    @Test
    void allRanksEndAlike() throws Exception {
        assertThat(run(Map.of(), List.of(), 2, 2)).allSatisfy(rank -> {
            assertThat(rank.exitCode()).as(rank.output()).isZero();
            assertThat(rank.output()).contains("shared", "closed").doesNotContain("not ended in order");
        });
    }

    @Test
    void aRankThatDiesHoldsNobodyUp() throws Exception {
        Ended survivor = run(Map.of(), List.of("die"), 2, 2).getFirst();

        assertThat(survivor.exitCode()).as(survivor.output()).isZero();
        assertThat(survivor.output()).contains("shared", "closed", "so they stay in use until the process ends",
                "NVSHMEM is not ended in order");
    }

    @Test
    void aProcessThatTheLibraryEndsSaysSoFirstAndTheOthersGetAnError() throws Exception {
        Map<String, String> ending = Map.of("SYMMEM_EMULATION_NVSHMEM_FAIL", "call=nvshmemx_hostlib_init_attr,rank=1,code=exit");
        List<Ended> ranks = run(ending, List.of(), 2, 2);

        assertThat(ranks.get(1).exitCode()).isEqualTo(255);
        assertThat(ranks.get(1).output()).contains("symmem: NVSHMEM has ended this process from inside nvshmemx_hostlib_init_attr "
                + "(rank 1/2 on host", "SM-E-NVSHMEM-2");
        assertThat(ranks.get(0).exitCode()).isEqualTo(1);
        assertThat(ranks.get(0).output()).contains("since ranks [1] have ended");
    }

    @Test
    void aWorldSizeThatDoesNotMatchIsAnErrorOfAll() throws Exception {
        assertThat(run(Map.of(), List.of(), 2, 3)).allSatisfy(rank -> {
            assertThat(rank.exitCode()).isNotZero();
            assertThat(rank.output()).contains("SM-E-GROUP-").doesNotContain("shared");
        });
    }

    /** Runs the program with two processes, each told its own size of the world. */
    private static List<Ended> run(Map<String, String> variables, List<String> arguments, int... worldSizes) throws Exception {
        List<Ended> ended = new ArrayList<>();
        List<Process> processes = new ArrayList<>();
        try (TcpStoreServer store = TcpStoreServer.start(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                StoreLimits.defaults())) {
            for (int rank = 0; rank < worldSizes.length; rank++) {
                Map<String, String> environment = new HashMap<>(Map.of("RANK", Integer.toString(rank), "WORLD_SIZE",
                        Integer.toString(worldSizes[rank]), "LOCAL_RANK", Integer.toString(rank), "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
                        Integer.toString(store.port()), "TORCHELASTIC_USE_AGENT_STORE", "True"));
                List<String> flags = List.of("-XX:TieredStopAtLevel=1", "-Dsymmem.timeout=4");
                ProcessBuilder builder = new ProcessBuilder(JavaCommand.of(flags, Program.class, arguments)).redirectErrorStream(true);
                builder.environment().putAll(variables);
                builder.environment().putAll(environment);
                processes.add(builder.start());
            }
            for (Process process : processes) {
                String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
                ended.add(new Ended(process.exitValue(), output));
            }
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
        return ended;
    }

    /** In this process, which has its turn with that. */
    @Test
    void aProcessHasOneWorldInItsLife() {
        try (ProcessGroup alone = ProcessGroups.alone();
                SymmetricMemory memory = SymmetricMemory.open(alone, NVSHMEM);
                SymmetricTensor tensor = memory.allocate(Shape.of(10), DataType.UINT8)) {
            tensor.rendezvous();
        }

        try (ProcessGroup alone = ProcessGroups.alone()) {
            assertThatThrownBy(() -> SymmetricMemory.open(alone, NVSHMEM)).hasMessageContainingAll("NVSHMEM runs once a process",
                    "NVSHMEM was ended in this process when its last symmetric memory was closed", "SM-E-NVSHMEM-1");
        }
    }
}
