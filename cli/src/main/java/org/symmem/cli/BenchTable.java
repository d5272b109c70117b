package org.symmem.cli;

import java.io.PrintStream;
import java.util.Locale;
import org.symmem.bench.Growth;
import org.symmem.bench.Report;
import org.symmem.bench.Sizes;
import org.symmem.bench.Spread;

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
        peers(report, out);
    }

    private static void peers(Report report, PrintStream out) {
        if (report.peers().isEmpty()) {
            return;
        }
        out.println("Our time divided by the peer's, in turns; below 1 is ours being faster:");
        Table table = new Table("lrrlrrr", "operation", "ranks", "size", "peer", "ratio", "least", "most");
        for (Report.Peer peer : report.peers()) {
            Spread ratio = peer.ratio();
            if (ratio != null) {
                table.row(peer.operation(), Integer.toString(peer.ranks()), peer.bytes() == 0 ? "-" : Sizes.text(peer.bytes()), peer.peer(),
                        Report.number(ratio.median()), Report.number(ratio.least()), Report.number(ratio.most()));
            }
        }
        table.print(out);
        report.peers()
                .stream()
                .filter(peer -> peer.ratio() == null)
                .forEach(peer -> out.println(peer.peer() + ": not run because " + peer.notRun()));
    }

    static void print(Growth growth, PrintStream out) {
        Table points = new Table("lrr", "quantity", "ranks", "value");
        growth.points()
                .forEach(
                        point -> points.row(point.quantity(), Integer.toString(point.ranks()),
                                Report.number(point.value()) + " " + point.unit()));
        points.print(out);
        Table table = new Table("llrr", "quantity", "law", "R²", "for 1,000 ranks" + (growth.emulated() ? " (emulated)" : ""));
        growth.fits()
                .forEach(fit -> table.row(fit.quantity(), fit.law(), Report.number(fit.certainty()),
                        Report.number(fit.at(Growth.MANY)) + " " + fit.unit()));
        table.print(out);
        growth.notes().forEach(out::println);
    }
}
