package org.symmem.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two processes over emulated libraries: each way to be refused is told to both, and ends no process. */
class OpeningTest {
    @ParameterizedTest
    @ValueSource(strings = {"2.27.7", "2.28.9", "2.29.3", "2.30.7"})
    void everyVersionSharesATensor(String version) throws Exception {
        List<String> said = ranks(EmulatedNccl.version(version), Map.of("SYMMEM_EMULATION_DEVICES", "2"));
        assertThat(said.get(0)).contains("peer has 8");
        assertThat(said.get(1)).contains("peer has 7");
    }

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
    void oneDeviceForTwoIsRefusedToBoth() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.28.9"), Map.of("SYMMEM_EMULATION_DEVICES", "1")))
                .allSatisfy(said -> assertThat(said).contains("ranks 0 and 1", "needs 2.30.3, found 2.28.9", "[SM-E-NCCL-2]"));
    }

    @Test
    void oneDeviceForTwoIsAllowedFrom2303IfSwitchedOn() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.30.7"), Map.of("SYMMEM_EMULATION_DEVICES", "1", "NCCL_MULTI_RANK_GPU_ENABLE", "1")))
                .allSatisfy(said -> assertThat(said).contains("peer has"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"NCCL_WIN_ENABLE", "NCCL_CUMEM_ENABLE"})
    void aSwitchThatTakesWindowsAwayIsNamed(String variable) throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.28.9"), Map.of("SYMMEM_EMULATION_DEVICES", "2", variable, "0")))
                .allSatisfy(said -> assertThat(said).contains(variable + " is 0", "[SM-E-NCCL-1]"));
    }

    @Test
    void aNullWindowOnOneRankIsAnErrorOnBoth() throws Exception {
        assertThat(ranks(EmulatedNccl.version("2.29.3"),
                Map.of("SYMMEM_EMULATION_DEVICES", "2", "SYMMEM_EMULATION_NCCL_NULL_WINDOW", "1")))
                .allSatisfy(said -> assertThat(said).contains("rank 1", "[SM-E-NCCL-1]"));
    }

    @Test
    void aMissingLibraryIsAnAnswer() throws Exception {
        assertThat(ranks("/nonexistent/libnccl.so.2", Map.of("SYMMEM_EMULATION_DEVICES", "2")))
                .allSatisfy(said -> assertThat(said).contains("/nonexistent/libnccl.so.2", "[SM-E-BACKEND-2]"));
    }

    private static List<String> ranks(String library, Map<String, String> environment) throws IOException, InterruptedException {
        return EmulatedRanks.of(OpeningRank.class).library(library).environment(environment).said();
    }
}
