package org.symmem.tck;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.symmem.Capability;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemory;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.tck.mutant.Mutant;
import org.symmem.tck.mutant.MutantProvider;

/**
 * How many rules each wrong backend breaks beside the one that is about its mistake: a mistake that breaks most of them says little of
 * any. Takes minutes, so it is run by hand; {@link MatrixTest} prints what it found.
 */
@EnabledIfSystemProperty(named = BreadthTest.RUN, matches = "true")
class BreadthTest {
    static final String RUN = "symmem.tck.breadth";
    static final Path FOUND = Path.of("src", "test", "resources", "also-caught.txt");
    /** They wait, or repeat what others try, for longer than all the rest together; the two first look at all that the process holds. */
    private static final Set<String> UNFIT = Set.of("SM-LIFE-5", "SM-LIFE-6", "SM-ALLOC-4", "SM-ALLOC-12", "SM-RDV-10", "SM-RDV-18",
            "SM-SYNC-1", "SM-SYNC-2",
            "SM-SYNC-10", "SM-SYNC-16", "SM-LIFE-3", "SM-LIFE-8", "SM-COLL-1", "SM-COLL-3", "SM-COLL-5", "SM-COLL-7", "SM-COLL-10",
            "SM-LOAD-1", "SM-LOAD-2", "SM-LOAD-3", "SM-LOAD-4", "SM-LOAD-5");

    @Test
    void whatElseEachWrongBackendBreaks() throws Exception {
        List<List<String>> kept = List.of(rulesKept(1), rulesKept(2));
        List<String> lines = new ArrayList<>();
        lines.add("# Written by BreadthTest: of " + kept.getLast().size() + " rules, which a wrong backend breaks beside its own.");
        for (Mutant mutant : Mutant.values()) {
            if (!mutant.inProcesses()) {
                lines.add(mutant + " " + String.join(" ", alsoBroken(mutant, kept.get(mutant.ranks() - 1))));
                System.out.println(lines.getLast());
            }
        }
        Files.write(FOUND, lines);
    }

    private static List<String> alsoBroken(Mutant mutant, List<String> rules) throws Exception {
        System.setProperty(MutantProvider.PROPERTY, mutant.name());
        try {
            Set<Capability> has = capabilities();
            List<String> broken = new ArrayList<>();
            for (String rule : rules) {
                if (!rule.equals(mutant.rule()) && applies(rule, has) && !new ThreadRanks("mutant", mutant.ranks()).judge(rule).isEmpty()) {
                    broken.add(rule);
                }
            }
            return broken;
        } finally {
            System.clearProperty(MutantProvider.PROPERTY);
        }
    }

    /** {@return what the backend that is asked for says that it has; everything, if it cannot be asked} */
    private static Set<Capability> capabilities() {
        try (ProcessGroup alone = ProcessGroups.alone();
                SymmetricMemory memory = SymmetricMemory.open(alone, SymmetricMemory.Options.defaults().withBackend("mutant"))) {
            return Stream.of(Capability.values()).filter(one -> memory.capability(one).supported()).collect(Collectors.toSet());
        } catch (RuntimeException e) {
            return Set.of(Capability.values());
        }
    }

    private static boolean applies(String id, Set<Capability> has) {
        Rule rule = Stream.of(BackendTck.class.getMethods())
                .map(method -> method.getAnnotation(Rule.class))
                .filter(one -> one != null && one.value().equals(id))
                .findFirst()
                .orElseThrow();
        return has.containsAll(List.of(rule.needs())) && Collections.disjoint(has, List.of(rule.absent()));
    }

    /** {@return the rules that can be tried with threads, and that the host backend keeps so} */
    private static List<String> rulesKept(int ranks) throws Exception {
        List<String> rules = Stream.of(BackendTck.class.getMethods())
                .map(method -> method.getAnnotation(Rule.class))
                .filter(rule -> rule != null && rule.ranks() <= ranks && rule.untested().isEmpty() && !UNFIT.contains(rule.value()))
                .map(Rule::value)
                .sorted()
                .toList();
        List<String> kept = new ArrayList<>();
        for (String rule : rules) {
            try {
                if (new ThreadRanks("host", ranks).judge(rule).isEmpty()) {
                    kept.add(rule);
                }
            } catch (java.lang.reflect.InvocationTargetException e) {
                // It kills a rank, which a thread cannot be.
            }
        }
        return kept;
    }
}
