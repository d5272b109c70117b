package org.symmem.interop;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Java ranks under launchers that know nothing of this project: no flag of ours, only what the launcher sets. */
class LaunchersTest {
    @TempDir
    private Path folder;

    @Test
    void ranksOfMpirunMeet() throws Exception {
        Program.assumeInstalled("mpirun");
        List<String> command = new ArrayList<>(List.of("mpirun", "--oversubscribe", "-n", "3", "-x", "MASTER_ADDR=127.0.0.1", "-x",
                "MASTER_PORT=" + Program.freePort()));
        command.addAll(Program.java(LauncherRank.class));

        Program.End end = Program.start(folder, root(), command).end();

        assertThat(end.exitCode()).as(end.output()).isZero();
        assertThat(end.lines("met rank ")).as(end.output())
                .hasSize(3)
                .allMatch(line -> line.matches("met rank [012]/3 group symmem/[^/]+/0 backend host .*"))
                .as("its jobs have keys of their own")
                .noneMatch(line -> line.contains("symmem/job/"));
    }

    @Test
    void mpirunEndsAJobWhoseRankFailsAndRanksSayWhatIsMissing() throws Exception {
        Program.assumeInstalled("mpirun");
        List<String> command = new ArrayList<>(List.of("mpirun", "--oversubscribe", "-n", "2"));
        command.addAll(Program.java(LauncherRank.class));

        Program.End end = Program.start(folder, root(), command).end();

        assertThat(end.exitCode()).isNotZero();
        assertThat(end.output()).contains("MASTER_ADDR is not set", "under mpirun and srun it is yours to set");
    }

    /** Debian's mpirun refuses root, which builds in containers often are, unless it is told twice. */
    private static Map<String, String> root() {
        return Map.of("OMPI_ALLOW_RUN_AS_ROOT", "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    }

    @Test
    void aPortOnWhichAWebServerAnswersIsSaid() throws Exception {
        HttpServer web = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        web.start();
        try {
            Map<String, String> variables = Map.of("RANK", "1", "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1", "MASTER_PORT",
                    Integer.toString(web.getAddress().getPort()), "SYMMEM_TIMEOUT", "2");

            Program.End end = Program.start(folder, variables, Program.java(LauncherRank.class)).end();

            assertThat(end.exitCode()).isEqualTo(1);
            assertThat(end.output()).contains("what listens on 127.0.0.1:" + web.getAddress().getPort()
                    + " does not answer a greeting as a store does", "Is another program on MASTER_PORT?", "SM-E-STORE-1");
        } finally {
            web.stop(0);
        }
    }

    @Test
    void ranksThatGetTheVariablesOfSrunMeet() throws Exception {
        int port = Program.freePort();
        List<Program> ranks = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            Map<String, String> variables = new HashMap<>(Map.of("SLURM_PROCID", Integer.toString(rank), "SLURM_NTASKS", "2",
                    "SLURM_LOCALID", Integer.toString(rank), "SLURM_JOB_ID", "4711", "SLURM_STEP_ID", "0"));
            variables.putAll(Map.of("MASTER_ADDR", "localhost", "MASTER_PORT", Integer.toString(port)));
            ranks.add(Program.start(folder, variables, Program.java(LauncherRank.class)));
        }
        for (int rank = 0; rank < 2; rank++) {
            Program.End end = ranks.get(rank).end();
            assertThat(end.exitCode()).as(end.output()).isZero();
            assertThat(end.output()).contains("met rank " + rank + "/2 group symmem/4711.0/0 backend host");
        }
    }
}
