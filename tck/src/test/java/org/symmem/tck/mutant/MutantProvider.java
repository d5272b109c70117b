package org.symmem.tck.mutant;

import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.symmem.Availability;
import org.symmem.ProcessGroup;
import org.symmem.host.HostBackendProvider;
import org.symmem.spi.Agreement;
import org.symmem.spi.Backend;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;

/** The host backend with the change that the property {@code symmem.tck.mutant} names: a {@link Mutant} or a {@link Variant}. */
@BackendName("mutant")
public final class MutantProvider implements BackendProvider {
    /** Names the mutant; the kit hands properties that begin with {@code symmem.} on to its ranks. */
    public static final String PROPERTY = "symmem.tck.mutant";

    private final HostBackendProvider host = new HostBackendProvider();
    private final Optional<Change> change = Optional.ofNullable(System.getProperty(PROPERTY)).map(MutantProvider::changeOf);

    public MutantProvider() {
        change.ifPresent(Change::construct);
    }

    private static Change changeOf(String name) {
        return Stream.of(Variant.values())
                .filter(variant -> variant.name().equals(name))
                .map(Variant::change)
                .findFirst()
                .orElseGet(() -> Mutant.valueOf(name).change());
    }

    @Override
    public String name() {
        return change.map(c -> c.name("mutant")).orElse("mutant");
    }

    @Override
    public int priority() {
        return -1;
    }

    @Override
    public Availability availability() {
        return change.map(c -> c.availability(host.availability()))
                .orElseGet(() -> Availability.unavailable("no mutant is asked for by " + PROPERTY, null));
    }

    @Override
    public @Nullable Backend open(ProcessGroup group, Agreement agreement) {
        Change asked = change.orElseThrow();
        asked.open(group);
        return asked.opened(new MutantBackend(host.open(group, agreement), asked, group));
    }
}
