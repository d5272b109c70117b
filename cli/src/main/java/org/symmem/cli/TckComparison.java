package org.symmem.cli;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Backends side by side on the terminal: the counts, and the rules whose verdicts differ. */
final class TckComparison {
    private TckComparison() {}

    static void print(List<TckReport> reports, PrintStream out) {
        Table counts = new Table("lrrrrl", "backend", "passed", "failed", "n/a", "untested", "libraries");
        for (TckReport report : reports) {
            counts.row(report.backend(), count(report, TckVerdict.PASSED), count(report, TckVerdict.FAILED),
                    count(report, TckVerdict.NOT_APPLICABLE), count(report, TckVerdict.UNTESTED), report.emulated() ? "EMULATED" : "real");
        }
        counts.print(out);
        List<String> titles = new ArrayList<>(List.of("rule"));
        reports.forEach(report -> titles.add(report.backend()));
        Table differences = new Table("l".repeat(titles.size()), titles.toArray(String[]::new));
        int same = 0;
        Set<String> rules = TckReport.rulesOf(reports);
        for (String rule : rules) {
            List<String> row = new ArrayList<>(List.of(rule));
            reports.forEach(report -> row.add(report.line(rule).map(line -> line.verdict().word()).orElse("-")));
            if (row.stream().skip(1).distinct().count() > 1) {
                differences.row(row.toArray(String[]::new));
            } else {
                same++;
            }
        }
        out.println(
                "\nThe same verdict for all: " + same + " of " + rules.size() + " rules" + (same < rules.size() ? ". The others:" : ""));
        if (same < rules.size()) {
            differences.print(out);
        }
    }

    private static String count(TckReport report, TckVerdict verdict) {
        return Long.toString(report.count(verdict));
    }
}
