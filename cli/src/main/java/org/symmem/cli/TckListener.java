package org.symmem.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.symmem.spi.HostIdentity;

/** Collects how each rule went, and what the kit publishes beside it; prints a line for each. */
final class TckListener implements TestExecutionListener {
    private final String backend;
    private final int ranks;
    private final Path folder;
    private final List<TckReport.Line> lines = new ArrayList<>();
    private final Map<String, Long> started = new HashMap<>();
    /** What ranks said of themselves; the same with every rule. */
    private final Map<String, String> facts = new HashMap<>();
    private final Map<String, Map<String, String>> factsOfRules = new HashMap<>();

    TckListener(String backend, int ranks, Path folder) {
        this.backend = backend;
        this.ranks = ranks;
        this.folder = folder;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void reportingEntryPublished(TestIdentifier test, ReportEntry entry) {
        facts.putAll(entry.getKeyValuePairs());
        factsOfRules.computeIfAbsent(test.getUniqueId(), id -> new HashMap<>()).putAll(entry.getKeyValuePairs());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean containerFailed = !test.isTest() && result.getStatus() == TestExecutionResult.Status.FAILED;
        if (!test.isTest() && !containerFailed) {
            return;
        }
        Map<String, String> published = factsOfRules.getOrDefault(test.getUniqueId(), Map.of());
        String said = result.getThrowable()
                .map(error -> String.valueOf(error.getMessage()).replaceFirst("^Assumption failed: ", ""))
                .orElse(published.getOrDefault("note", ""));
        TckVerdict verdict = switch (result.getStatus()) {
            case SUCCESSFUL -> TckVerdict.PASSED;
            case ABORTED -> said.startsWith("untested: ") ? TckVerdict.UNTESTED : TckVerdict.NOT_APPLICABLE;
            case FAILED -> TckVerdict.FAILED;
        };
        String[] name = test.getDisplayName().split(" ", 2);
        long nanos = System.nanoTime() - started.getOrDefault(test.getUniqueId(), System.nanoTime());
        TckReport.Line line = new TckReport.Line(name[0], name.length > 1 ? name[1] : "", published.getOrDefault("kind", ""), verdict,
                nanos / 1_000_000, said.replaceFirst("^(not applicable|untested): ", ""),
                verdict == TckVerdict.FAILED ? evidence(name[0]) : List.of());
        lines.add(line);
        System.out.printf("%-8s %6d ms  %s%s%n", verdict.word(), line.millis(), test.getDisplayName(),
                line.why().isEmpty() ? "" : ": " + line.briefly().replace("\n", "\n    "));
    }

    /** {@return the files that the kit kept of each rank, relative to the report} */
    private List<String> evidence(String rule) {
        Path kept = folder.resolve(backend + "-" + ranks).resolve(rule);
        try (Stream<Path> files = Files.list(kept)) {
            return files.map(file -> folder.relativize(file).toString()).sorted().toList();
        } catch (IOException e) {
            // A rule that failed before its ranks were up has none.
            return List.of();
        }
    }

    /** {@return all of it} */
    TckReport report() {
        String version = facts.getOrDefault("version", "unknown");
        String device = facts.getOrDefault("device", "unknown");
        return new TckReport(backend, version, device, facts.getOrDefault("host", HostIdentity.local().name()), ranks,
                Emulated.replacesLibraryOf(backend) || TckReport.saysEmulated(version, device),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java " + Runtime.version(),
                LocalDateTime.now().truncatedTo(ChronoUnit.SECONDS).toString(), List.copyOf(lines));
    }
}
