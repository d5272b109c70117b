package org.symmem.tck;

import java.util.Map;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Tells a run which rule comes next, and ends its ranks after the last. Reports say on what each rule was tried. */
final class TckExtension implements BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
        Rule rule = context.getRequiredTestMethod().getAnnotation(Rule.class);
        if (rule != null) {
            context.publishReportEntry("kind", RuleKind.of(rule).toString());
            RankReport report = runOf(context).begin(rule);
            context.publishReportEntry(Map.of("backend", runOf(context).settings().backend(), "version", report.version(), "device",
                    report.device(), "host", report.host(), "ranks", Integer.toString(runOf(context).settings().ranks())));
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        String note = runOf(context).note();
        if (!note.isEmpty()) {
            context.publishReportEntry("note", note);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        runOf(context).close();
    }

    private static TckRun runOf(ExtensionContext context) {
        return ((BackendTck) context.getRequiredTestInstance()).tckRun();
    }
}
