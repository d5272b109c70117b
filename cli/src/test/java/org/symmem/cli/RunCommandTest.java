package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RunCommandTest {
    @TempDir
    private Path folder;

    @TempDir
    private Path prints;

    @AfterEach
    void forgetOptions() {
        System.clearProperty("symmem.backend");
        System.clearProperty("symmem.timeout");
    }

    /** One byte leaves ranks without a part; the others end within a page. */
    @ParameterizedTest
    @CsvSource({"2, 1000003", "3, 1", "3, 0"})
    void everyRankReadsTheWholeFileAndRank0WritesIt(int ranks, int size) throws Exception {
        Path input = fileOf(size);
        Path output = folder.resolve("output");
        Files.writeString(output, "what was there before");

        Symmem.Result result = Symmem.here("run", "--ranks", Integer.toString(ranks), "--input", input.toString(), "--output",
                output.toString());

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out().lines().filter(line -> line.endsWith("  yes"))).hasSize(ranks);
        assertThat(Files.mismatch(input, output)).isEqualTo(-1);
        assertThat(namesIn(folder)).containsExactlyInAnyOrder("input", "output");
    }

    @Test
    void aKilledRankIsNamedAndNothingIsLeft() throws Exception {
        Path input = sparseFile();
        Symmem.Running running = Symmem.start(prints, "run", "--input", input.toString(), "--output", folder.resolve("output").toString());
        List<ProcessHandle> ranks = running.ranks(2, RunRank.class.getName());

        ranks.getLast().destroyForcibly();

        Symmem.Result result = running.end();
        assertThat(result.exitCode()).as(result.err()).isEqualTo(137);
        assertThat(result.err()).contains("process " + ranks.getLast().pid(), "signal 9 (SIGKILL)");
        assertThat(ranks).noneMatch(ProcessHandle::isAlive);
        assertThat(namesIn(folder)).containsExactly("input");
    }

    @Test
    void ranksEndWithALauncherThatIsKilled() throws Exception {
        Path input = sparseFile();
        Symmem.Running running = Symmem.start(prints, "run", "--input", input.toString());
        List<ProcessHandle> ranks = running.ranks(2, RunRank.class.getName());

        running.process().destroyForcibly();

        for (ProcessHandle rank : ranks) {
            rank.onExit().get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    void wrongOptionsAreOneSentenceAndExitCode2() throws Exception {
        String input = fileOf(10).toString();
        assertWrong("\"nope\" is unknown; known are ", "--input", input, "--backend", "nope");
        assertWrong("from 1 to 1024", "--ranks", "0");
        assertWrong("from 1 to 1024", "--ranks", "-1");
        assertWrong("from 1 to 1024", "--ranks", "1000000");
        assertWrong("'abc' is not an int", "--ranks", "abc");
        assertWrong("does not exist", "--input", folder.resolve("missing").toString());
        assertWrong("is a directory", "--input", folder.toString());
        assertWrong("not a regular file", "--input", "/dev/zero");
        assertWrong("is the input itself", "--input", input, "--output", input);
        assertWrong("is a directory", "--input", input, "--output", folder.toString());
        assertWrong("there is no directory", "--input", input, "--output", folder.resolve("missing/file").toString());
        assertWrong("not a regular file", "--input", input, "--output", "/dev/null");
        assertWrong("a number of seconds above 0", "--input", input, "--timeout", "0");
        assertThat(namesIn(folder)).containsExactly("input");
    }

    @Test
    void aFileThatHasChangedIsSaidSo() throws Exception {
        InputFile input = InputFile.at(fileOf(5000));
        Files.writeString(input.path(), "other");

        assertThat(org.assertj.core.api.Assertions.catchThrowable(input::requireUnchanged))
                .hasMessageContaining("has changed while it was shared: it had 5000 bytes");
        assertThat(org.assertj.core.api.Assertions.catchThrowable(input::sha256)).hasMessageContaining("5 could be read");
    }

    private void assertWrong(String complaint, String... options) {
        forgetOptions();
        Symmem.Result result = Symmem.here(Stream.concat(Stream.of("run"), Stream.of(options)).toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).startsWith("symmem run: ").contains(complaint).doesNotContain("\tat ");
        assertThat(result.out()).isEmpty();
    }

    private Path fileOf(int size) throws IOException {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return Files.write(folder.resolve("input"), bytes);
    }

    /** Large enough that ranks are still at work when they are found, and without blocks on the disk. */
    private Path sparseFile() throws IOException {
        Path input = folder.resolve("input");
        try (RandomAccessFile file = new RandomAccessFile(input.toFile(), "rw")) {
            file.setLength(512 << 20);
        }
        return input;
    }

    private static List<String> namesIn(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
