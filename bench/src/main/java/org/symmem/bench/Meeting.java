package org.symmem.bench;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.rendezvous.InMemoryStore;
import org.symmem.rendezvous.ProcessGroups;

/** A barrier of two ranks, threads of one process, over the host backend; what both allocate counts. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC"})
@State(Scope.Benchmark)
public class Meeting {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int CHANNEL = 0;

    private final KeyValueStore store = new InMemoryStore();
    private volatile boolean over;
    private Rank own;
    private CompletableFuture<Void> other;

    /** One rank with what it has opened. */
    private record Rank(ProcessGroup group, SymmetricMemory memory, SymmetricTensor tensor) implements AutoCloseable {
        static Rank open(int rank, KeyValueStore store) {
            ProcessGroup group = ProcessGroups.over(store, "meeting", rank, 2, rank, SOON);
            SymmetricMemory memory = SymmetricMemory.open(group, SymmetricMemory.Options.defaults().withBackend("host"));
            SymmetricTensor tensor = memory.allocate(Shape.of(8), DataType.UINT8);
            tensor.rendezvous();
            return new Rank(group, memory, tensor);
        }

        void meet() {
            tensor.signals().barrier(CHANNEL, SOON);
        }

        @Override
        public void close() {
            tensor.close();
            memory.close();
            group.close();
        }
    }

    /** Opens both ranks; the other one meets this one from now on. */
    @Setup
    public void open() {
        other = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try (Rank rank = Rank.open(1, store)) {
                while (!over) {
                    rank.meet();
                }
                other.complete(null);
            } catch (RuntimeException e) {
                other.completeExceptionally(e);
            }
        });
        own = Rank.open(0, store);
    }

    /** Ends both. */
    @TearDown
    public void close() {
        over = true;
        // The other one is on its way to a barrier, for which it needs this one once more.
        own.meet();
        other.join();
        own.close();
    }

    /** A barrier of two. */
    @Benchmark
    public void barrierOfTwo() {
        own.meet();
    }
}
