package org.symmem.cli;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.symmem.Availability;
import org.symmem.ProviderReport;
import org.symmem.SymmetricMemory;

/** What the settings say about backends. */
final class Backends {
    private Backends() {}

    /** A backend that was asked for, and by what. */
    record Request(String backend, String source) {}

    /** {@return the backend that this process's settings ask for} */
    static Optional<Request> askedFor() {
        return Optional.ofNullable(System.getProperty("symmem.backend"))
                .map(name -> new Request(name, "the property symmem.backend"))
                .or(() -> Optional.ofNullable(System.getenv("SYMMEM_BACKEND"))
                        .map(name -> new Request(name, "the variable SYMMEM_BACKEND")));
    }

    /**
     * Makes sure that a backend can be used on this host.
     *
     * @throws UsageException   if none has the name
     * @throws FailureException if it is unavailable
     */
    static void require(String backend) {
        List<ProviderReport> known = SymmetricMemory.providers();
        ProviderReport report = known.stream()
                .filter(provider -> provider.name().equals(backend))
                .findFirst()
                .orElseThrow(() -> new UsageException("backend \"" + backend + "\" is unknown; known are "
                        + known.stream().map(ProviderReport::name).collect(Collectors.joining(", "))
                        + ". symmem info says what each needs"));
        if (report.availability() instanceof Availability.Unavailable no) {
            throw new FailureException(1, "backend " + backend + " is unavailable on this host: " + no.reason());
        }
    }

    /** {@return whether the native libraries are emulated, so that results say nothing about hardware} */
    static boolean emulated() {
        return Boolean.getBoolean(Emulated.PROPERTY);
    }

    /** {@return the line above a table of ranks} */
    static String headline(int ranks, String backends) {
        return ranks + (ranks == 1 ? " rank" : " ranks") + ", backend " + backends
                + (emulated() ? " (EMULATED libraries: says nothing about hardware)" : "");
    }
}
