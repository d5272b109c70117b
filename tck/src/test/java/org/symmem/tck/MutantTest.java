package org.symmem.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.engine.TestExecutionResult;
import org.symmem.tck.mutant.Mutant;
import org.symmem.tck.mutant.MutantProvider;

/** Every wrong backend is caught by the rule that is about its mistake, with a message that says what is wrong. */
class MutantTest {
    @ParameterizedTest
    @EnumSource
    void isCaughtByItsRule(Mutant mutant) throws Exception {
        String said = mutant.inProcesses() ? saidByProcesses(mutant) : saidByThreads(mutant);

        assertThat(said).contains(mutant.message()).doesNotContain("NullPointerException");
    }

    private static String saidByProcesses(Mutant mutant) {
        KitRun run = KitRun.of(Map.of(MutantProvider.PROPERTY, mutant.name(), "symmem.tck.ranks", Integer.toString(mutant.ranks()),
                TckSettings.TIMEOUT_MULTIPLIER, mutant.timeoutMultiplier()), mutant.rule());

        assertThat(run.statuses()).containsExactly(TestExecutionResult.Status.FAILED);
        assertThat(ProcessHandle.current().descendants()).as("processes left behind").isEmpty();
        return run.messages().getFirst();
    }

    private static String saidByThreads(Mutant mutant) throws Exception {
        System.setProperty(MutantProvider.PROPERTY, mutant.name());
        try {
            List<String> complaints = new ThreadRanks("mutant", mutant.ranks()).judge(mutant.rule());
            assertThat(complaints).as("what " + mutant.rule() + " has against " + mutant).isNotEmpty();
            return String.join("\n", complaints);
        } finally {
            System.clearProperty(MutantProvider.PROPERTY);
        }
    }
}
