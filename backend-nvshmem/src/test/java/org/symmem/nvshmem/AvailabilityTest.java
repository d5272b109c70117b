package org.symmem.nvshmem;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.symmem.rendezvous.JavaCommand;

/** What the backend answers where the library is missing or wrong: the rule SM-CAP-8. Each answer in its own process, twice. */
class AvailabilityTest {
    private static final Path EMULATED = Path.of(System.getProperty(NvshmemLibrary.PATH_PROPERTY)).normalize();

    @TempDir
    Path folder;

    /** Asks twice, since a library that cannot be loaded may fail in another way the second time. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] arguments) {
            System.out.println(new NvshmemBackendProvider().availability());
            System.out.println(new NvshmemBackendProvider().availability());
        }
    }

    @Test
    void theLibraryIsFoundByFileAndByFolder() throws Exception {
        for (Path path : List.of(EMULATED, EMULATED.resolve("libnvshmem_host.so.3"))) {
            assertThat(answers(Map.of(), path.toString())).hasSize(2)
                    .allSatisfy(answer -> assertThat(answer).startsWith("Available[version=NVSHMEM 3.4.5")
                            .contains(EMULATED.resolve("nvshmem_bootstrap_uid.so.3").toString()));
        }
    }

    @Test
    void theLibraryIsFoundByItsVariableAndInAPythonEnvironment() throws Exception {
        Path wheel = Files.createDirectories(folder.resolve("lib/python3.12/site-packages/nvidia/nvshmem/lib"));
        for (String file : List.of("libnvshmem_host.so.3", "nvshmem_bootstrap_uid.so.3")) {
            Files.copy(EMULATED.resolve(file), wheel.resolve(file));
        }

        assertThat(answers(Map.of("SYMMEM_NVSHMEM_PATH", EMULATED.toString()), null)).allMatch(answer -> answer.startsWith("Available["));
        assertThat(answers(Map.of("VIRTUAL_ENV", folder.toString()), null))
                .allSatisfy(
                        answer -> assertThat(answer).startsWith("Available[").contains(wheel.resolve("libnvshmem_host.so.3").toString()));
    }

    @Test
    void noLibraryIsAnAnswerWithThePlacesThatWereTried() throws Exception {
        assertAnswers(Map.of("HOME", folder.toString()), null, "libnvshmem_host.so.3 not found by the dynamic loader",
                "site-packages/nvidia/nvshmem/lib", "symmem.nvshmem.path", "SYMMEM_NVSHMEM_PATH");
    }

    @Test
    void aSettingThatIsWrongIsNotPassedOver() throws Exception {
        assertAnswers(Map.of("SYMMEM_NVSHMEM_PATH", EMULATED.toString()), "/nowhere/libnvshmem_host.so.3",
                "/nowhere/libnvshmem_host.so.3 does not exist", "named by the property symmem.nvshmem.path");
    }

    @Test
    void aFileOfAnotherArchitectureIsNamedSo() throws Exception {
        byte[] library = Files.readAllBytes(EMULATED.resolve("libnvshmem_host.so.3"));
        byte foreign = (byte) (System.getProperty("os.arch").equals("aarch64") ? 62 : 183);
        library[18] = foreign;
        Path other = Files.write(folder.resolve("libnvshmem_host.so.3"), library);

        assertAnswers(Map.of(), other.toString(), other + " is for the architecture " + (foreign == 62 ? "x86_64" : "aarch64"));
    }

    @Test
    void aFileThatIsNoLibraryIsNamedSo() throws Exception {
        Path text = Files.writeString(folder.resolve("libnvshmem_host.so.3"), "version https://git-lfs.github.com/spec/v1");

        assertAnswers(Map.of(), text.toString(), text + " is no shared library");
    }

    @Test
    void aLibraryThatIsNotNvshmemLacksItsFunctions() throws Exception {
        assertAnswers(Map.of(), System.getProperty("symmem.cuda.path"), "lacks functions that this backend needs: nvshmemx_get_uniqueid");
    }

    @Test
    void aFunctionThatIsMissingIsNamed() throws Exception {
        assertAnswers(Map.of(), EMULATED.resolve("incomplete").toString(), "lacks functions that this backend needs: nvshmem_ptr;");
    }

    @Test
    void aLibraryThatIsTooOldIsNamedWithBothVersions() throws Exception {
        assertAnswers(Map.of("SYMMEM_EMULATION_NVSHMEM_VERSION", "2.11.0"), EMULATED.toString(), "is NVSHMEM 2.11.0, older than 3.0.0");
    }

    @Test
    void aLibraryWithoutItsPluginIsAnAnswer() throws Exception {
        assertAnswers(Map.of(), EMULATED.resolve("lonely").toString(), "NVSHMEM 3.4.5",
                "has no bootstrap plugin nvshmem_bootstrap_uid.so.3",
                "NVSHMEM_BOOTSTRAP_UID_PLUGIN");
        assertAnswers(Map.of("NVSHMEM_BOOTSTRAP_UID_PLUGIN", "/nowhere/plugin.so"), EMULATED.toString(), "has no bootstrap plugin");
    }

    @Test
    void thePluginMayBeTheUsers() throws Exception {
        Path plugin = Files.copy(EMULATED.resolve("nvshmem_bootstrap_uid.so.3"), folder.resolve("mine.so"));

        assertThat(answers(Map.of("NVSHMEM_BOOTSTRAP_UID_PLUGIN", plugin.toString()), EMULATED.resolve("lonely").toString()))
                .allSatisfy(answer -> assertThat(answer).startsWith("Available[").contains(plugin.toString()));
    }

    @Test
    void noDeviceIsAnAnswer() throws Exception {
        assertAnswers(Map.of("SYMMEM_EMULATION_DEVICES", "0"), EMULATED.toString(), "no CUDA device is visible");
    }

    @Test
    void aFolderForTemporaryFilesThatIsNotThereIsAnAnswer() throws Exception {
        assertThat(answers(Map.of(), EMULATED.toString(), "-Djava.io.tmpdir=" + folder.resolve("gone"))).hasSize(2)
                .allSatisfy(answer -> assertThat(answer).startsWith("Unavailable[").contains("cannot be loaded from", "java.io.tmpdir"));
    }

    @Test
    void loadingLeavesNoFile() throws Exception {
        assertThat(answers(Map.of(), EMULATED.toString(), "-Djava.io.tmpdir=" + folder))
                .allMatch(answer -> answer.startsWith("Available["));

        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }

    private static void assertAnswers(Map<String, String> environment, String path, String... reason) throws Exception {
        assertThat(answers(environment, path)).hasSize(2)
                .allSatisfy(answer -> assertThat(answer).startsWith("Unavailable[").contains(reason));
    }

    private static List<String> answers(Map<String, String> environment, String path, String... flags)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(JavaCommand.of(List.of("-XX:TieredStopAtLevel=1", "-Xcheck:jni"), Probe.class, List.of()));
        command.removeIf(argument -> argument.startsWith("-D" + NvshmemLibrary.PATH_PROPERTY + "="));
        if (path != null) {
            command.add(command.indexOf("-cp"), "-D" + NvshmemLibrary.PATH_PROPERTY + "=" + path);
        }
        command.addAll(command.indexOf("-cp"), List.of(flags));
        if (environment.containsKey("HOME")) {
            command.add(command.indexOf("-cp"), "-Duser.home=" + environment.get("HOME"));
        }
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().putAll(environment);
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output.lines().filter(line -> line.contains("vailable[")).toList();
    }
}
