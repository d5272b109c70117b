package org.symmem.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.reporting.legacy.xml.LegacyXmlReportGeneratingListener;
import org.symmem.tck.SelectedBackendTck;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Judges a backend by the rules. */
@Command(name = "tck", description = "Judge a backend by the rules of docs/SPEC.md: one process a rank, one line a rule, a report for people and one for machines.")
final class TckCommand implements Callable<Integer> {
    @Mixin
    private Ranks ranks;

    @Option(names = "--backend", paramLabel = "B", defaultValue = "host", description = "the backend (default: ${DEFAULT-VALUE})")
    private String backend;

    @Option(names = "--report", paramLabel = "DIR", defaultValue = "symmem-tck", description = "where the reports and the ranks' output go (default: ${DEFAULT-VALUE})")
    private Path report;

    @Option(names = "--require", description = "fail, rather than skip, if the backend is unavailable")
    private boolean required;

    @Override
    public Integer call() throws IOException {
        int number = ranks.number();
        Files.createDirectories(report);
        System.setProperty("symmem.tck.backend", backend);
        System.setProperty("symmem.tck.ranks", Integer.toString(number));
        System.setProperty("symmem.tck.output", report.toString());
        if (required) {
            System.setProperty("symmem.tck.require", backend);
        }
        TckReport summary = new TckReport(backend, number);
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(List.of(DiscoverySelectors.selectClass(SelectedBackendTck.class))).build();
        PrintWriter errors = new PrintWriter(System.err, true);
        TestExecutionListener junitXml = new LegacyXmlReportGeneratingListener(report, errors);
        LauncherFactory.create().execute(request, summary, junitXml);
        Path page = report.resolve("report.html");
        Files.writeString(page, summary.page());
        System.out.println("reports: " + page + ", " + report.resolve("TEST-junit-jupiter.xml"));
        System.out.println(summary.passed() + " passed, " + summary.failed() + " failed, " + summary.notApplicable() + " skipped");
        return summary.failed() == 0 && summary.passed() > 0 ? 0 : 1;
    }
}
