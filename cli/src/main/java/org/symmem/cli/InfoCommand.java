package org.symmem.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.symmem.Availability;
import org.symmem.Capability;
import org.symmem.ProcessGroup;
import org.symmem.ProviderReport;
import org.symmem.Support;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.spi.HostIdentity;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says what this machine offers. */
@Command(name = "info", description = {
    "Say which backends this machine has and why not the others, what each can do, and which would be chosen.",
    "%nNeeds no driver and changes nothing: each available backend is opened for a world of 1 and closed again."
}, footerHeading = "%nExamples:%n", footer = {"  symmem info", "  symmem info --json | jq .chosen",
    "  SYMMEM_BACKEND=host symmem info"}, exitCodeListHeading = "%nExit codes:%n", exitCodeList = {
        "0:said, also if no backend is available", "2:an option is wrong"})
final class InfoCommand implements Callable<Integer> {
    @Mixin
    private Emulated emulated;

    @Option(names = "--json", description = "print JSON")
    private boolean json;

    /** Whether something is there, and how or why not. */
    private record Answer(boolean supported, String explanation) {}

    /** What is said of one backend; version and capabilities only where it is available. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record BackendInfo(String name, int priority, boolean available, @Nullable String version, @Nullable String detail,
            @Nullable String reason, @Nullable String device, @Nullable Map<Capability, Answer> capabilities) {
        static BackendInfo of(ProviderReport report) {
            return switch (report.availability()) {
                case Availability.Unavailable no ->
                    new BackendInfo(report.name(), report.priority(), false, null, null, no.reason(), null, null);
                case Availability.Available yes -> opened(report, yes);
            };
        }

        private static BackendInfo opened(ProviderReport report, Availability.Available yes) {
            Map<Capability, Answer> answers = new LinkedHashMap<>();
            try (ProcessGroup alone = ProcessGroups.alone();
                    SymmetricMemory memory = SymmetricMemory.open(alone, SymmetricMemory.Options.defaults().withBackend(report.name()))) {
                for (Capability capability : Capability.values()) {
                    Support support = memory.capability(capability);
                    answers.put(capability, new Answer(support.supported(), support.explanation()));
                }
                return new BackendInfo(report.name(), report.priority(), true, yes.version(), yes.detail(), null, memory.device(), answers);
            } catch (RuntimeException | LinkageError e) {
                return new BackendInfo(report.name(), report.priority(), true, yes.version(), yes.detail(),
                        "it cannot be opened: " + (e instanceof SymmetricMemoryException ? e.getMessage() : e.toString()), null, null);
            }
        }
    }

    /** What would be chosen here; no backend if none can be. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    private record Choice(@Nullable String backend, String reason) {
        static Choice among(List<BackendInfo> backends) {
            return Backends.askedFor().map(request -> {
                BackendInfo asked = backends.stream().filter(backend -> backend.name().equals(request.backend())).findFirst().orElse(null);
                if (asked == null) {
                    return new Choice(null, request.source() + " asks for " + request.backend()
                            + ", which is unknown; that is an error, nothing else is tried");
                }
                return asked.available() ? new Choice(asked.name(), "asked for by " + request.source())
                        : new Choice(null, request.source() + " asks for " + request.backend()
                                + ", which is unavailable; that is an error, nothing else is tried");
            })
                    .orElseGet(() -> backends.stream()
                            .filter(BackendInfo::available)
                            .findFirst()
                            .map(best -> new Choice(best.name(),
                                    "the available backend with the highest priority (" + best.priority()
                                            + "); symmem.backend or SYMMEM_BACKEND would choose another"))
                            .orElse(new Choice(null, "no backend is available")));
        }
    }

    private record Info(String host, String kernel, String java, String descriptors, boolean emulated, Choice chosen,
            List<BackendInfo> backends) {}

    @Override
    public Integer call() throws JsonProcessingException {
        List<BackendInfo> backends = SymmetricMemory.providers().stream().map(BackendInfo::of).toList();
        Info info = new Info(HostIdentity.local().name(),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch"),
                System.getProperty("java.vm.name") + " " + Runtime.version() + " at " + System.getProperty("java.home"), descriptors(),
                Backends.emulated(), Choice.among(backends), backends);
        if (json) {
            System.out.println(new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(info));
        } else {
            print(info);
        }
        return 0;
    }

    private static String descriptors() {
        try {
            return "by " + DescriptorExchange.Way.configured().describe() + " (symmem.descriptors is socket or pidfd)";
        } catch (SymmetricMemoryException e) {
            return "wrong setting: " + e.getMessage();
        }
    }

    private static void print(Info info) {
        System.out.println("host         " + info.host());
        System.out.println("kernel       " + info.kernel());
        System.out.println("java         " + info.java());
        System.out.println("descriptors  " + info.descriptors());
        System.out.println(
                "chosen       " + (info.chosen().backend() == null ? "none" : info.chosen().backend()) + ": " + info.chosen().reason());
        if (info.emulated()) {
            System.out.println("EMULATED     the native libraries are emulated: nothing here says anything about hardware");
        }
        for (BackendInfo backend : info.backends()) {
            System.out.println();
            System.out.println(backend.name() + " (priority " + backend.priority() + "): "
                    + (backend.available() ? "available, " + backend.version() + parenthesised(backend.detail())
                            : "unavailable: " + backend.reason()));
            if (backend.available() && backend.reason() != null) {
                System.out.println("  " + backend.reason());
            }
            if (backend.capabilities() != null) {
                System.out.println("  device: " + backend.device());
                Table table = new Table("lll", "  capability", "", "how, or why not");
                backend.capabilities()
                        .forEach((capability, answer) -> table.row("  " + capability, answer.supported() ? "yes" : "no",
                                answer.explanation()));
                table.print(System.out);
            }
        }
    }

    private static String parenthesised(@Nullable String detail) {
        return detail == null || detail.isEmpty() ? "" : " (" + detail + ")";
    }
}
