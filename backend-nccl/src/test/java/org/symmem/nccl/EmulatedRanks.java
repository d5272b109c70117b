package org.symmem.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.symmem.rendezvous.JavaCommand;

/** Ranks of a test program, each a process over emulated libraries, with a device each unless the environment says otherwise. */
record EmulatedRanks(Class<?> program, List<String> arguments, int number, String library, List<String> flags,
        Map<String, String> environment) {
    static EmulatedRanks of(Class<?> program, String... arguments) {
        return new EmulatedRanks(program, List.of(arguments), 2, EmulatedNccl.version("2.28.9"), List.of(), Map.of());
    }

    EmulatedRanks number(int ranks) {
        return new EmulatedRanks(program, arguments, ranks, library, flags, environment);
    }

    EmulatedRanks library(String file) {
        return new EmulatedRanks(program, arguments, number, file, flags, environment);
    }

    EmulatedRanks flags(String... more) {
        return new EmulatedRanks(program, arguments, number, library, List.of(more), environment);
    }

    EmulatedRanks environment(Map<String, String> variables) {
        return new EmulatedRanks(program, arguments, number, library, flags, variables);
    }

    /** {@return what each rank printed; all ended well} */
    List<String> said() throws IOException, InterruptedException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        List<Process> processes = new ArrayList<>();
        for (int rank = 0; rank < number; rank++) {
            List<String> all = new ArrayList<>(
                    List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dsymmem.backend=nccl",
                            "-Dsymmem.cuda.path=" + EmulatedNccl.driver(), "-Dsymmem.nccl.path=" + library));
            all.addAll(flags);
            ProcessBuilder builder = new ProcessBuilder(JavaCommand.of(all, program, arguments));
            Map<String, String> variables = new HashMap<>(Map.of("SYMMEM_EMULATION_DEVICES", "" + number));
            variables.putAll(environment);
            variables.putAll(Map.of("RANK", "" + rank, "WORLD_SIZE", "" + number, "LOCAL_RANK", "" + rank, "MASTER_ADDR", "127.0.0.1",
                    "MASTER_PORT", "" + port));
            builder.environment().putAll(variables);
            processes.add(builder.redirectErrorStream(true).start());
        }
        List<String> said = new ArrayList<>();
        for (Process process : processes) {
            said.add(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(said.toString()).isZero();
        }
        return said;
    }
}
