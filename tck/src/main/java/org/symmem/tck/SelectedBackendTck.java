package org.symmem.tck;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The kit for the backend that system properties name: {@code symmem.tck.backend}, {@code symmem.tck.ranks},
 * {@code symmem.tck.jvmFlags} (separated by spaces), {@code symmem.tck.environment} ({@code A=1;B=2}), {@code symmem.tck.output}.
 * What the {@code symmem tck} command runs.
 */
public final class SelectedBackendTck extends BackendTck {
    /** Made by JUnit. */
    public SelectedBackendTck() {}

    @Override
    protected TckSettings settings() {
        String flags = System.getProperty("symmem.tck.jvmFlags", "");
        Map<String, String> environment = Stream.of(System.getProperty("symmem.tck.environment", "").split(";"))
                .filter(pair -> pair.contains("="))
                .collect(Collectors.toMap(pair -> pair.substring(0, pair.indexOf('=')), pair -> pair.substring(pair.indexOf('=') + 1)));
        return TckSettings.forBackend(System.getProperty("symmem.tck.backend", "host"))
                .withRanks(Integer.getInteger("symmem.tck.ranks", 2))
                .withJvmFlags(flags.isBlank() ? List.of() : List.of(flags.strip().split("\\s+")))
                .withEnvironment(environment)
                .withOutput(Path.of(System.getProperty("symmem.tck.output", "target/tck")));
    }
}
