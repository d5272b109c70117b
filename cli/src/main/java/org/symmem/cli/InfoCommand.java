package org.symmem.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.symmem.Availability;
import org.symmem.Capability;
import org.symmem.ProcessGroup;
import org.symmem.ProviderReport;
import org.symmem.Support;
import org.symmem.SymmetricMemory;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.rendezvous.ProcessGroups;
import org.symmem.spi.HostIdentity;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Says what this machine offers. */
@Command(name = "info", description = "Say which backends this machine has, why not the others, what each can do, and which would be chosen.")
final class InfoCommand implements Callable<Integer> {
    @Option(names = "--json", description = "print JSON")
    private boolean json;

    /** What is said of one backend; capabilities only where it is available. */
    private record BackendInfo(String name, int priority, boolean available, String version, String detail, String reason, Map<String, String> capabilities) {
        static BackendInfo of(ProviderReport report) {
            return switch (report.availability()) {
                case Availability.Available yes -> new BackendInfo(report.name(), report.priority(), true, yes.version(), yes.detail(), "", capabilitiesOf(report.name()));
                case Availability.Unavailable no -> new BackendInfo(report.name(), report.priority(), false, "", "", no.reason(), Map.of());
            };
        }

        private static Map<String, String> capabilitiesOf(String backend) {
            Map<String, String> answers = new LinkedHashMap<>();
            try (ProcessGroup alone = ProcessGroups.alone(); SymmetricMemory memory = SymmetricMemory.open(alone, SymmetricMemory.Options.defaults().withBackend(backend))) {
                for (Capability capability : Capability.values()) {
                    Support support = memory.capability(capability);
                    answers.put(capability.name(), (support.supported() ? "yes" : "no") + (support.explanation().isEmpty() ? "" : ": " + support.explanation()));
                }
            } catch (RuntimeException e) {
                answers.put("OPENING", "no: " + e.getMessage());
            }
            return answers;
        }
    }

    private record Info(String host, String kernel, String java, String descriptors, String chosen, List<BackendInfo> backends) {}

    @Override
    public Integer call() throws Exception {
        List<BackendInfo> backends = new ArrayList<>();
        SymmetricMemory.providers().forEach(report -> backends.add(BackendInfo.of(report)));
        Info info = new Info(HostIdentity.local().name(), System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch"),
                Runtime.version().toString(), DescriptorExchange.Way.configured().describe(), chosen(backends), backends);
        if (json) {
            System.out.println(new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValueAsString(info));
        } else {
            print(info);
        }
        return 0;
    }

    private static String chosen(List<BackendInfo> backends) {
        String property = System.getProperty("symmem.backend");
        String asked = property != null ? property : System.getenv("SYMMEM_BACKEND");
        if (asked != null) {
            return backends.stream().filter(backend -> backend.name().equals(asked)).findFirst()
                    .map(backend -> asked + (backend.available() ? ", asked for by the settings" : ", asked for by the settings, which is an error: " + backend.reason()))
                    .orElse("none: the settings ask for " + asked + ", which is unknown");
        }
        return backends.stream().filter(BackendInfo::available).findFirst().map(backend -> backend.name() + ", the available one with the highest priority").orElse("none: no backend is available");
    }

    private static void print(Info info) {
        System.out.println("host         " + info.host() + ", " + info.kernel() + ", Java " + info.java());
        System.out.println("descriptors  handed over by " + info.descriptors() + " (symmem.descriptors: socket or pidfd)");
        System.out.println("chosen       " + info.chosen());
        if (System.getenv("SYMMEM_EMULATED") != null) {
            System.out.println("emulated     the native libraries are emulated: nothing here says anything about hardware");
        }
        for (BackendInfo backend : info.backends()) {
            System.out.println();
            System.out.println("backend " + backend.name() + " (priority " + backend.priority() + "): " + (backend.available() ? "available, " + backend.version() + (backend.detail().isEmpty() ? "" : ", " + backend.detail()) : "unavailable: " + backend.reason()));
            backend.capabilities().forEach((name, answer) -> System.out.printf("    %-17s %s%n", name, answer));
        }
    }
}
