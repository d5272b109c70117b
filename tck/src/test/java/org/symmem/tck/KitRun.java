package org.symmem.tck;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineTestKit;

/**
 * One run of the kit within a test, and how its rules went.
 *
 * @param results how each rule went, in order
 */
record KitRun(List<TestExecutionResult> results) {
    /** {@return the run of some rules over the backend {@code mutant}, with properties that are set meanwhile} */
    static KitRun of(Map<String, String> properties, String... rules) {
        properties.forEach(System::setProperty);
        try {
            return new KitRun(EngineTestKit.engine("junit-jupiter")
                    .selectors(Stream.of(rules).map(KitRun::selectorOf).toArray(DiscoverySelector[]::new))
                    .execute()
                    .testEvents()
                    .finished()
                    .map(event -> event.getRequiredPayload(TestExecutionResult.class))
                    .toList());
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

    /** {@return how each rule ended, in order} */
    List<TestExecutionResult.Status> statuses() {
        return results.stream().map(TestExecutionResult::getStatus).toList();
    }

    /** {@return what each rule that did not pass says, in order} */
    List<String> messages() {
        return results.stream().flatMap(result -> result.getThrowable().stream()).map(Throwable::getMessage).toList();
    }
}
