package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LaunchCommandTest {
    @Test
    void eachLineBeginsWithItsRankAndRanksKnowWhoTheyAre() {
        Symmem.Result result = Symmem.here("launch", "--ranks", "3", "--", "sh", "-c",
                "echo $RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE, $MASTER_ADDR, $TORCHELASTIC_USE_AGENT_STORE; printf unended >&2");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out().lines()).containsExactlyInAnyOrder("[0] 0 of 3, 0 of 3, 127.0.0.1, True",
                "[1] 1 of 3, 1 of 3, 127.0.0.1, True", "[2] 2 of 3, 2 of 3, 127.0.0.1, True");
        assertThat(result.err().lines()).containsExactlyInAnyOrder("[0] unended", "[1] unended", "[2] unended");
    }

    @Test
    void theFirstFailureEndsTheOthersAndGivesTheExitCode() {
        long start = System.nanoTime();

        Symmem.Result result = Symmem.here("launch", "--ranks", "2", "--", "sh", "-c", "[ $RANK = 1 ] && exit 7; sleep 100");

        assertThat(result.exitCode()).isEqualTo(7);
        assertThat(result.err()).contains("symmem launch: rank 1 (process ", "ended with exit code 7");
        assertThat(System.nanoTime() - start).isLessThan(30_000_000_000L);
        assertThat(ProcessHandle.current().descendants()).noneMatch(ProcessHandle::isAlive);
    }

    @Test
    void aRankThatIgnoresTheRequestToEndIsKilled() {
        Symmem.Result result = Symmem.here("launch", "--ranks", "2", "--", "sh", "-c",
                "trap '' TERM; [ $RANK = 0 ] && kill -9 $$; sleep 100; sleep 100");

        assertThat(result.exitCode()).isEqualTo(137);
        assertThat(result.err()).contains("rank 0 (process ", "signal 9 (SIGKILL)");
        assertThat(ProcessHandle.current().descendants()).noneMatch(ProcessHandle::isAlive);
    }

    @Test
    void aCommandThatReadsItsInputFindsItEmpty() {
        assertThat(Symmem.here("launch", "--", "cat").exitCode()).isZero();
    }

    @Test
    void theKernelEndsTheRanksOfALauncherThatIsKilled(@TempDir Path prints) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/setpriv")) || Files.isExecutable(Path.of("/bin/setpriv")),
                "setpriv is not installed");
        Symmem.Running running = Symmem.start(prints, "launch", "--", "sleep", "100");
        var ranks = running.ranks(2, "sleep");

        running.process().destroyForcibly();

        for (ProcessHandle rank : ranks) {
            rank.onExit().get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void aMissingCommandIsWrongUsage() {
        assertThat(Symmem.here("launch", "--ranks", "2", "--").exitCode()).isEqualTo(2);
    }
}
