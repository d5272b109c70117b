package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TckCommandTest {
    @TempDir
    private Path folder;

    @AfterEach
    void forgetSettings() {
        System.getProperties().keySet().removeIf(name -> name.toString().startsWith("symmem.tck."));
    }

    @Test
    void oneRuleIsRunCountedAndReported() throws Exception {
        Path report = folder.resolve("report");

        Symmem.Result result = Symmem.here("tck", "--ranks", "1", "--rule", "sm-cap-1", "--report", report.toString());

        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        assertThat(result.out().lines().toList()).startsWith("backend host, 1 rank")
                .endsWith("1 passed, 0 failed, 0 not applicable, 0 untested");
        assertThat(result.out().lines().toList().get(1)).startsWith("passed").contains("SM-CAP-1");
        assertThat(report.resolve("report.html")).content().contains("SM-CAP-1");
        assertThat(report.resolve("TEST-junit-jupiter.xml")).content().contains("SM_CAP_1");
        JsonNode json = new ObjectMapper().readTree(report.resolve("report.json").toFile());
        assertThat(json.get("backend").asText()).isEqualTo("host");
        assertThat(json.get("device").asText()).isEqualTo("host memory");
        assertThat(json.get("emulated").asBoolean()).isFalse();
        assertThat(json.get("rules").get(0).get("verdict").asText()).isEqualTo("PASSED");
        assertThat(json.get("rules").get(0).get("kind").asText()).isEqualTo("required");
    }

    @Test
    void backendsAreComparedSideBySide() throws Exception {
        Symmem.Result result = Symmem.here("tck", "--ranks", "1", "--rule", "SM-CAP-1", "--rule", "SM-CAP-8", "--compare", "host,host",
                "--report", folder.toString());

        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        assertThat(result.out()).contains("The same verdict for all: 2 of 2 rules");
        assertThat(folder.resolve("comparison.html")).content().contains("SM-CAP-1", "untested", "host/report.html");
        JsonNode json = new ObjectMapper().readTree(folder.resolve("comparison.json").toFile());
        assertThat(json).hasSize(1);
        assertThat(json.get(0).get("rules").get(1).get("verdict").asText()).isEqualTo("UNTESTED");
    }

    private static TckReport report(String backend, TckReport.Line line) {
        return new TckReport(backend, "1", "memory", "here", 2, false, "Linux", "now", List.of(line));
    }

    @Test
    void whatDiffersIsPrintedSideBySideAndAFailureWithoutItsTraces() {
        TckReport right = report("right", new TckReport.Line("SM-RDV-1", "all read", "required", TckVerdict.PASSED, 5, "", List.of()));
        TckReport wrong = report("wrong", new TckReport.Line("SM-RDV-1", "all read", "required", TckVerdict.FAILED, 7,
                "rank 0: byte 3 is <4>\nan.Error\n\tat a.Frame\n\nrank 1 ended by signal 11; its last output:\n", List.of()));
        ByteArrayOutputStream printed = new ByteArrayOutputStream();

        TckComparison.print(List.of(right, wrong), new PrintStream(printed, true, StandardCharsets.UTF_8));

        assertThat(printed.toString(StandardCharsets.UTF_8)).contains("0 of 1 rules").containsPattern("SM-RDV-1 +passed +FAILED");
        assertThat(TckPage.comparing(List.of(right, wrong)))
                .contains("<pre>rank 0: byte 3 is &lt;4&gt;\nrank 1 ended by signal 11; its last output:</pre>")
                .doesNotContain("a.Frame");
        assertThat(TckPage.of(wrong)).contains("<details>", "a.Frame");
    }

    @Test
    void aBackendIsEmulatedWhenItSaysSo() {
        assertThat(TckReport.saysEmulated("13.0", "device 0 (Emulated GPU)")).isTrue();
        assertThat(TckReport.saysEmulated("13.0", "device 0 (NVIDIA H200)")).isFalse();
    }

    @Test
    void wrongNamesAreWrongUsageAndLeaveNothing() throws Exception {
        String report = folder.resolve("report").toString();
        assertThat(Symmem.here("tck", "--report", report, "--rule", "SM-CAP-99").err()).contains("SM-CAP-99 is unknown; known are ",
                "SM-SYNC-3");
        assertThat(Symmem.here("tck", "--report", report, "--backend", "nope").exitCode()).isEqualTo(2);
        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }
}
