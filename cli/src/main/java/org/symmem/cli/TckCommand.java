package org.symmem.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.reporting.legacy.xml.LegacyXmlReportGeneratingListener;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;
import org.symmem.tck.Rule;
import org.symmem.tck.SelectedBackendTck;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Judges a backend by the rules. */
@Command(name = "tck", description = {
    "Judge a backend by the rules of docs/SPEC.md.",
    "%nEach rule is run by N processes. A rule that does not apply, because the backend lacks a capability or there are too few ranks, is skipped with the reason. "
            + "The report is a page for people (report.html), and JSON (report.json) and JUnit's XML for machines, beside the output of the ranks."
}, footerHeading = "%nExamples:%n", footer = {"  symmem tck --backend host --ranks 3", "  symmem tck --rule SM-SYNC-3 --rule SM-LIFE-1",
    "  symmem tck --backend cuda --require --report build/tck",
    "  symmem tck --compare host,cuda"}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {
        "0:no rule failed, and at least one passed", "1:a rule failed, or none applied", "2:an option is wrong"})
final class TckCommand implements Callable<Integer> {
    private static final ObjectWriter JSON = new ObjectMapper().writerWithDefaultPrettyPrinter();

    @Mixin
    private Ranks ranks;

    @Mixin
    private Emulated emulated;

    @Option(names = "--backend", paramLabel = "B", defaultValue = "host", description = "the backend (default: ${DEFAULT-VALUE})")
    private String backend;

    @Option(names = "--compare", paramLabel = "B", arity = "1..*", split = ",", description = "these backends, one after the other, and a page with all side by side (comparison.html)")
    private List<String> compared = List.of();

    @Option(names = "--report", paramLabel = "DIR", defaultValue = "symmem-tck", description = "where the reports and the ranks' output go (default: ${DEFAULT-VALUE})")
    private Path report;

    @Option(names = "--rule", paramLabel = "ID", arity = "1..*", split = ",", description = "only this rule, for instance SM-SYNC-3; may be given several times (default: all)")
    private List<String> rules = List.of();

    @Option(names = "--require", description = "fail, rather than skip, if the backend is unavailable")
    private boolean required;

    @Override
    public Integer call() throws IOException {
        ranks.number();
        List<DiscoverySelector> selected = selectors();
        List<String> backends = compared.isEmpty() ? List.of(backend) : compared.stream().distinct().toList();
        backends.forEach(TckCommand::requireKnown);
        List<TckReport> reports = new ArrayList<>();
        for (String each : backends) {
            reports.add(judge(each, selected, compared.isEmpty() ? report : report.resolve(each)));
        }
        if (!compared.isEmpty()) {
            Files.writeString(report.resolve("comparison.html"), TckPage.comparing(reports));
            JSON.writeValue(report.resolve("comparison.json").toFile(), reports);
            System.out.println();
            TckComparison.print(reports, System.out);
            System.out.println("comparison: " + report.resolve("comparison.html"));
        }
        return reports.stream().allMatch(TckReport::good) ? 0 : 1;
    }

    private TckReport judge(String name, List<DiscoverySelector> selected, Path folder) throws IOException {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UsageException("the directory " + folder + " for the report cannot be made: " + e);
        }
        System.setProperty("symmem.tck.backend", name);
        System.setProperty("symmem.tck.ranks", Integer.toString(ranks.number()));
        System.setProperty("symmem.tck.output", folder.toString());
        if (required) {
            System.setProperty("symmem.tck.require", name + ":" + ranks.number());
        }
        System.out.println("backend " + name + ", " + ranks.number() + (ranks.number() == 1 ? " rank" : " ranks"));
        TckListener listener = new TckListener(name, ranks.number(), folder);
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(selected).build();
        LauncherFactory.create()
                .execute(request, listener, new LegacyXmlReportGeneratingListener(folder, new PrintWriter(System.err, true)));
        TckReport result = listener.report();
        Path page = folder.resolve("report.html");
        Files.writeString(page, TckPage.of(result));
        JSON.writeValue(folder.resolve("report.json").toFile(), result);
        System.out.println("report: " + page + ", " + folder.resolve("report.json") + ", " + folder.resolve("TEST-junit-jupiter.xml"));
        System.out.println(result.summary());
        return result;
    }

    private List<DiscoverySelector> selectors() {
        if (rules.isEmpty()) {
            return List.of(DiscoverySelectors.selectClass(SelectedBackendTck.class));
        }
        Map<String, Method> known = new TreeMap<>();
        Arrays.stream(SelectedBackendTck.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class))
                .forEach(method -> known.put(method.getAnnotation(Rule.class).value(), method));
        List<DiscoverySelector> selected = new ArrayList<>();
        for (String rule : rules) {
            Method method = known.get(rule.toUpperCase(Locale.ROOT));
            if (method == null) {
                throw new UsageException("rule " + rule + " is unknown; known are " + String.join(", ", known.keySet()));
            }
            selected.add(DiscoverySelectors.selectMethod(SelectedBackendTck.class, method));
        }
        return selected;
    }

    /**
     * That a backend is unavailable is the kit's to say; a name that no provider has is a mistake. Names are read without making a
     * provider: one whose constructor ends the process is to end a rank, not this process.
     */
    private static void requireKnown(String backend) {
        List<Class<? extends BackendProvider>> providers = new ArrayList<>();
        try {
            ServiceLoader.load(BackendProvider.class).stream().forEach(provider -> providers.add(provider.type()));
        } catch (ServiceConfigurationError e) {
            throw new UsageException("a jar on the class path names a provider that is not there: " + e.getMessage());
        }
        List<String> known = providers.stream()
                .map(type -> type.getAnnotation(BackendName.class))
                .filter(Objects::nonNull)
                .map(BackendName::value)
                .sorted()
                .toList();
        // Of a provider that does not declare its name the ranks find out.
        if (!known.contains(backend) && known.size() == providers.size()) {
            throw new UsageException(
                    "backend \"" + backend + "\" is unknown; known are " + String.join(", ", known) + ". Is its jar on the class path?");
        }
    }
}
