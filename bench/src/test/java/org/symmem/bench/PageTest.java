package org.symmem.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PageTest {
    private static final Report.Machine MACHINE = new Report.Machine("Linux", "a processor", 2, 0.5, "symmem");

    @TempDir
    private Path folder;

    private static Report report(boolean emulated) {
        return new Report("symmem bench", "2000-01-01T00:00:00Z", MACHINE, "host", "host memory", emulated, "wall time",
                List.of(new Report.Row("put", 2, 8, 8, Spread.of(3, 1, 2)), new Report.Row("put", 2, 64, 64, Spread.of(4)),
                        new Report.Row("barrier", 2, 0, 0, Spread.of(7)), new Report.Row("barrier", 4, 0, 0, Spread.of(9))),
                List.of(new Report.Skipped("signal", "it needs 2 ranks")),
                List.of(new Report.Peer("memcpy", "put", 2, 8, 4, Spread.of(0.5), ""),
                        new Report.Peer("OpenSHMEM", "put", 2, 0, 0, null, "there is no oshcc")));
    }

    @Test
    void writtenAndMeasuredSectionsComeInTheOrderOfTheirNames() throws Exception {
        Files.writeString(folder.resolve("20-kept.md"), "## Kept\n12.34 GB/s, by hand\n");
        new ObjectMapper().writeValue(folder.resolve("10-run.json").toFile(), report(false));
        new Charts(report(false), folder, "10-run").draw();
        new ObjectMapper().writeValue(folder.resolve("30-jmh.json").toFile(),
                new CheapCalls("symmem bench --jmh", "2000-01-01T00:00:00Z", MACHINE,
                        "1", List.of(new CheapCalls.Call("HotPaths.signal", 12.5, 0.25, 0))));
        List<Growth.Point> points = List.of(new Growth.Point("messages", 2, 3, "messages"),
                new Growth.Point("messages", 5, 12, "messages"));
        new ObjectMapper().writeValue(folder.resolve("40-growth.json").toFile(), new Growth("symmem bench --growth", "2000-01-01T00:00:00Z",
                MACHINE, false, points, List.of(Growth.Fit.of(points)), List.of("a note")));
        Path page = folder.resolve("page.txt");

        Page.write(folder, page);

        assertThat(page).content()
                .contains("| put | 2 | 8 B | 2.000 ns | 1.200 ns | 2.800 ns | 1.000 ns | 3 | 4.00 |",
                        "![10-run-bandwidth.png](10-run-bandwidth.png)",
                        "| put | 2 | 8 B | memcpy | 4.000 ns | 0.500 |", "- OpenSHMEM: not run because there is no oshcc",
                        "- Not measured: signal, it needs 2 ranks")
                .doesNotContain("EMULATED")
                .contains("| HotPaths.signal | 12.5 | 0.250 | 0.00 |", "| messages | 5 | 12.0 messages |", "-3.00 + 3.00 × ranks messages",
                        "| 2,997 messages |")
                .matches("(?s).*barrier.*12\\.34 GB/s, by hand\n.*HotPaths.*a note\n");
    }

    @Test
    void emulatedResultsSaySo() throws Exception {
        new ObjectMapper().writeValue(folder.resolve("run.json").toFile(), report(true));
        Page.write(folder, folder.resolve("page.txt"));
        new Charts(report(true), folder, "run").draw();

        assertThat(folder.resolve("page.txt")).content().contains("(EMULATED)");
        assertThat(folder.resolve("run-bandwidth.png")).isNotEmptyFile();
        assertThat(folder.resolve("run-latency.svg")).content().contains("<svg");
    }

    @Test
    void anUnknownFileIsNamed() throws Exception {
        Files.writeString(folder.resolve("odd.json"), "{}");

        assertThatThrownBy(() -> Page.write(folder, folder.resolve("page.txt"))).hasMessageContaining("odd.json is no result");
    }

    @Test
    void aPowerLawIsFoundAgain() {
        Growth.Fit fit = Growth.Fit.of(List.of(new Growth.Point("q", 2, 12, "µs"), new Growth.Point("q", 4, 48, "µs"),
                new Growth.Point("q", 8, 192, "µs")));

        assertThat(fit.form()).isEqualTo(Growth.Form.POWER);
        assertThat(fit.b()).isCloseTo(2, within(1e-9));
        assertThat(fit.at(1000)).isCloseTo(3e6, within(1e-3));
        assertThat(fit.certainty()).isCloseTo(1, within(1e-9));
    }

    @Test
    void aLineIsFoundAgain() {
        Growth.Fit fit = Growth.Fit.of(List.of(new Growth.Point("q", 2, 7, "messages"), new Growth.Point("q", 4, 13, "messages"),
                new Growth.Point("q", 64, 193, "messages")));

        assertThat(fit.form()).isEqualTo(Growth.Form.LINE);
        assertThat(fit.at(1000)).isCloseTo(3001, within(1e-6));
        assertThat(fit.law()).isEqualTo("1.00 + 3.00 × ranks messages");
    }

    @Test
    void whatFallsStaysAboveNothing() {
        Growth.Fit fit = Growth.Fit.of(List.of(new Growth.Point("q", 2, 20, "GB/s"), new Growth.Point("q", 4, 18, "GB/s"),
                new Growth.Point("q", 8, 14, "GB/s")));

        assertThat(fit.at(Growth.MANY)).isPositive();
    }

    @Test
    void rangesOfSizesGrowByFourAndHaveTheirEnd() {
        assertThat(Sizes.parse("8..1KiB,2MiB,8")).containsExactly(8, 32, 128, 512, 1024, 2 << 20);
        assertThat(Sizes.text(1536)).isEqualTo("1536 B");
        assertThat(Sizes.text(1L << 31)).isEqualTo("2 GiB");
    }
}
