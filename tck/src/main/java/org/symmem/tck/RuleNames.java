package org.symmem.tck;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.DisplayNameGenerator;

/** Prints {@code SM_SYNC_3_barrierOrdersStoresBeforeLoads} as {@code SM-SYNC-3 barrier orders stores before loads}. */
final class RuleNames extends DisplayNameGenerator.Standard {
    @Override
    public String generateDisplayNameForMethod(List<Class<?>> enclosing, Class<?> testClass, Method method) {
        Rule rule = method.getAnnotation(Rule.class);
        if (rule == null) {
            return super.generateDisplayNameForMethod(enclosing, testClass, method);
        }
        String sentence = method.getName().substring(rule.value().length() + 1);
        return rule.value() + " " + sentence.replaceAll("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ").toLowerCase(Locale.ROOT);
    }
}
