package org.symmem.tck;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Every rule of {@code docs/SPEC.md} for one backend. Extend it and name the backend:
 *
 * <pre>{@code
 * class MyBackendTck extends BackendTck {
 *     @Override
 *     protected TckSettings settings() {
 *         return TckSettings.forBackend("mine").withRanks(3);
 *     }
 * }
 * }</pre>
 *
 * <p>A rule that does not apply, because the backend lacks a capability or there are too few ranks, is reported as aborted with
 * the reason. A rule that fails says what each rank saw.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@DisplayNameGeneration(RuleNames.class)
@TestMethodOrder(RuleOrder.class)
@ExtendWith(TckExtension.class)
public abstract class BackendTck
        implements
            CapabilityRules,
            AllocationRules,
            RendezvousRules,
            AccessRules,
            SynchronisationRules,
            MulticastRules,
            ContiguousViewRules,
            LifecycleRules,
            CollectiveRules,
            LoadRules {
    private @Nullable TckRun run;

    /** {@return which backend, with how many ranks} */
    protected abstract TckSettings settings();

    @Override
    public final RuleRun ranks() {
        return new RuleRun() {
            @Override
            public void run(RankBody body) {
                tckRun().run(body, Set.of());
            }

            @Override
            public void runUntilLastIsKilled(RankBody body) {
                tckRun().run(body, Set.of(tckRun().settings().ranks() - 1));
            }

            @Override
            public void note(String text) {
                tckRun().note(text);
            }
        };
    }

    /** {@return the state of this run, for the extension} */
    final TckRun tckRun() {
        if (run == null) {
            run = new TckRun(settings());
        }
        return run;
    }
}
