package org.symmem.tck.mutant;

import java.util.Optional;
import org.symmem.Availability;
import org.symmem.ProcessGroup;
import org.symmem.host.HostBackendProvider;
import org.symmem.spi.Agreement;
import org.symmem.spi.Backend;
import org.symmem.spi.BackendProvider;

/** The host backend with the mistake that the property {@code symmem.tck.mutant} names. */
public final class MutantProvider implements BackendProvider {
    /** Names the mutant; the kit hands properties that begin with {@code symmem.} on to its ranks. */
    public static final String PROPERTY = "symmem.tck.mutant";

    private final HostBackendProvider host = new HostBackendProvider();
    private final Optional<Mutant> mutant = Optional.ofNullable(System.getProperty(PROPERTY)).map(Mutant::valueOf);

    public MutantProvider() {
        mutant.ifPresent(m -> m.mistake().construct());
    }

    @Override
    public String name() {
        return "mutant";
    }

    @Override
    public int priority() {
        return -1;
    }

    @Override
    public Availability availability() {
        return mutant.map(m -> m.mistake().availability(host.availability()))
                .orElseGet(() -> Availability.unavailable("no mutant is asked for by " + PROPERTY, null));
    }

    @Override
    public Backend open(ProcessGroup group, Agreement agreement) {
        Mistake mistake = mutant.orElseThrow().mistake();
        mistake.open(group);
        return new MutantBackend(host.open(group, agreement), mistake, group);
    }
}
