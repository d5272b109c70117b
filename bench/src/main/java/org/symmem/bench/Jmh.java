package org.symmem.bench;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/** Runs the benchmarks of calls that must be cheap, with the bytes that they allocate. */
public final class Jmh {
    private Jmh() {}

    /**
     * Blocks for about a minute.
     *
     * @param json where results are kept as well
     * @throws IllegalStateException if a benchmark cannot be run
     */
    public static void run(@Nullable Path json) {
        ChainedOptionsBuilder options = new OptionsBuilder().include(HotPaths.class.getName())
                .include(Meeting.class.getName())
                .include(NativeCrossing.class.getName())
                .addProfiler(GCProfiler.class)
                .shouldFailOnError(true);
        if (json != null) {
            options = options.resultFormat(ResultFormatType.JSON).result(json.toString());
        }
        try {
            new Runner(options.build()).run();
        } catch (RunnerException e) {
            throw new IllegalStateException("JMH cannot run the benchmarks: " + e.getMessage(), e);
        }
    }
}
