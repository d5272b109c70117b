package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
