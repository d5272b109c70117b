package org.symmem.tck;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How the kit judges one backend.
 *
 * @param backend     the backend's name
 * @param ranks       how many processes
 * @param jvmFlags    more flags for the ranks' JVMs
 * @param environment more variables for the ranks' processes
 * @param output      where the ranks' output goes
 */
public record TckSettings(String backend, int ranks, List<String> jvmFlags, Map<String, String> environment, Path output) {
    /** The property by which all of the kit's timeouts are multiplied, for slow machines. */
    public static final String TIMEOUT_MULTIPLIER = "symmem.tck.timeoutMultiplier";
    /** The property that promises a backend, {@code cuda} or {@code cuda:2} for at least 2 ranks: its absence then fails. */
    public static final String REQUIRE = "symmem.tck.require";

    /** The property that, set to {@code full}, has the load rules run with the counts of the specification. */
    public static final String LOAD = "symmem.tck.load";

    /** Checks the number of ranks. */
    public TckSettings {
        if (ranks < 1) {
            throw new IllegalArgumentException("the kit needs at least 1 rank, not " + ranks);
        }
        jvmFlags = List.copyOf(jvmFlags);
        environment = Map.copyOf(environment);
    }

    /** {@return settings for a backend with 2 ranks} */
    public static TckSettings forBackend(String backend) {
        return new TckSettings(backend, 2, List.of(), Map.of(), Path.of("target", "tck"));
    }

    /** {@return these settings with another number of ranks} */
    public TckSettings withRanks(int number) {
        return new TckSettings(backend, number, jvmFlags, environment, output);
    }

    /** {@return these settings with more flags for the ranks' JVMs} */
    public TckSettings withJvmFlags(List<String> flags) {
        return new TckSettings(backend, ranks, flags, environment, output);
    }

    /** {@return these settings with more variables for the ranks' processes} */
    public TckSettings withEnvironment(Map<String, String> variables) {
        return new TckSettings(backend, ranks, jvmFlags, variables, output);
    }

    /** {@return these settings with another folder for the ranks' output} */
    public TckSettings withOutput(Path folder) {
        return new TckSettings(backend, ranks, jvmFlags, environment, folder);
    }

    /** {@return what {@link #REQUIRE} promises of the backend} */
    Optional<Promise> promise() {
        return Promise.of(backend, System.getProperty(REQUIRE, ""));
    }

    /** {@return whether the load rules run with their full counts} */
    static boolean fullLoad() {
        String load = System.getProperty(LOAD, "");
        if (!load.isEmpty() && !load.equals("full")) {
            throw new IllegalArgumentException(LOAD + " is \"" + load + "\"; it is full, or not set");
        }
        return load.equals("full");
    }

    /** {@return a duration, multiplied as {@link #TIMEOUT_MULTIPLIER} says} */
    static Duration scaled(Duration duration) {
        double multiplier = Double.parseDouble(System.getProperty(TIMEOUT_MULTIPLIER, "1"));
        return Duration.ofNanos((long) (duration.toNanos() * multiplier));
    }

    /** {@return how long the ranks may take to start and open the backend} */
    static Duration startTimeout() {
        return scaled(Duration.ofSeconds(60));
    }

    /** {@return how long a rule may take} */
    static Duration ruleTimeout() {
        return scaled(Duration.ofSeconds(fullLoad() ? 300 : 45));
    }

    /** {@return how long ranks wait for each other within a rule; some steps wait twice, and still end before the rule does} */
    static Duration groupTimeout() {
        return scaled(Duration.ofSeconds(15));
    }

    /** {@return how long the other ranks may go on when one has failed: enough to say so themselves if they fail for the same reason} */
    static Duration graceTimeout() {
        return scaled(Duration.ofSeconds(2));
    }

    /** {@return how long a process has to say what its threads do, or to end when it was let go} */
    static Duration answerTimeout() {
        return scaled(Duration.ofSeconds(2));
    }
}
