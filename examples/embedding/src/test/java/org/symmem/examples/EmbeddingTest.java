package org.symmem.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.rendezvous.LocalLauncher;

class EmbeddingTest {
    @Test
    void threeRanksSumEachOthersBuffers() throws Exception {
        var lines = new ConcurrentLinkedQueue<String>();
        LocalLauncher.Outcome outcome = new LocalLauncher(3, Map.of(), (rank, line, isError) -> lines.add(line))
                .run(rank -> JavaCommand.of(List.of("-Xcheck:jni"), Embedding.class, List.of()));
        assertThat(outcome.failedRank()).as(outcome.failure() + lines).isEmpty();
        assertThat(lines).contains("rank 0 of 3: the sum of all ranks is 6.0", "rank 1 of 3: the sum of all ranks is 6.0",
                "rank 2 of 3: the sum of all ranks is 6.0");
    }
}
