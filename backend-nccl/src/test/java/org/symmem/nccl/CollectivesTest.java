package org.symmem.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** NCCL's own collectives, over emulated libraries, in several processes. */
class CollectivesTest {
    @ParameterizedTest
    @CsvSource({"2, 2.27.7", "3, 2.30.7"})
    void everyRankGetsEveryByteAndNoneBesides(int ranks, String version) throws Exception {
        assertThat(EmulatedRanks.of(CollectivesRank.class, "right").number(ranks).library(EmulatedNccl.version(version)).said())
                .hasSize(ranks)
                .allSatisfy(said -> assertThat(said).contains("all bytes are right"));
    }

    @Test
    void wrongArgumentsAreNamed() throws Exception {
        assertThat(EmulatedRanks.of(CollectivesRank.class, "wrong").said())
                .allSatisfy(said -> assertThat(said).contains("root 2 is not in [0, 2)", "root -1 is not", "this rank's own buffer",
                        "needs a view without gaps", "2 times as many elements"));
    }

    @Test
    void aRefusalNamesTheCallAndItsCode() throws Exception {
        assertThat(EmulatedRanks.of(CollectivesRank.class, "right")
                .environment(Map.of("SYMMEM_EMULATION_FAIL", "call=ncclBroadcast,occurrence=1,code=2"))
                .said()).allSatisfy(said -> assertThat(said).contains("ncclBroadcast failed: ncclSystemError (2)"));
    }
}
