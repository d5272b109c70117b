package org.symmem.cli;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.symmem.ProcessGroup;
import org.symmem.rendezvous.ProcessGroups;
import picocli.CommandLine.Option;

/** The options of what the ranks of a job use and how long they wait, alike in every command that starts some. */
final class Job {
    @Option(names = "--backend", paramLabel = "B", description = "which backend's memory; symmem info lists them (default: the best that all ranks share)")
    private @Nullable String backend;

    @Option(names = "--timeout", paramLabel = "SECONDS", description = "how long ranks wait for each other, and how long the run may go without progress (default: 60)")
    private @Nullable Double timeout;

    /** {@return how long ranks wait for each other}; they and this process are told */
    Duration timeout() {
        if (timeout != null) {
            if (!(timeout > 0 && timeout <= 1e6)) {
                throw new UsageException("--timeout is " + timeout + "; it is a number of seconds above 0, for instance 60 or 2.5");
            }
            // The option is stronger than the variable, and ranks get this process's properties.
            System.setProperty("symmem.timeout", timeout.toString());
        }
        try (ProcessGroup alone = ProcessGroups.alone()) {
            return alone.timeout();
        }
    }

    /** A wrong name is said once, by this process, and not by every rank. */
    void requireBackend() {
        if (backend != null) {
            System.setProperty("symmem.backend", backend);
        }
        Backends.askedFor().map(Backends.Request::backend).ifPresent(Backends::require);
    }
}
