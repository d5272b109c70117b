package org.symmem.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.symmem.rendezvous.JavaCommand;
import org.symmem.tck.mutant.Mutant;
import org.symmem.tck.mutant.MutantProvider;

/** What the kit does around the rules: skip, promise, restart, and keep evidence. */
class KitTest {
    @Test
    void anUnavailableBackendIsSkippedWithItsReasonAndAskedOnce() {
        KitRun run = KitRun.of(Map.of(), "SM-CAP-1", "SM-RDV-1");

        assertThat(run.statuses()).containsExactly(Status.ABORTED, Status.ABORTED);
        assertThat(run.messages()).allSatisfy(message -> assertThat(message).contains("not applicable: backend mutant is unavailable")
                .contains("no mutant is asked for by " + MutantProvider.PROPERTY));
    }

    @Test
    void aPromisedBackendThatIsUnavailableFails() {
        KitRun run = KitRun.of(Map.of(TckSettings.REQUIRE, "host, mutant"), "SM-CAP-1");

        assertThat(run.statuses()).containsExactly(Status.FAILED);
        assertThat(run.messages().getFirst()).contains("backend mutant was promised by symmem.tck.require and is unavailable")
                .contains("no mutant is asked for");
    }

    @Test
    void fewerRanksThanPromisedFail() {
        KitRun run = KitRun.of(Map.of(TckSettings.REQUIRE, "mutant:4", "symmem.tck.ranks", "1"), "SM-CAP-1");

        assertThat(run.statuses()).containsExactly(Status.FAILED);
        assertThat(run.messages().getFirst()).contains("promises 4 ranks").contains("started with 1");
    }

    @Test
    void aPromiseIsReadOrRefused() {
        assertThat(Promise.of("cuda", "host,cuda:2")).contains(new Promise("cuda", 2));
        assertThat(Promise.of("cuda", "host")).isEqualTo(Optional.empty());
        for (String wrong : List.of("cuda:0", "cuda:many", "cuda:2:3", "CUDA")) {
            assertThatThrownBy(() -> Promise.of("cuda", wrong)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining(wrong);
        }
    }

    @Test
    void ranksThatDoNotComeUpTwiceAreNotStartedForEveryRule() {
        KitRun run = KitRun.of(Map.of(MutantProvider.PROPERTY, Mutant.THROWS_WHEN_OPENED.name(), "symmem.tck.ranks", "1"), "SM-CAP-1",
                "SM-CAP-2", "SM-CAP-3");

        assertThat(run.statuses()).containsExactly(Status.FAILED, Status.FAILED, Status.FAILED);
        assertThat(run.messages().getLast()).contains("did not come up 2 times in a row").contains("open was written in a hurry");
    }

    @Test
    void aRuleAfterOneThatKilledItsRanksGetsNewOnesAndEvidenceIsKept() throws IOException {
        KitRun run = KitRun.of(Map.of(MutantProvider.PROPERTY, Mutant.EXITS_IN_RENDEZVOUS.name(), TckSettings.TIMEOUT_MULTIPLIER, "0.5"),
                "SM-RDV-1", "SM-CAP-2");

        assertThat(run.statuses()).containsExactlyInAnyOrder(Status.FAILED, Status.SUCCESSFUL);
        Path kept = MutantTck.OUTPUT.resolve("mutant-2").resolve("SM-RDV-1");
        assertThat(Files.readString(kept.resolve("rank-1-state.txt"))).contains("ended with exit code 3");
        assertThat(Files.readString(kept.resolve("rank-1.log"))).contains("a native library has had enough");
        assertThat(Files.readString(kept.resolve("rank-0-state.txt"))).contains("Thread[", "descriptors:");
        assertThat(ProcessHandle.current().descendants()).as("processes left behind").isEmpty();
    }

    @Test
    void aChildProcessThatIsLeftRunningIsALeak() throws Exception {
        OpenResources before = OpenResources.now();
        Process child = new ProcessBuilder("sleep", "60").start();
        try {
            assertThat(OpenResources.now().moreThan(before)).anyMatch(leak -> leak.startsWith("child process: "));
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    @Test
    void ranksFollowAKitThatIsKilled() throws Exception {
        Process kit = new ProcessBuilder(
                JavaCommand.of(List.of("-D" + TckSettings.TIMEOUT_MULTIPLIER + "=0.3"), KitToKill.class, List.of()))
                .redirectError(Redirect.DISCARD)
                .start();
        try (BufferedReader output = kit.inputReader()) {
            assertThat(output.readLine()).isEqualTo("up: host memory");
            List<ProcessHandle> ranks = kit.descendants().toList();
            assertThat(ranks).hasSize(2);

            kit.destroyForcibly().waitFor();

            for (ProcessHandle rank : ranks) {
                rank.onExit().get(30, TimeUnit.SECONDS);
            }
        } finally {
            kit.destroyForcibly();
        }
    }
}
