package org.symmem.tck;

import java.util.List;
import java.util.Map;
import java.util.LinkedHashMap;
import java.util.stream.Stream;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;

/**
 * One run of the kit within a test, and how its rules went.
 *
 * @param results how each rule went, by the name that reports print
 */
record KitRun(Map<String, TestExecutionResult> results) {
    /** {@return the run of some rules over the backend {@code mutant}, with properties that are set meanwhile} */
    static KitRun of(Map<String, String> properties, String... rules) {
        properties.forEach(System::setProperty);
        try {
            Map<String, TestExecutionResult> results = new LinkedHashMap<>();
            EngineTestKit.engine("junit-jupiter")
                    .selectors(Stream.of(rules).map(KitRun::selectorOf).toArray(DiscoverySelector[]::new))
                    .execute()
                    .testEvents()
                    .finished()
                    .stream()
                    .forEach(event -> results.put(event.getTestDescriptor().getDisplayName(),
                            event.getRequiredPayload(TestExecutionResult.class)));
            return new KitRun(results);
        } finally {
            properties.keySet().forEach(System::clearProperty);
        }
    }

    private static DiscoverySelector selectorOf(String rule) {
        return Stream.of(MutantTck.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class) && method.getAnnotation(Rule.class).value().equals(rule))
                .map(method -> DiscoverySelectors.selectMethod(MutantTck.class, method))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no rule " + rule));
    }

    /** {@return how each rule ended, in the order of the specification} */
    List<TestExecutionResult.Status> statuses() {
        return results.values().stream().map(TestExecutionResult::getStatus).toList();
    }

    /** {@return what each rule that did not pass says, in the order of the specification} */
    List<String> messages() {
        return results.values().stream().flatMap(result -> result.getThrowable().stream()).map(Throwable::getMessage).toList();
    }

    /** {@return the rules that passed} */
    List<String> passed() {
        return results.entrySet()
                .stream()
                .filter(rule -> rule.getValue().getStatus() == TestExecutionResult.Status.SUCCESSFUL)
                .map(rule -> rule.getKey().split(" ")[0])
                .toList();
    }

    /** {@return what each rule that failed says, by rule} */
    Map<String, String> failures() {
        Map<String, String> failures = new LinkedHashMap<>();
        results.forEach((rule, result) -> {
            if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                failures.put(rule, result.getThrowable().map(Throwable::getMessage).orElse(""));
            }
        });
        return failures;
    }
}
