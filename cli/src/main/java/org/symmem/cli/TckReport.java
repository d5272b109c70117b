package org.symmem.cli;

import java.time.Duration;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.symmem.spi.HostIdentity;

/** Collects how each rule went, prints a line for each, and makes the page that a person reads. */
final class TckReport implements TestExecutionListener {
    private final String backend;
    private final int ranks;
    private final List<Line> lines = new ArrayList<>();
    private final Map<String, Long> started = new HashMap<>();

    /** How a rule went. */
    private enum Verdict {
        PASSED("passed"), FAILED("FAILED"), NOT_APPLICABLE("n/a");

        private final String word;

        Verdict(String word) {
            this.word = word;
        }
    }

    private record Line(String rule, Verdict verdict, Duration time, String explanation) {}

    TckReport(String backend, int ranks) {
        this.backend = backend;
        this.ranks = ranks;
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        started.put(test.getUniqueId(), System.nanoTime());
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean containerFailed = !test.isTest() && result.getStatus() == TestExecutionResult.Status.FAILED;
        if (!test.isTest() && !containerFailed) {
            return;
        }
        Verdict verdict = switch (result.getStatus()) {
            case SUCCESSFUL -> Verdict.PASSED;
            case ABORTED -> Verdict.NOT_APPLICABLE;
            case FAILED -> Verdict.FAILED;
        };
        String explanation = result.getThrowable()
                .map(error -> String.valueOf(error.getMessage())
                        .replaceFirst("^Assumption failed: ", "")
                        .replaceFirst("^not applicable: ", ""))
                .orElse("");
        Line line = new Line(test.getDisplayName(), verdict,
                Duration.ofNanos(System.nanoTime() - started.getOrDefault(test.getUniqueId(), System.nanoTime())), explanation);
        lines.add(line);
        System.out.printf("%-7s %6d ms  %s%s%n", verdict.word, line.time().toMillis(), line.rule(),
                explanation.isEmpty() ? "" : ": " + explanation);
    }

    long passed() {
        return count(Verdict.PASSED);
    }

    long failed() {
        return count(Verdict.FAILED);
    }

    long notApplicable() {
        return count(Verdict.NOT_APPLICABLE);
    }

    private long count(Verdict verdict) {
        return lines.stream().filter(line -> line.verdict() == verdict).count();
    }

    /** {@return one page of HTML that stands by itself} */
    String page() {
        String kind = Backends.emulated() ? "emulated libraries: says nothing about hardware" : "real";
        StringBuilder page = new StringBuilder(
                """
                        <!doctype html><meta charset="utf-8"><title>Compatibility report</title>
                        <style>body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}table{border-collapse:collapse;width:100%}
                        td,th{text-align:left;vertical-align:top;padding:.25em .6em;border-bottom:1px solid #ddd}.FAILED td:first-child{color:#b00020;font-weight:bold}
                        .NOT_APPLICABLE{color:#777}pre{white-space:pre-wrap;margin:0;font-size:12px}</style>
                        """);
        page.append("<h1>Backend ")
                .append(escaped(backend))
                .append("</h1><p>")
                .append(passed())
                .append(" rules passed, ")
                .append(failed())
                .append(" failed, ")
                .append(notApplicable())
                .append(" not applicable; ")
                .append(ranks)
                .append(" ranks; ")
                .append(kind)
                .append("; host ")
                .append(escaped(HostIdentity.local().name()))
                .append(", ")
                .append(escaped(System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java " + Runtime.version()))
                .append("; ")
                .append(LocalDateTime.now().truncatedTo(ChronoUnit.SECONDS))
                .append("</p><table><tr><th>verdict<th>rule<th>time<th>why</tr>\n");
        for (Line line : lines) {
            page.append("<tr class=\"")
                    .append(line.verdict())
                    .append("\"><td>")
                    .append(line.verdict().word)
                    .append("<td>")
                    .append(escaped(line.rule()))
                    .append("<td>")
                    .append(line.time().toMillis())
                    .append(" ms<td><pre>")
                    .append(escaped(line.explanation()))
                    .append("</pre></tr>\n");
        }
        return page.append("</table>\n").toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
