package org.symmem.bench;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.symmem.nvshmem.NvshmemShim;

/**
 * What it costs to go from Java to native code and back, doing nothing there: through the NVSHMEM backend's JNI, and beside it through
 * {@code java.lang.foreign} to a function that does as little. Needs neither library nor device. Run by JMH's main class.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 2, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@State(Scope.Benchmark)
public class NativeCrossing {
    private static final MethodHandle TO_LOWER = Linker.nativeLinker()
            .downcallHandle(Linker.nativeLinker().defaultLookup().find("tolower").orElseThrow(),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    /** Loads the shim. */
    @Setup
    public void load() {
        NvshmemShim.require();
    }

    /** {@return a constant of the shim} */
    @Benchmark
    public int jni() {
        return NvshmemShim.crossing();
    }

    /** {@return a letter} */
    @Benchmark
    public int foreign() throws Throwable {
        return (int) TO_LOWER.invokeExact((int) 'A');
    }
}
