package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    void theLastLinesOfTheRankThatFailedAreRepeatedAtTheEnd() {
        Symmem.Result result = Symmem.here("launch", "--ranks", "2", "--", "sh", "-c",
                "[ $RANK = 1 ] || exec sleep 100; for i in $(seq 30); do echo line $i; done; echo the reason >&2; exit 3");

        assertThat(result.exitCode()).isEqualTo(3);
        String explained = result.err().substring(result.err().indexOf("symmem launch: rank 1 (process "));
        assertThat(explained).contains("ended with exit code 3; the other ranks were ended. Its last lines:", "\n[1] the reason",
                "\n[1] line 30");
        assertThat(explained.lines()).hasSize(1 + 20 + 1).last().isEqualTo("[1] the reason");
    }

    @Test
    void whatRanksLeaveBehindIsEndedEvenIfNothingFailed() {
        // The first is orphaned and in a session of its own when its rank ends; the second also ignores the request to end.
        Symmem.Result result = Symmem.here("launch", "--ranks", "2", "--", "sh", "-c",
                "if [ $RANK = 0 ]; then setsid sleep 300 > /dev/null 2>&1 & else (trap '' TERM; exec sleep 300) & fi; echo left $!");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out().lines()).hasSize(2).allSatisfy(line -> {
            long pid = Long.parseLong(line.substring(line.indexOf("left ") + 5));
            // Killed when the launcher returns; whoever its parent is by now has still to take note of that.
            ProcessHandle.of(pid).ifPresent(left -> assertThat(left.onExit()).as(line).succeedsWithin(Duration.ofSeconds(10)));
        });
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "HUP, 129", "TERM, 143"})
    void aSignalReachesTheRanksAndEndsTheLauncher(String signal, int code, @TempDir Path folder) throws Exception {
        Symmem.Running running = Symmem.start(folder, "launch", "--", "bash", "-c",
                "trap 'echo got it; exit 0' " + signal + "; echo ready; while true; do sleep 0.05; done");
        awaitOutput(running, "[0] ready", "[1] ready");

        send(signal, running.process());
        Symmem.Result result = running.end();

        assertThat(result.exitCode()).as(result.err()).isEqualTo(code);
        assertThat(result.out()).contains("[0] got it", "[1] got it");
    }

    @Test
    void ranksThatIgnoreASignalAreKilledInTheEnd(@TempDir Path folder) throws Exception {
        Symmem.Running running = Symmem.start(folder, "launch", "--", "bash", "-c",
                "trap '' INT TERM; echo ready $$; while true; do sleep 0.05; done");
        awaitOutput(running, "[0] ready", "[1] ready");

        send("INT", running.process());
        Symmem.Result result = running.end();

        assertThat(result.exitCode()).isEqualTo(130);
        assertThat(result.out().lines()).allSatisfy(
                line -> ProcessHandle.of(Long.parseLong(line.substring("[0] ready ".length())))
                        .ifPresent(left -> assertThat(left.onExit()).as(line).succeedsWithin(Duration.ofSeconds(10))));
    }

    @Test
    void aSignalOfTheUsersOwnEndsNothing(@TempDir Path folder) throws Exception {
        Symmem.Running running = Symmem.start(folder, "launch", "--", "bash", "-c",
                "trap 'echo saved; exit 0' USR1; echo ready; while true; do sleep 0.05; done");
        awaitOutput(running, "[0] ready", "[1] ready");

        send("USR1", running.process());

        assertThat(running.end().exitCode()).isZero();
        assertThat(Files.readString(running.out())).contains("[0] saved", "[1] saved");
    }

    private static void send(String signal, Process process) throws Exception {
        assertThat(new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor()).isZero();
    }

    private static void awaitOutput(Symmem.Running running, String first, String second) throws Exception {
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (!outputOf(running).contains(first) || !outputOf(running).contains(second)) {
            assertThat(System.nanoTime()).as(outputOf(running)).isLessThan(deadline);
            Thread.sleep(5);
        }
    }

    private static String outputOf(Symmem.Running running) throws java.io.IOException {
        return Files.readString(running.out());
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
