package org.symmem.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.SequencedMap;
import java.util.stream.Stream;

/**
 * Makes the page of benchmarks out of a folder: what is written there ({@code *.md}) as it is, and a section for each kept result
 * ({@code *.json}), in the order of the files' names. Figures on the page thus come from files that a run wrote. Local.
 */
public final class Page {
    private static final ObjectMapper JSON = new ObjectMapper()
            .configure(com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

    private final Path folder;
    private final Path target;
    private final StringBuilder text = new StringBuilder();

    private Page(Path folder, Path target) {
        this.folder = folder;
        this.target = target;
    }

    /**
     * @param folder with the texts and results
     * @param target the page; written anew
     * @throws IOException              if a file cannot be read or written
     * @throws IllegalArgumentException if a result is none that is known; names the file
     */
    public static void write(Path folder, Path target) throws IOException {
        Page page = new Page(folder, target);
        List<Path> files;
        try (Stream<Path> all = Files.list(folder)) {
            files = all.filter(file -> file.toString().endsWith(".md") || file.toString().endsWith(".json")).sorted().toList();
        }
        for (Path file : files) {
            page.add(file);
        }
        Files.writeString(target, page.text.toString().stripTrailing() + "\n");
    }

    /**
     * @param folder with kept results
     * @return those that can be drawn, by the names of their files without the ending
     * @throws IOException if a file cannot be read
     */
    public static SequencedMap<String, Report> reports(Path folder) throws IOException {
        SequencedMap<String, Report> reports = new LinkedHashMap<>();
        try (Stream<Path> all = Files.list(folder)) {
            for (Path file : all.filter(one -> one.toString().endsWith(".json")).sorted().toList()) {
                JsonNode node = JSON.readTree(file.toFile());
                if (node.has("rows")) {
                    reports.put(stem(file), JSON.treeToValue(node, Report.class));
                }
            }
        }
        return reports;
    }

    private static String stem(Path result) {
        return result.getFileName().toString().replaceFirst("\\.json$", "");
    }

    private void add(Path file) throws IOException {
        if (!text.isEmpty()) {
            text.append('\n');
        }
        if (file.toString().endsWith(".md")) {
            text.append(Files.readString(file).stripTrailing()).append('\n');
            return;
        }
        JsonNode node = JSON.readTree(file.toFile());
        if (node.has("calls")) {
            cheapCalls(JSON.treeToValue(node, CheapCalls.class));
        } else if (node.has("rows")) {
            report(file, JSON.treeToValue(node, Report.class));
        } else if (node.has("fits")) {
            growth(JSON.treeToValue(node, Growth.class));
        } else {
            throw new IllegalArgumentException(file + " is no result of symmem bench");
        }
    }

    private void report(Path file, Report report) throws IOException {
        heading("Backend " + report.backend() + ", measured by `symmem bench`", report.emulated());
        where(report.machine(), report.date(), report.command());
        line("Device: " + report.device() + ". Each time is the " + report.timing() + ", of one call, in the median of the batches.");
        pictures(file);
        if (!report.peers().isEmpty()) {
            peers(report.peers());
        }
        line("");
        line("| operation | ranks | size | median | 10 % | 90 % | least | batches | GB/s |\n|---|---|---|---|---|---|---|---|---|");
        for (Report.Row row : report.rows()) {
            Spread nanos = row.nanos();
            line("| " + row.operation() + " | " + row.ranks() + " | " + size(row.bytes()) + " | " + Report.time(nanos.median()) + " | "
                    + Report.time(nanos.p10()) + " | " + Report.time(nanos.p90()) + " | " + Report.time(nanos.least()) + " | "
                    + nanos.number() + " | " + (row.moved() == 0 ? "" : Report.number(row.gigabytesPerSecond())) + " |");
        }
        if (!report.skipped().isEmpty()) {
            line("");
            report.skipped().forEach(one -> line("- Not measured: " + one.operation() + ", " + one.reason()));
        }
    }

    private void heading(String title, boolean emulated) {
        line("## " + title + (emulated ? " (EMULATED)" : ""));
        if (emulated) {
            line("The native libraries were emulated: nothing here says anything about hardware or speed.\n");
        }
    }

    private void where(Report.Machine machine, String date, String command) {
        line(machine.system() + ", " + machine.processor() + ", " + machine.processors() + " processors, load average "
                + Report.number(machine.load()) + " when it began; " + machine.versions() + "; " + date + ".\n");
        line("```\n" + command + "\n```");
    }

    private void pictures(Path result) throws IOException {
        String stem = stem(result);
        Path from = target.toAbsolutePath().getParent();
        try (Stream<Path> all = Files.list(folder)) {
            all.filter(file -> file.getFileName().toString().matches(java.util.regex.Pattern.quote(stem) + "-[a-z]+\\.png"))
                    .sorted()
                    .forEach(file -> line("\n![" + file.getFileName() + "](" + from.relativize(file.toAbsolutePath()) + ")"));
        }
    }

    private void peers(List<Report.Peer> peers) {
        line("\nRatios are our time divided by the peer's, taken in turns in the same run; below 1 is ours being faster.\n");
        line("| operation | ranks | size | peer | its time | ratio, median of the rounds | least to most |\n|---|---|---|---|---|---|---|");
        for (Report.Peer peer : peers) {
            Spread ratio = peer.ratio();
            if (ratio != null) {
                line("| " + peer.operation() + " | " + peer.ranks() + " | " + size(peer.bytes()) + " | " + peer.peer() + " | "
                        + Report.time(peer.nanos()) + " | " + Report.number(ratio.median()) + " | " + Report.number(ratio.least()) + " to "
                        + Report.number(ratio.most()) + " |");
            }
        }
        line("");
        peers.stream()
                .filter(peer -> peer.ratio() == null)
                .forEach(peer -> line("- " + peer.peer() + ": not run because " + peer.notRun()));
    }

    private void growth(Growth growth) {
        heading("How cost grows with the ranks", growth.emulated());
        where(growth.machine(), growth.date(), growth.command());
        line("\n| quantity | ranks | value |\n|---|---|---|");
        growth.points()
                .forEach(point -> line("| " + point.quantity() + " | " + point.ranks() + " | " + Report.number(point.value()) + " "
                        + point.unit() + " |"));
        line("\n| quantity | law fitted by least squares | points fit (R²) | for 1,000 ranks it would be |\n|---|---|---|---|");
        growth.fits()
                .forEach(fit -> line("| " + fit.quantity() + " | " + fit.law() + " | " + Report.number(fit.certainty()) + " | "
                        + Report.number(fit.at(Growth.MANY)) + " " + fit.unit() + " |"));
        line("");
        growth.notes().forEach(note -> line("- " + note));
    }

    private void cheapCalls(CheapCalls found) {
        heading("Calls that must be cheap, measured by JMH", false);
        where(found.machine(), found.date(), found.command());
        line("JMH " + found.jmh() + ", host backend; an average with the error at a certainty of 99.9 %.\n");
        line("| call | ns | error | bytes allocated |\n|---|---|---|---|");
        found.calls()
                .forEach(call -> line("| " + call.name() + " | " + Report.number(call.nanos()) + " | " + Report.number(call.error()) + " | "
                        + String.format(Locale.ROOT, "%.2f", call.allocatedBytes()) + " |"));
    }

    private static String size(long bytes) {
        return bytes == 0 ? "" : Sizes.text(bytes);
    }

    private void line(String line) {
        text.append(line).append('\n');
    }
}
