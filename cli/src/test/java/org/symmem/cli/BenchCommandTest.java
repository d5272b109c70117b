package org.symmem.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchCommandTest {
    @TempDir
    private Path folder;

    @Test
    void everyOperationIsMeasuredPrintedAndKept() throws Exception {
        Path json = folder.resolve("run.json");

        Symmem.Result result = Symmem.here("bench", "--ranks", "2", "--sizes", "8,4KiB", "--repetitions", "3", "--warm-up", "1", "--json",
                json.toString());

        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        assertThat(result.out()).contains("backend host").contains("4 KiB").doesNotContain("emulated");
        JsonNode report = new ObjectMapper().readTree(json.toFile());
        assertThat(report.get("backend").asText()).isEqualTo("host");
        assertThat(report.get("command").asText()).startsWith("symmem bench --ranks 2");
        List<String> rows = new ArrayList<>();
        for (JsonNode row : report.get("rows")) {
            rows.add(row.get("operation").asText() + " " + row.get("bytes").asLong());
            assertThat(row.get("nanos").get("median").asDouble()).as(row.toString()).isPositive();
            assertThat(row.get("nanos").get("number").asInt()).isEqualTo(3);
        }
        assertThat(rows).contains("put 8", "put 4096", "get 8", "contiguous 4096", "local 8", "signal 0", "barrier 0", "rendezvous 8",
                "allocate 4096", "store 0", "broadcast 8", "allgather 4096");
    }

    @Test
    void growthIsMeasuredAndKept() throws Exception {
        Path json = folder.resolve("growth.json");

        Symmem.Result result = Symmem.here("bench", "--growth", "--ranks", "1,2", "--json", json.toString());

        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        List<String> messages = new ArrayList<>();
        JsonNode growth = new ObjectMapper().readTree(json.toFile());
        for (JsonNode point : growth.get("points")) {
            if (point.get("quantity").asText().startsWith("mappings of a rank")) {
                messages.add(point.get("ranks").asInt() + ": " + Math.round(point.get("value").asDouble()));
            }
        }
        assertThat(messages).as("its own and every peer's buffer and pad").containsExactly("1: 2", "2: 4");
    }

    @Test
    void whatCannotBeMeasuredIsSaidWithItsReason() {
        Symmem.Result result = Symmem.here("bench", "--ranks", "1", "--ops", "signal,barrier", "--repetitions", "3", "--warm-up", "0");

        assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
        assertThat(result.out()).contains("not measured: signal, with 1 ranks: it needs 2 ranks").containsPattern("barrier +1 ");
    }

    @Test
    void wrongOptionsAreWrongUsage() throws Exception {
        assertThat(Symmem.here("bench", "--ops", "teleport").err()).contains("operation \"teleport\" is unknown; known are allocate");
        assertThat(Symmem.here("bench", "--sizes", "8..").err()).contains("\"\" is no size; write 8, 4KiB");
        assertThat(Symmem.here("bench", "--ranks", "0").exitCode()).isEqualTo(2);
        assertThat(Symmem.here("bench", "--repetitions", "1").exitCode()).isEqualTo(2);
        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
    }
}
