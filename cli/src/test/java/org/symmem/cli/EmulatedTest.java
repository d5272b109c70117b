package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In processes of their own: a library stays loaded. */
class EmulatedTest {
    @TempDir
    private Path folder;

    @Test
    void infoSaysThatEverythingIsEmulated() throws Exception {
        Symmem.Result result = Symmem.start(folder, "info", "--emulated").end();

        assertThat(result.out()).contains("EMULATED", "device: device 0 (Emulated CUDA device)", "chosen       cuda",
                "available, NCCL 2.28.9 (at ",
                "/nccl/libnccl.so.2; peer pointers from NCCL: needs 2.29.2, found 2.28.9; using the exported "
                        + "memory handles; NCCL refuses two ranks on one device: needs 2.30.3, found 2.28.9)");
        assertThat(result.err()).contains("EMULATED native libraries");
        JsonNode json = new ObjectMapper().readTree(Symmem.start(folder, Map.of("SYMMEM_EMULATION_NCCL_VERSION", "2.26.5"), "info",
                "--emulated", "--json").end().out());
        assertThat(json.get("emulated").asBoolean()).isTrue();
        assertThat(json.get("backends").toString()).contains("NCCL 2.26.5 at ", " is older than 2.27.3");
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
