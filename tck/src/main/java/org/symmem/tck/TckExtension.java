package org.symmem.tck;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Tells a run which rule comes next, and ends its ranks after the last. */
final class TckExtension implements BeforeEachCallback, AfterAllCallback {
    @Override
    public void beforeEach(ExtensionContext context) {
        Rule rule = context.getRequiredTestMethod().getAnnotation(Rule.class);
        if (rule != null) {
            runOf(context).begin(rule);
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
