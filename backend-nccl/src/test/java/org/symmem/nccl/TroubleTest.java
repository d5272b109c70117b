package org.symmem.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes wrong once ranks are at work, over emulated libraries: told to both, and nothing is left. */
class TroubleTest {
    private static final String CLEAN = "nothing is alive";

    private static EmulatedRanks ranks(String mode, String version) {
        return EmulatedRanks.of(TroubleRank.class, mode).library(EmulatedNccl.version(version));
    }

    /** Three of 2 MiB fit. */
    @Test
    void theEndOfTheSymmetricAddressSpaceIsToldToBothAndClosingATensorGivesSpace() throws Exception {
        assertThat(ranks("full", "2.30.7").environment(Map.of("NCCL_WIN_STRIDE", "6291456")).said()).allSatisfy(said -> assertThat(said)
                .contains("3 fit; then: ", "ncclCommWindowRegister failed: ncclSystemError (2)", "NCCL_WIN_STRIDE", "[SM-E-GROUP-2]",
                        "those before: 1", "one more after one was closed: 2", CLEAN));
    }

    /** The other rank waits within the call. */
    @ParameterizedTest
    @CsvSource({"ncclCommInitRank, 1", "ncclCommWindowRegister, 2"})
    void aRankThatFailsWithinACollectiveCallFailsTheOtherInTime(String call, int occurrence) throws Exception {
        assertThat(ranks("half", "2.28.9").environment(
                Map.of("SYMMEM_TIMEOUT", "3", "SYMMEM_EMULATION_FAIL", "call=" + call + ",occurrence=" + occurrence + ",rank=1,code=2"))
                .said()).allSatisfy(
                        one -> assertThat(one)
                                .contains("rank 1", call + " failed: ncclSystemError (2)", "rank 0", "did not come back within", CLEAN));
    }

    @Test
    void aWindowThatCannotBeDeregisteredGoesWithItsCommunicator() throws Exception {
        assertThat(ranks("half", "2.28.9")
                .environment(Map.of("SYMMEM_EMULATION_FAIL", "call=ncclCommWindowDeregister,occurrence=2,rank=1,code=2"))
                .said()
                .get(1)).contains("ncclCommWindowDeregister failed: ncclSystemError (2)", CLEAN);
    }

    /** NCCL's own addresses of the peers, which the later version has, must outlive the communicator's end. */
    @ParameterizedTest
    @ValueSource(strings = {"2.27.7", "2.30.7"})
    void aTensorOutlivesItsBrokenCommunicator(String version) throws Exception {
        List<String> said = ranks("late", version).environment(Map.of("SYMMEM_TIMEOUT", "3")).said();
        assertThat(said.get(0).lines()).anySatisfy(line -> assertThat(line).contains("is not done after 3000 ms",
                version.equals("2.27.7") ? "ncclCommAbort" : "ncclCommRevoke", "[SM-E-STREAM-1]"))
                .anySatisfy(line -> assertThat(line).contains("the view of before: 11.0, a new one: 11.0"))
                .satisfiesOnlyOnce(line -> assertThat(line).startsWith("broadcasting").contains("cannot be used any more", "[SM-E-NCCL-3]"))
                .satisfiesOnlyOnce(line -> assertThat(line).startsWith("allocating").contains("cannot be used any more", "[SM-E-NCCL-3]"));
        assertThat(said).allSatisfy(one -> assertThat(one).contains("signals work", "closed: SymmetricTensor", CLEAN));
    }
}
