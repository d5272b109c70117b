package org.symmem;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.symmem.spi.Agreement;
import org.symmem.spi.BackendName;
import org.symmem.spi.BackendProvider;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.Wire;

/**
 * Finds providers and chooses one backend for all ranks: the one that was asked for (by option, {@code symmem.backend} or
 * {@code SYMMEM_BACKEND}, in that order), else the available one with the highest priority that all ranks share.
 */
final class BackendSelection {
    static final String PROPERTY = "symmem.backend";
    static final String VARIABLE = "SYMMEM_BACKEND";

    private final Map<String, BackendProvider> providers = new TreeMap<>();
    private final List<ProviderReport> reports = new ArrayList<>();

    private BackendSelection() {
        for (ServiceLoader.Provider<BackendProvider> provider : InstalledServices.of(BackendProvider.class)) {
            String name = nameOf(provider.type());
            try {
                add(provider.get());
            } catch (ServiceConfigurationError | LinkageError | AssertionError | RuntimeException e) {
                // One provider that cannot be made must not hide the others.
                reports.add(ProviderReport.broken(name, "its provider cannot be made: " + rootOf(e), e));
            }
        }
        reports.sort(Comparator.comparingInt(ProviderReport::priority).reversed().thenComparing(ProviderReport::name));
    }

    static BackendSelection ofInstalled() {
        return new BackendSelection();
    }

    /** {@return the name that a provider's class declares, which is known without making one; else the class's} */
    private static String nameOf(Class<? extends BackendProvider> type) {
        BackendName declared = type.getAnnotation(BackendName.class);
        return declared == null ? type.getName() : declared.value();
    }

    private void add(BackendProvider provider) {
        String name = provider.name();
        if (name == null || !name.matches("[a-z0-9-]{1,64}")) {
            throw new IllegalStateException("the provider " + provider.getClass().getName() + " has the name \"" + name
                    + "\"; a name is lower-case letters, digits and hyphens");
        }
        BackendName declared = provider.getClass().getAnnotation(BackendName.class);
        if (declared != null && !declared.value().equals(name)) {
            throw new IllegalStateException("the provider " + provider.getClass().getName() + " has the name \"" + name
                    + "\" and declares \"" + declared.value() + "\" in @BackendName; they are to be the same");
        }
        BackendProvider twin = providers.putIfAbsent(name, provider);
        if (twin != null) {
            throw new IllegalStateException("the name " + name + " is already taken by " + twin.getClass().getName());
        }
        reports.add(report(name, provider));
    }

    private static ProviderReport report(String name, BackendProvider provider) {
        String off = "symmem." + name + ".disabled";
        if (Boolean.getBoolean(off)) {
            return new ProviderReport(name, provider.priority(), Availability.unavailable("switched off by " + off, null));
        }
        try {
            Availability answer = provider.availability();
            return answer != null
                    ? new ProviderReport(name, provider.priority(), answer)
                    : ProviderReport.broken(name, "its provider answers null when asked for its availability", null);
        } catch (RuntimeException | LinkageError | AssertionError e) {
            return ProviderReport.broken(name, "its provider throws when asked for its availability: " + rootOf(e), e);
        }
    }

    private static Throwable rootOf(Throwable error) {
        Throwable root = error;
        while (root.getCause() != null && root.getCause() != root) {
            root = root.getCause();
        }
        return root;
    }

    /** {@return every provider that was found, the preferred first} */
    List<ProviderReport> reports() {
        return List.copyOf(reports);
    }

    /** What was asked for, and where; empty if nothing was. */
    record Request(String backend, String source) {
        static Optional<Request> from(Optional<String> option) {
            if (option.isPresent()) {
                return option.map(backend -> new Request(backend, "the option"));
            }
            String property = System.getProperty(PROPERTY);
            if (property != null) {
                return Optional.of(new Request(property, "the property " + PROPERTY));
            }
            return Optional.ofNullable(System.getenv(VARIABLE)).map(backend -> new Request(backend, "the variable " + VARIABLE));
        }
    }

    /** One rank's request and reports, as the others get them. */
    private record Ballot(Optional<Request> request, String host, Map<String, Integer> available, Map<String, String> unavailable) {}

    /** The provider chosen, and in words why it and none of the others. */
    record Choice(BackendProvider provider, String explanation) {}

    /** Chooses. Collective; every rank gets the same provider or the same error. */
    Choice choose(Agreement agreement, Optional<String> option) {
        Optional<Request> request = Request.from(option);
        List<Ballot> ballots = agreement.step("choosing the backend", () -> ballotOf(request))
                .stream()
                .map(message -> Wire.read(message, BackendSelection::readBallot))
                .toList();
        Optional<Request> agreed = agreedRequest(ballots);
        String chosen = agreed.isPresent() ? requested(agreed.get(), ballots) : preferred(ballots);
        String why = agreed.map(r -> "asked for by " + r.source()).orElse("the highest priority that all ranks share");
        String others = reports.stream()
                .filter(report -> !report.name().equals(chosen))
                .map(report -> report.name() + ": "
                        + (report.availability() instanceof Availability.Unavailable no ? no.reason()
                                : agreed.isPresent() ? "available, not asked for" : whyPassedOver(report.name(), ballots)))
                .collect(Collectors.joining("; "));
        return new Choice(providers.get(chosen), chosen + " (" + why + ")" + (others.isEmpty() ? "" : "; not chosen: " + others));
    }

    private byte[] ballotOf(Optional<Request> request) {
        return Wire.write(out -> {
            out.writeBoolean(request.isPresent());
            if (request.isPresent()) {
                out.writeUTF(request.get().backend());
                out.writeUTF(request.get().source());
            }
            out.writeUTF(HostIdentity.local().name());
            out.writeInt(reports.size());
            for (ProviderReport report : reports) {
                out.writeUTF(report.name());
                out.writeInt(report.priority());
                out.writeUTF(report.availability() instanceof Availability.Unavailable no ? no.reason() : "");
            }
        });
    }

    private static Ballot readBallot(java.io.DataInputStream in) throws java.io.IOException {
        Optional<Request> request = in.readBoolean() ? Optional.of(new Request(in.readUTF(), in.readUTF())) : Optional.empty();
        String host = in.readUTF();
        Map<String, Integer> available = new TreeMap<>();
        Map<String, String> unavailable = new TreeMap<>();
        for (int n = in.readInt(); n > 0; n--) {
            String name = in.readUTF();
            int priority = in.readInt();
            String reason = in.readUTF();
            if (reason.isEmpty()) {
                available.put(name, priority);
            } else {
                unavailable.put(name, reason);
            }
        }
        return new Ballot(request, host, available, unavailable);
    }

    private static Optional<Request> agreedRequest(List<Ballot> ballots) {
        List<String> requests = new ArrayList<>();
        for (int rank = 0; rank < ballots.size(); rank++) {
            requests.add(
                    "rank " + rank + ": " + ballots.get(rank).request().map(r -> r.backend() + " (" + r.source() + ")").orElse("none"));
        }
        if (ballots.stream().map(ballot -> ballot.request().map(Request::backend)).distinct().count() > 1) {
            throw new RanksDisagreeException("ranks ask for different backends: " + String.join(", ", requests)
                    + ". Give every rank the same " + PROPERTY + " or " + VARIABLE + ", or none");
        }
        return ballots.getFirst().request();
    }

    private static String requested(Request request, List<Ballot> ballots) {
        String name = request.backend();
        for (int rank = 0; rank < ballots.size(); rank++) {
            Ballot ballot = ballots.get(rank);
            String where = "rank " + rank + " on host " + ballot.host();
            if (ballot.unavailable().containsKey(name)) {
                throw new SymmetricMemoryException(ErrorCode.BACKEND_UNAVAILABLE,
                        "backend " + name + ", asked for by " + request.source() + ", is unavailable on " + where + ": "
                                + ballot.unavailable().get(name)
                                + ". Available there: " + ballot.available().keySet());
            }
            if (!ballot.available().containsKey(name)) {
                TreeSet<String> known = new TreeSet<>(ballot.available().keySet());
                known.addAll(ballot.unavailable().keySet());
                String nameless = ballot.unavailable()
                        .entrySet()
                        .stream()
                        // Only a class stands in for a name that its provider did not come to say.
                        .filter(provider -> provider.getKey().contains("."))
                        .map(provider -> ". Or it is the backend of " + provider.getKey() + ", whose name is not known: "
                                + provider.getValue())
                        .collect(Collectors.joining());
                throw new SymmetricMemoryException(ErrorCode.BACKEND_UNKNOWN,
                        "backend \"" + name + "\", asked for by " + request.source() + ", is unknown on " + where + ". Known there: "
                                + known
                                + ". Correct the name, or add the backend's jar to the class path" + nameless);
            }
        }
        return name;
    }

    private static String preferred(List<Ballot> ballots) {
        return ballots.getFirst()
                .available()
                .entrySet()
                .stream()
                .filter(candidate -> ballots.stream().allMatch(ballot -> ballot.available().containsKey(candidate.getKey())))
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.<String, Integer>comparingByKey().reversed()))
                .map(Map.Entry::getKey)
                .orElseThrow(() -> new SymmetricMemoryException(ErrorCode.BACKEND_UNAVAILABLE,
                        "no backend is available on all ranks: " + everythingKnown(ballots)));
    }

    private static String everythingKnown(List<Ballot> ballots) {
        List<String> lines = new ArrayList<>();
        for (int rank = 0; rank < ballots.size(); rank++) {
            Ballot ballot = ballots.get(rank);
            lines.add("rank " + rank + " on host " + ballot.host() + " has " + ballot.available().keySet() + ", lacks "
                    + ballot.unavailable());
        }
        return String.join("; ", lines);
    }

    private static String whyPassedOver(String name, List<Ballot> ballots) {
        for (int rank = 0; rank < ballots.size(); rank++) {
            if (!ballots.get(rank).available().containsKey(name)) {
                return "not available on rank " + rank + ": " + ballots.get(rank).unavailable().getOrDefault(name, "not on its class path");
            }
        }
        return "available, with a lower priority";
    }
}
