package org.symmem.cli;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import org.symmem.bench.Report;

/** What figures depend on besides the program. */
final class ThisMachine {
    private ThisMachine() {}

    static Report.Machine describe() throws IOException {
        String system = System.getProperty("os.name") + " " + System.getProperty("os.version") + " " + System.getProperty("os.arch");
        return new Report.Machine(system, processor(), Runtime.getRuntime().availableProcessors(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(), new Version().getVersion()[0]);
    }

    private static String processor() {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("a processor without a name");
        } catch (IOException e) {
            return "a processor that does not say its name";
        }
    }
}
