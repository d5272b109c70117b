package org.symmem.cli;

import java.io.PrintStream;
import java.util.Locale;
import org.symmem.bench.Report;
import org.symmem.bench.Sizes;

/** A report of a benchmark for people at a terminal. */
final class BenchTable {
    static final String EMULATED = "EMULATED libraries: says nothing about hardware or speed";

    private BenchTable() {}

    static void print(Report report, PrintStream out) {
        out.println("backend " + report.backend() + ", " + report.device() + (report.emulated() ? " (" + EMULATED + ")" : ""));
        out.println(report.machine().processors() + " processors (" + report.machine().processor() + "), load "
                + String.format(Locale.ROOT, "%.2f", report.machine().load()) + "; " + report.timing());
        Table table = new Table("lrrrrrrrl", "operation", "ranks", "size", "median", "10%", "90%", "batches", "GB/s", "");
        for (Report.Row row : report.rows()) {
            table.row(row.operation(), Integer.toString(row.ranks()), row.bytes() == 0 ? "-" : Sizes.text(row.bytes()),
                    Report.time(row.nanos().median()), Report.time(row.nanos().p10()), Report.time(row.nanos().p90()),
                    Integer.toString(row.nanos().number()),
                    row.moved() == 0 ? "-" : String.format(Locale.ROOT, "%.3g", row.gigabytesPerSecond()),
                    report.emulated() ? "emulated" : "");
        }
        table.print(out);
        for (Report.Skipped skipped : report.skipped()) {
            out.println("not measured: " + skipped.operation() + ", " + skipped.reason());
        }
    }
}
