package org.symmem.tck;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.symmem.Capability;
import org.symmem.Support;

/** One run of the kit over one backend: its ranks, and the rule that is under test. */
final class TckRun implements AutoCloseable {
    private final TckSettings settings;
    private @Nullable RankProcesses processes;
    private String rule = "";
    private String note = "";

    TckRun(TckSettings settings) {
        this.settings = settings;
    }

    TckSettings settings() {
        return settings;
    }

    private RankProcesses processes() {
        if (processes == null) {
            processes = new RankProcesses(settings);
        }
        return processes;
    }

    /**
     * Prepares a rule, or aborts it with the reason why it does not apply.
     *
     * @return what rank 0 says of itself
     */
    RankReport begin(Rule next) {
        rule = next.value();
        note = "";
        if (!next.untested().isEmpty()) {
            Assumptions.abort("untested: " + next.untested());
        }
        int promised = settings.promise().map(Promise::ranks).orElse(0);
        if (settings.ranks() < promised) {
            throw new RankProcesses.Broken(TckSettings.REQUIRE + " promises " + promised + " ranks for backend " + settings.backend()
                    + ", and the kit was started with " + settings.ranks());
        }
        if (settings.ranks() < next.ranks()) {
            notApplicable("it takes " + next.ranks() + " ranks, this run has " + settings.ranks());
        }
        RankReport report = reportOrAbort();
        for (Capability needed : next.needs()) {
            if (report.capabilities().get(needed) instanceof Support.No no) {
                notApplicable("backend " + settings.backend() + " has no " + needed + " (" + no.reason() + ")");
            }
        }
        for (Capability lacking : next.absent()) {
            if (report.capabilities().get(lacking).supported()) {
                notApplicable("backend " + settings.backend() + " has " + lacking + ", and the rule is about backends without");
            }
        }
        return report;
    }

    private RankReport reportOrAbort() {
        try {
            return processes().report();
        } catch (RankProcesses.BackendUnavailable e) {
            if (settings.promise().isPresent()) {
                throw new RankProcesses.Broken("backend " + settings.backend() + " was promised by " + TckSettings.REQUIRE
                        + " and is unavailable: " + e.getMessage());
            }
            notApplicable("backend " + settings.backend() + " is unavailable: " + e.getMessage());
            throw new IllegalStateException(e);
        }
    }

    void note(String text) {
        note = text;
    }

    /** {@return what was run of the rule; empty if there is nothing to add} */
    String note() {
        return note;
    }

    private static void notApplicable(String reason) {
        Assumptions.abort("not applicable: " + reason);
    }

    void run(RankBody body, Set<Integer> mustBeKilled) {
        try {
            processes().run(rule, body, mustBeKilled);
        } catch (RankProcesses.BackendUnavailable e) {
            throw new RankProcesses.Broken("backend " + settings.backend() + " has become unavailable: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        if (processes != null) {
            processes.close();
            processes = null;
        }
    }
}
