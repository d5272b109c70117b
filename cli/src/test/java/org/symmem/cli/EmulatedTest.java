package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In processes of their own: a library stays loaded. */
class EmulatedTest {
    @TempDir
    private Path folder;

    @Test
    void infoSaysThatEverythingIsEmulated() throws Exception {
        Symmem.Result result = Symmem.start(folder, "info", "--emulated").end();

        assertThat(result.out()).contains("EMULATED", "device: device 0 (Emulated CUDA device)", "chosen       cuda");
        assertThat(result.err()).contains("EMULATED native libraries");
        assertThat(
                new ObjectMapper().readTree(Symmem.start(folder, "info", "--emulated", "--json").end().out()).get("emulated").asBoolean())
                .isTrue();
    }

    @Test
    void ranksUseTheEmulatedLibraryToo() throws Exception {
        Path input = folder.resolve("input");
        Files.write(input, new byte[3_000_000]);

        Symmem.Result result = Symmem.start(folder, "run", "--emulated", "--backend", "cuda", "--input", input.toString()).end();

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("backend cuda (EMULATED libraries: says nothing about hardware)", "Emulated CUDA device");
        assertThat(result.out().lines().filter(line -> line.endsWith("  yes"))).hasSize(2);
    }

    @Test
    void withoutTheOptionTheMachinesLibraryIsMeant() {
        Symmem.Result result = Symmem.here("info");

        assertThat(result.out()).doesNotContain("EMULATED", "Emulated");
    }

    @Test
    void outsideASourceCheckoutItIsWrongUsage() {
        String home = System.clearProperty("symmem.home");
        try {
            Symmem.Result result = Symmem.here("info", "--emulated");

            assertThat(result.exitCode()).isEqualTo(2);
            assertThat(result.err()).contains("symmem info: --emulated works in a source checkout only");
        } finally {
            System.setProperty("symmem.home", home);
        }
    }
}
