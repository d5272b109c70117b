package org.symmem.bench;

import java.util.List;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.util.Version;

/** Runs the benchmarks of calls that must be cheap, with the bytes that they allocate. */
public final class Jmh {
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    private Jmh() {}

    /** {@return the version of JMH} */
    public static String version() {
        return Version.getPlainVersion();
    }

    /**
     * Blocks for two minutes. JMH prints on standard output how far it is.
     *
     * @return what was found
     * @throws IllegalStateException if a benchmark cannot be run
     */
    public static List<CheapCalls.Call> run() {
        try {
            return new Runner(new OptionsBuilder().include(HotPaths.class.getName())
                    .include(Meeting.class.getName())
                    .include(NativeCrossing.class.getName())
                    .addProfiler(GCProfiler.class)
                    .shouldFailOnError(true)
                    .build()).run().stream().map(Jmh::call).toList();
        } catch (RunnerException e) {
            throw new IllegalStateException("JMH cannot run the benchmarks: " + e.getMessage(), e);
        }
    }

    private static CheapCalls.Call call(RunResult result) {
        String name = result.getParams().getBenchmark();
        Result<?> time = result.getPrimaryResult();
        return new CheapCalls.Call(name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1), time.getScore(),
                time.getScoreError(), result.getSecondaryResults().get(ALLOCATED).getScore());
    }
}
