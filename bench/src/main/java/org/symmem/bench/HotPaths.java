package org.symmem.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Signals;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.rendezvous.ProcessGroups;

/** The calls that must cost next to nothing and allocate nothing, over the host backend with one rank, so that nobody is waited for. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@State(Scope.Benchmark)
public class HotPaths {
    private static final Duration SOON = Duration.ofSeconds(10);
    /** So long that the C library copies. */
    private static final int LARGE_BYTES = 64 << 10;

    private ProcessGroup group;
    private SymmetricMemory memory;
    private SymmetricTensor tensor;
    private Arena arena;
    private MemorySegment eight;
    private MemorySegment many;
    private SymmetricTensor large;
    private TensorView view;
    private TensorView largeView;
    private Signals signals;

    /** Opens the memory. */
    @Setup
    public void open() {
        group = ProcessGroups.alone();
        memory = SymmetricMemory.open(group, SymmetricMemory.Options.defaults().withBackend("host"));
        tensor = memory.allocate(Shape.of(8), DataType.UINT8);
        tensor.rendezvous();
        large = memory.allocate(Shape.of(LARGE_BYTES), DataType.UINT8);
        large.rendezvous();
        arena = Arena.ofShared();
        eight = arena.allocate(8, 8);
        many = arena.allocate(LARGE_BYTES, 64);
        view = tensor.remote(0);
        largeView = large.remote(0);
        signals = tensor.signals();
    }

    /** Closes it. */
    @TearDown
    public void close() {
        arena.close();
        large.close();
        tensor.close();
        memory.close();
        group.close();
    }

    /** {@return the own buffer} */
    @Benchmark
    public TensorView localView() {
        return tensor.local();
    }

    /** {@return a peer's buffer} */
    @Benchmark
    public TensorView peerView() {
        return tensor.remote(0);
    }

    /** A signal. */
    @Benchmark
    public void signal() {
        signals.signal(0, 1);
    }

    /** A signal and a wait for it, which is there. */
    @Benchmark
    public void signalAndAwait() {
        signals.signal(0, 2);
        signals.await(0, 2, SOON);
    }

    /** A put of 8 bytes. */
    @Benchmark
    public void put8() {
        view.copyFrom(eight);
    }

    /** A get of 8 bytes. */
    @Benchmark
    public void get8() {
        view.copyTo(eight);
    }

    /** A put of 64 KiB. */
    @Benchmark
    public void put64KiB() {
        largeView.copyFrom(many);
    }

    /** A store of 8 bytes by plain address, as a user of segments writes it: what a put is measured against. */
    @Benchmark
    public void store8() {
        view.segment().set(ValueLayout.JAVA_LONG, 0, 42);
    }

    /** A barrier of one. */
    @Benchmark
    public void barrier() {
        signals.barrier(0, SOON);
    }
}
