package org.symmem.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.symmem.tck.mutant.Mutant;

/** No rule without a test, no test without a rule. */
class SpecificationTest {
    private static final Pattern ROW = Pattern.compile("<a name=\"(SM-[A-Z]+-\\d+)\"></a>\\1 \\| (.*) \\| (.*) \\| (.*) \\|");

    private static List<Method> tests() {
        return Stream.of(BackendTck.class.getMethods()).filter(method -> method.isAnnotationPresent(Rule.class)).toList();
    }

    private static Map<String, String> needsByRule() throws IOException {
        return columnByRule(3);
    }

    private static Map<String, String> columnByRule(int column) throws IOException {
        return Files.readAllLines(Path.of("..", "docs", "SPEC.md"))
                .stream()
                .map(ROW::matcher)
                .filter(java.util.regex.Matcher::find)
                .collect(Collectors.toMap(row -> row.group(1), row -> row.group(column).strip()));
    }

    @Test
    void everyRuleHasATestAndEveryTestARule() throws IOException {
        assertThat(new TreeSet<>(needsByRule().keySet())).isEqualTo(
                tests().stream().map(test -> test.getAnnotation(Rule.class).value()).collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void everyTestIsNamedAfterItsRule() {
        for (Method test : tests()) {
            assertThat(test.getName()).startsWith(test.getAnnotation(Rule.class).value().replace('-', '_') + "_");
        }
    }

    @Test
    void theSpecificationSaysWhatEachTestNeeds() throws IOException {
        Map<String, String> needs = needsByRule();
        for (Method test : tests()) {
            Rule rule = test.getAnnotation(Rule.class);
            String wanted = Stream
                    .of(Stream.of(rule.needs()).map(Enum::name), Stream.of(rule.absent()).map(lacking -> "no " + lacking),
                            Stream.of(rule.ranks()).filter(ranks -> ranks > 1).map(ranks -> ranks + " ranks"))
                    .flatMap(parts -> parts)
                    .collect(Collectors.joining(", "));
            assertThat(needs.get(rule.value())).as(rule.value()).isEqualTo(wanted);
        }
    }

    @Test
    void theSpecificationSaysOfWhichKindEachRuleIs() throws IOException {
        Map<String, String> kinds = columnByRule(4);
        for (Method test : tests()) {
            Rule rule = test.getAnnotation(Rule.class);
            assertThat(kinds.get(rule.value())).as(rule.value()).isEqualTo(RuleKind.of(rule).toString());
        }
    }

    @Test
    void everyRuleObligesInOneSentence() throws IOException {
        columnByRule(2).forEach((rule, sentence) -> assertThat(sentence).as(rule).contains("MUST").matches("[^.]*\\.( [^.]*)?"));
    }

    @Test
    void numbersOfAGroupAreWithoutGaps() throws IOException {
        Map<String, List<Integer>> numbers = needsByRule().keySet()
                .stream()
                .collect(Collectors.groupingBy(rule -> rule.substring(0, rule.lastIndexOf('-')),
                        Collectors.mapping(rule -> Integer.valueOf(rule.substring(rule.lastIndexOf('-') + 1)), Collectors.toList())));
        numbers.forEach((group, found) -> assertThat(new TreeSet<>(found)).as(group)
                .isEqualTo(java.util.stream.IntStream.rangeClosed(1, found.size()).boxed().collect(Collectors.toCollection(TreeSet::new))));
    }

    @Test
    void everyRuleThatIsTestedHasAWrongBackendOrAReasonWhyNot() throws IOException {
        Map<String, String> reasons = Files.readAllLines(Path.of("src", "test", "resources", "rules-without-a-mutant.txt"))
                .stream()
                .filter(line -> !line.startsWith("#"))
                .collect(Collectors.toMap(line -> line.split(" ", 2)[0], line -> line.split(" ", 2)[1]));
        assertThat(reasons.values()).allSatisfy(reason -> assertThat(reason).isNotBlank());
        TreeSet<String> tested = tests().stream()
                .map(test -> test.getAnnotation(Rule.class))
                .filter(rule -> RuleKind.of(rule) != RuleKind.UNTESTED)
                .map(Rule::value)
                .collect(Collectors.toCollection(TreeSet::new));
        TreeSet<String> caught = Stream.of(Mutant.values()).map(Mutant::rule).collect(Collectors.toCollection(TreeSet::new));

        assertThat(reasons.keySet()).as("a rule is on the list or has a mutant, not both").doesNotContainAnyElementsOf(caught);
        caught.addAll(reasons.keySet());
        assertThat(caught).isEqualTo(tested);
    }
}
