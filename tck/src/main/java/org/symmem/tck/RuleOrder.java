package org.symmem.tck;

import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.MethodDescriptor;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.MethodOrdererContext;

/** Runs rules in the order of the specification: by group, then by number. */
final class RuleOrder implements MethodOrderer {
    private static final List<String> GROUPS = List.of("CAP", "ALLOC", "RDV", "ACC", "SYNC", "MC", "VIEW", "LIFE", "COLL", "LOAD");

    @Override
    public void orderMethods(MethodOrdererContext context) {
        context.getMethodDescriptors().sort(Comparator.comparingInt(RuleOrder::place));
    }

    private static int place(MethodDescriptor method) {
        return method.findAnnotation(Rule.class)
                .map(rule -> rule.value().split("-"))
                .map(parts -> GROUPS.indexOf(parts[1]) * 1000 + Integer.parseInt(parts[2]))
                .orElse(Integer.MAX_VALUE);
    }
}
