package org.symmem.cli;

import java.util.List;
import java.util.stream.Collectors;

/** Reports as pages of HTML that stand by themselves. */
final class TckPage {
    private static final String HEAD = """
            <!doctype html><html lang="en"><meta charset="utf-8"><title>Compatibility report</title>
            <style>body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}table{border-collapse:collapse;width:100%}
            td,th{text-align:left;vertical-align:top;padding:.25em .6em;border-bottom:1px solid #ddd}.FAILED{color:#b00020;font-weight:bold}
            .NOT_APPLICABLE,.UNTESTED{color:#777}pre{white-space:pre-wrap;margin:0;font-size:12px}.facts{width:auto}</style>
            """;

    private TckPage() {}

    /** {@return the page of one backend} */
    static String of(TckReport report) {
        StringBuilder page = new StringBuilder(HEAD);
        page.append("<h1>Backend ").append(escaped(report.backend())).append("</h1>\n<table class=\"facts\">");
        fact(page, "result", report.summary());
        fact(page, "version", report.version());
        fact(page, "host", report.host() + ", " + report.platform());
        fact(page, "device", report.device());
        fact(page, "ranks", Integer.toString(report.ranks()));
        fact(page, "libraries", report.kindOfMachine());
        fact(page, "finished", report.finished());
        page.append("</table>\n<table><tr><th>verdict<th>rule<th>kind<th>time<th>why</tr>\n");
        for (TckReport.Line line : report.rules()) {
            page.append("<tr><td class=\"%s\">%s<td>%s %s<td>%s<td>%d ms<td>%s%s</tr>\n".formatted(line.verdict(),
                    line.verdict().word(), line.rule(), escaped(line.title()), line.kind(), line.millis(), why(line),
                    line.evidence().stream().map(TckPage::link).collect(Collectors.joining(" "))));
        }
        return page.append("</table>\n").toString();
    }

    /** {@return backends side by side, a line for each rule} */
    static String comparing(List<TckReport> reports) {
        StringBuilder page = new StringBuilder(HEAD).append("<h1>Backends side by side</h1>\n<table><tr><th>");
        reports.forEach(report -> page.append("<th><a href=\"%1$s/report.html\">%1$s</a>".formatted(escaped(report.backend()))));
        row(page, reports, "result", TckReport::summary);
        row(page, reports, "version", TckReport::version);
        row(page, reports, "device", TckReport::device);
        row(page, reports, "host", TckReport::host);
        row(page, reports, "ranks", report -> Integer.toString(report.ranks()));
        row(page, reports, "libraries", TckReport::kindOfMachine);
        for (String rule : TckReport.rulesOf(reports)) {
            String title = reports.stream().flatMap(report -> report.line(rule).stream()).findFirst().orElseThrow().title();
            page.append("</tr>\n<tr><td>").append(escaped(rule + " " + title));
            for (TckReport report : reports) {
                page.append(report.line(rule)
                        .map(line -> "<td class=\"%s\" title=\"%s\">%s%s".formatted(line.verdict(), escaped(line.briefly()),
                                line.verdictInWords(),
                                line.verdict() == TckVerdict.FAILED ? "<pre>" + escaped(line.briefly()) + "</pre>" : ""))
                        .orElse("<td>"));
            }
        }
        return page.append("</tr></table>\n").toString();
    }

    /** {@return what is said of a verdict; traces are folded} */
    private static String why(TckReport.Line line) {
        String brief = "<pre>" + escaped(line.briefly()) + "</pre>";
        return line.briefly().equals(line.why())
                ? brief
                : brief + "<details><summary>all of it</summary><pre>" + escaped(line.why()) + "</pre></details>";
    }

    private static void fact(StringBuilder page, String name, String value) {
        page.append("<tr><th>").append(name).append("<td>").append(escaped(value)).append("</tr>");
    }

    private static void row(StringBuilder page, List<TckReport> reports, String name,
            java.util.function.Function<TckReport, String> value) {
        page.append("</tr>\n<tr><th>").append(name);
        reports.forEach(report -> page.append("<td>").append(escaped(value.apply(report))));
    }

    private static String link(String file) {
        return "<a href=\"%s\">%s</a>".formatted(escaped(file), escaped(file.substring(file.lastIndexOf('/') + 1)));
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\"", "&quot;");
    }
}
