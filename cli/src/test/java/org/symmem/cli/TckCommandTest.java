package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
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
        assertThat(result.out().lines().toList().getFirst()).startsWith("passed").contains("SM-CAP-1");
        assertThat(result.out().lines().toList().getLast()).isEqualTo("1 passed, 0 failed, 0 skipped");
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
        assertThat(folder.resolve("comparison.html")).content().contains("SM-CAP-1", "untested", "host/report.html");
        JsonNode json = new ObjectMapper().readTree(folder.resolve("comparison.json").toFile());
        assertThat(json).hasSize(1);
        assertThat(json.get(0).get("rules").get(1).get("verdict").asText()).isEqualTo("UNTESTED");
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
