package org.symmem.interop;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A process of a test: its output in a file, and an end within a minute or two. */
record Program(Process process, Path output) {
    /** The variables by which a launcher says who a rank is; those of a launcher around the build must not reach a test. */
    private static final List<String> LAUNCHERS = List.of("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "TORCHELASTIC_", "OMPI_", "PMIX_",
            "SLURM_");

    /** How it ended and what it printed. */
    record End(int exitCode, String output) {
        List<String> lines(String beginning) {
            return output.lines().filter(line -> line.startsWith(beginning)).toList();
        }
    }

    static Program start(Path folder, Map<String, String> variables, List<String> command) throws IOException {
        File output = Files.createTempFile(folder, "output", ".txt").toFile();
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output);
        builder.environment().keySet().removeIf(name -> LAUNCHERS.stream().anyMatch(name::startsWith));
        builder.environment().putAll(variables);
        return new Program(builder.start(), output.toPath());
    }

    End end() throws IOException, InterruptedException {
        if (!process.waitFor(150, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new AssertionError("it did not end; it printed " + Files.readString(output));
        }
        return new End(process.exitValue(), Files.readString(output));
    }

    /** {@return the command of a Java rank, with no flag of this project} */
    static List<String> java(Class<?> rank, String... arguments) {
        List<String> command = new ArrayList<>(List.of(ownJava(), "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xcheck:jni",
                "-cp", System.getProperty("java.class.path"), rank.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    static String ownJava() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Skips the test if a program is not installed, unless {@code SYMMEM_TEST_REQUIRE} promises it. */
    static void assumeInstalled(String program) {
        boolean there = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
        String promised = System.getenv().getOrDefault("SYMMEM_TEST_REQUIRE", "");
        if (!there && List.of(promised.split(",")).contains(program)) {
            throw new AssertionError(program + " is not on the PATH, and SYMMEM_TEST_REQUIRE=" + promised + " says that it is");
        }
        assumeTrue(there, program + " is not installed");
    }
}
