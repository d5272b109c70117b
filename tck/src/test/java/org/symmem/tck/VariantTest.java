package org.symmem.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.symmem.Capability;
import org.symmem.tck.mutant.MutantProvider;
import org.symmem.tck.mutant.Variant;

/** Rules about capabilities that the host backend lacks, or does not lack, hold for right backends: together they try every rule. */
class VariantTest {
    @Test
    void noRuleFailsOverABackendThatLacksEverything() {
        // All rules: one that uses what it does not say it needs is found here.
        KitRun run = KitRun.of(properties(Variant.LACKS_EVERYTHING), rules(rule -> true));

        assertThat(run.failures()).isEmpty();
        assertThat(run.passed()).contains(rules(rule -> rule.absent().length > 0 && rule.needs().length == 0));
    }

    @Test
    void theRulesOfMulticastAndForeignStreamsHoldForABackendThatHasThem() {
        String[] rules = rules(rule -> Stream.of(Capability.MULTICAST, Capability.EXTERNAL_STREAM)
                .anyMatch(capability -> List.of(rule.needs()).contains(capability)));

        KitRun run = KitRun.of(properties(Variant.HAS_EVERYTHING), rules);

        assertThat(run.failures()).isEmpty();
        assertThat(run.passed()).containsExactlyInAnyOrder(rules);
    }

    private static Map<String, String> properties(Variant variant) {
        return Map.of(MutantProvider.PROPERTY, variant.name());
    }

    private static String[] rules(java.util.function.Predicate<Rule> wanted) {
        return Stream.of(MutantTck.class.getMethods())
                .map(method -> method.getAnnotation(Rule.class))
                .filter(rule -> rule != null && wanted.test(rule))
                .map(Rule::value)
                .toArray(String[]::new);
    }
}
