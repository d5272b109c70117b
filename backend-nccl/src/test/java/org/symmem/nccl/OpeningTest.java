package org.symmem.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.symmem.Support;

/** Two processes over emulated libraries: each way to be refused is told to both, and ends no process. */
class OpeningTest {
    private static final String CLEAN = "nothing is alive";

    /** JavaCPP counts what the whole process has resident, which with a device is much, against a multiple of the heap. */
    @Test
    void aSmallHeapIsEnoughWhereTheProcessHasMuchMemoryResident() throws Exception {
        assertThat(EmulatedRanks.of(OpeningRank.class)
                .number(1)
                .flags("-Xmx32m", "-Xss512k")
                .environment(Map.of("SYMMEM_EMULATION_NCCL_RESIDENT_MIB", "300"))
                .said()).allSatisfy(said -> assertThat(said).contains("peer has 7"));
    }

    @Test
    void oneDeviceForTwoIsRefusedToBothAtOnce() throws Exception {
        long start = System.nanoTime();
        assertThat(ranks(EmulatedNccl.version("2.28.9"), Map.of("SYMMEM_EMULATION_DEVICES", "1")))
                .allSatisfy(said -> assertThat(said).contains("ranks 0 and 1", "needs 2.30.3, found 2.28.9", "[SM-E-NCCL-2]", CLEAN));
        assertThat(Duration.ofNanos(System.nanoTime() - start)).as("the whole life of both processes").isLessThan(Duration.ofSeconds(15));
    }

    @Test
    void oneDeviceForTwoIsAllowedFrom2303IfSwitchedOn() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.30.7"), Map.of("SYMMEM_EMULATION_DEVICES", "1", "NCCL_MULTI_RANK_GPU_ENABLE", "1")))
                .allSatisfy(said -> assertThat(said).contains("peer has", CLEAN));
    }

    @ParameterizedTest
    @CsvSource({"22907, 1, 'needs 2.30.3, found 2.29.7'", "23003, , 'unless NCCL_MULTI_RANK_GPU_ENABLE is 1'",
        "23007, 0, 'unless NCCL_MULTI_RANK_GPU_ENABLE is 1'"})
    void oneDeviceForTwoIsRefusedOtherwise(int version, String setting, String reason) {
        Support support = NcclBackend.sharedDevice(new NcclVersion(version), setting);
        assertThat(support.supported()).isFalse();
        assertThat(support.explanation()).contains(reason);
    }

    /** Before 2.29 NCCL answers with something that looks like a window. */
    @ParameterizedTest
    @CsvSource({"2.27.7, NCCL_WIN_ENABLE=0, NCCL_WIN_ENABLE is 0", "2.30.7, NCCL_CUMEM_ENABLE=0, NCCL_CUMEM_ENABLE is 0",
        "2.28.9, SYMMEM_EMULATION_PEER_ACCESS=0, has no peer access to device 1 (cuDeviceCanAccessPeer)",
        "2.29.3, NCCL_LSA_TEAM_SIZE=1, so the ranks are several teams"})
    void withoutWindowsTheReasonIsNamedOnBoth(String version, String setting, String reason) throws Exception {
        String[] variable = setting.split("=");
        assertThat(ranks(EmulatedNccl.version(version), Map.of(variable[0], variable[1]))).allSatisfy(said -> assertThat(said)
                .contains("NCCL has no symmetric windows for these ranks: rank 0 on host", reason, "[SM-E-NCCL-1]", CLEAN));
    }

    @Test
    void oneRankWithoutWindowsIsToldTheSame() throws Exception {
        assertThat(EmulatedRanks.of(OpeningRank.class).number(1).environment(Map.of("NCCL_WIN_ENABLE", "0")).said())
                .allSatisfy(said -> assertThat(said).contains("rank 0 on host", "NCCL_WIN_ENABLE is 0", "[SM-E-NCCL-1]", CLEAN));
    }

    @Test
    void ranksOutOfReachOfNcclsAddressesAreReachedByTheirHandles() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.29.3"), Map.of("NCCL_LSA_TEAM_SIZE", "1", "SYMMEM_EMULATION_NCCL_GIN", "1")))
                .allSatisfy(said -> assertThat(said).contains("peer has", CLEAN));
    }

    /** The granularity of multicast is a multiple of NCCL's. */
    @Test
    void devicesWithMulticastShareATensor() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.28.9"), Map.of("SYMMEM_EMULATION_MULTICAST", "1")))
                .allSatisfy(said -> assertThat(said).contains("peer has", CLEAN));
    }

    @Test
    void aNullWindowOnOneRankIsAnErrorOnBoth() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.29.3"), Map.of("SYMMEM_EMULATION_NCCL_NULL_WINDOW", "1")))
                .allSatisfy(said -> assertThat(said).contains("rank 1", "[SM-E-NCCL-1]", CLEAN));
    }

    @Test
    void aMissingLibraryIsAnAnswer() throws Exception {
        assertThat(EmulatedRanks.of(OpeningRank.class, "unusable").library("/nonexistent/libnccl.so.2").said())
                .allSatisfy(said -> assertThat(said).contains("/nonexistent/libnccl.so.2", "[SM-E-BACKEND-2]"));
    }

    /** To load what there is of it would end the process. */
    @Test
    void aLibraryThatIsCutOffIsAnAnswer(@TempDir Path folder) throws Exception {
        byte[] whole = Files.readAllBytes(Path.of(EmulatedNccl.version("2.28.9")));
        Path part = Files.write(folder.resolve("libnccl.so.2"), Arrays.copyOf(whole, 4000));
        assertThat(EmulatedRanks.of(OpeningRank.class, "unusable").library(part.toString()).said())
                .allSatisfy(said -> assertThat(said).contains(part + " is cut off", "[SM-E-BACKEND-2]"));
    }

    @Test
    void aLibraryBeforeWindowsIsAnAnswer() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.26.5"), Map.of())).allSatisfy(said -> assertThat(said)
                .contains("NCCL 2.26.5 at " + EmulatedNccl.version("2.26.5"), "older than 2.27.3", "[SM-E-BACKEND-2]", CLEAN));
    }

    @Test
    void aMachineWithoutADriverIsAnAnswer() throws Exception {
        assertThat(EmulatedRanks.of(OpeningRank.class, "unusable").flags("-Dsymmem.cuda.path=/nonexistent/libcuda.so.1").said())
                .allSatisfy(said -> assertThat(said).contains("/nonexistent/libcuda.so.1 not found", "[SM-E-BACKEND-2]"));
    }

    private static List<String> ranks(String library, Map<String, String> environment) throws IOException, InterruptedException {
        return EmulatedRanks.of(OpeningRank.class).library(library).environment(environment).said();
    }
}
