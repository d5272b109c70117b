package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgramRunTest {
    private static final Path EXAMPLE = Path.of(System.getProperty("symmem.home"), "examples", "programs", "gather.symm");

    @TempDir
    private Path folder;

    @AfterEach
    void forgetOptions() {
        System.clearProperty("symmem.backend");
    }

    @Test
    void theExampleGathersOnEveryRankWhatTheInputsHold() {
        Symmem.Result result = Symmem.here("run", "--program", EXAMPLE.toString(), "--ranks", "3", "--backend", "host");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(rows(result, "gathered ")).hasSize(3).allMatch(row -> row.endsWith(sha256OfParts(3)));
        assertThat(rows(result, "all ")).hasSize(3).allMatch(row -> row.endsWith(sha256OfParts(3)));
        assertThat(rows(result, "kept ")).hasSize(3)
                .allMatch(row -> row.contains("global float32 3x512") && row.endsWith(sha256OfParts(3)));
        assertThat(result.out()).contains("3 ranks, backend host", "everywhere: all ranks hold the same");
    }

    /** What each rank's input {@code part} holds, by the rule that the command documents, one after the other. */
    private static String sha256OfParts(int ranks) {
        ByteBuffer all = ByteBuffer.allocate(ranks * 512 * Float.BYTES).order(ByteOrder.nativeOrder());
        for (int rank = 0; rank < ranks; rank++) {
            for (int i = 0; i < 512; i++) {
                all.putFloat((Math.floorMod("part".hashCode(), 97) + 31 * rank + 7 * i) % 97);
            }
        }
        return HexFormat.of().formatHex(InputFile.newDigest().digest(all.array()));
    }

    @Test
    void bothLoweringsLeaveTheSame() throws Exception {
        Symmem.Result own = Symmem.start(folder, Map.of("SYMMEM_EMULATION_DEVICES", "2"), "run", "--emulated", "--backend", "nccl",
                "--program", EXAMPLE.toString(), "--lowering", "native").end();

        assertThat(own.exitCode()).as(own.err()).isZero();
        assertThat(own.out()).contains("lowered to the backend's own collectives", "EMULATED");
        Symmem.Result copies = Symmem.here("run", "--program", EXAMPLE.toString(), "--backend", "host");
        for (String output : List.of("everywhere ", "gathered ", "all ", "kept ")) {
            assertThat(digests(own, output)).hasSize(2).isEqualTo(digests(copies, output));
        }
    }

    private static List<String> digests(Symmem.Result result, String output) {
        return result.out()
                .lines()
                .filter(line -> line.startsWith(output) && line.matches(".* [0-9a-f]{64}"))
                .map(line -> line.substring(line.length() - 64))
                .toList();
    }

    @Test
    void ranksThatHoldDifferentThingsAreSaidSo() throws Exception {
        Symmem.Result result = run("input x symmetric int8[3]\noutput x symmetric\n");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("x: ranks hold 2 different contents");
    }

    @Test
    void anAllgatherAsAViewIsRefusedWithTheReasonWhereThereIsNone() throws Exception {
        Symmem.Result result = Symmem.start(folder, "run", "--emulated", "--backend", "nvshmem", "--program", EXAMPLE.toString()).end();

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("backend nvshmem has no CONTIGUOUS_VIEW", "not side by side", "(line 16: allgather part as all)");
    }

    @Test
    void wrongProgramsAreOneSentenceBeforeAnyRankStarts() throws Exception {
        assertWrong("line 1, column 11: the name of a tensor is needed here, not the end of the line", "deallocate");
        assertWrong("line 2, column 18: root 2 is not a rank: there are ranks 0 to 1",
                "input x symmetric float32[4]\nbroadcast x from 2 to x\n");
        Symmem.Result missing = Symmem.here("run", "--program", folder.resolve("missing").toString());
        assertThat(missing.exitCode()).isEqualTo(2);
        assertThat(missing.err()).contains("cannot be read");
        Symmem.Result both = Symmem.here("run", "--program", EXAMPLE.toString(), "--output", folder.resolve("out").toString());
        assertThat(both.err()).contains("choose one");
        Symmem.Result lowering = Symmem.here("run", "--program", EXAMPLE.toString(), "--lowering", "fast");
        assertThat(lowering.err()).contains("it is symmetric or native");
    }

    private void assertWrong(String complaint, String text) throws Exception {
        Symmem.Result result = run(text);
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err()).startsWith("symmem run: ").contains(complaint).doesNotContain("\tat ");
        assertThat(result.out()).isEmpty();
    }

    private Symmem.Result run(String text) throws Exception {
        Path program = Files.writeString(folder.resolve("program.symm"), text);
        return Symmem.here("run", "--program", program.toString(), "--backend", "host");
    }

    private static List<String> rows(Symmem.Result result, String output) {
        return result.out().lines().filter(line -> line.startsWith(output) && line.contains("host memory")).toList();
    }
}
