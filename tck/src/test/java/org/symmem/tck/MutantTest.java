package org.symmem.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.symmem.tck.mutant.Mutant;
import org.symmem.tck.mutant.MutantProvider;

/** Every wrong backend is caught by the rule that is about its mistake, with a message that says what is wrong. */
class MutantTest {
    @AfterEach
    void noMutant() {
        System.clearProperty(MutantProvider.PROPERTY);
    }

    @ParameterizedTest
    @EnumSource(Mutant.class)
    void isCaughtByItsRule(Mutant mutant) {
        System.setProperty(MutantProvider.PROPERTY, mutant.name());

        List<TestExecutionResult> results = run(mutant.rule());

        assertThat(results).hasSize(1);
        assertThat(results.getFirst().getStatus()).isEqualTo(TestExecutionResult.Status.FAILED);
        String message = results.getFirst().getThrowable().orElseThrow().getMessage();
        assertThat(message).contains(mutant.message()).doesNotContain("NullPointerException");
        assertThat(ProcessHandle.current().descendants()).as("processes left behind").isEmpty();
    }

    private static List<TestExecutionResult> run(String rule) {
        EngineExecutionResults results = EngineTestKit.engine("junit-jupiter")
                .selectors(DiscoverySelectors.selectMethod(MutantTck.class, methodOf(rule)))
                .execute();
        return results.testEvents().finished().map(event -> event.getRequiredPayload(TestExecutionResult.class)).toList();
    }

    private static java.lang.reflect.Method methodOf(String rule) {
        return Stream.of(MutantTck.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Rule.class) && method.getAnnotation(Rule.class).value().equals(rule))
                .findFirst()
                .orElseThrow();
    }
}
