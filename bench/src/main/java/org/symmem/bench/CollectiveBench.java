package org.symmem.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.collectives.Collective;
import org.symmem.collectives.Collectives;
import org.symmem.rendezvous.InMemoryStore;
import org.symmem.rendezvous.ProcessGroups;

/**
 * What broadcast from rank 0 and allgather cost back to back, by size: blocking on host memory, in the order of a stream on a device.
 * One rank of it, started by a launcher; or, with {@code threads N}, N ranks as threads of this process, for which one thread puts
 * all operations on the streams. Prints {@code name value unit}, a line each, on rank 0.
 */
public final class CollectiveBench implements AutoCloseable {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final long MIB = 1 << 20;
    private static final int ROUNDS = 7;
    private static final int WARM_UP = 2;
    private static final int COMPILED = 100_000;

    private final SymmetricMemory memory;
    private final Collectives collectives;
    private final Stream stream;
    private final int rank;

    private CollectiveBench(SymmetricMemory memory) {
        this.memory = memory;
        this.collectives = Collectives.of(memory);
        this.stream = memory.newStream();
        this.rank = memory.group().rank();
    }

    /** @param arguments none, or {@code threads} and how many */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 2 && arguments[0].equals("threads")) {
            threads(Integer.parseInt(arguments[1]));
            return;
        }
        try (ProcessGroup group = ProcessGroup.fromEnvironment();
                SymmetricMemory memory = SymmetricMemory.open(group);
                CollectiveBench bench = new CollectiveBench(memory)) {
            if (memory.capability(Capability.HOST_ACCESS).supported()) {
                bench.blocking();
            } else {
                bench.onStream();
            }
        }
    }

    private void blocking() {
        // The first sizes shall not pay for the compiler: it has seen every path before they are measured.
        for (long size : new long[]{8, 2048, 32 << 10}) {
            try (Operation operation = new Operation(size)) {
                repeat(COMPILED, operation::broadcastBlocking);
                repeat(COMPILED, operation::allGatherBlocking);
            }
        }
        for (long size = 8; size <= 64 * MIB; size *= size < MIB ? 16 : 8) {
            int calls = size <= 4096 ? 50_000 : size <= MIB ? 500 : 10;
            try (Operation operation = new Operation(size)) {
                operation.report("broadcast", 1, calls, () -> repeat(calls, operation::broadcastBlocking));
                operation.report("allgather", 1, calls, () -> repeat(calls, operation::allGatherBlocking));
            }
        }
    }

    private void onStream() {
        for (long size : new long[]{1024, 64 << 10, MIB, 16 * MIB, 64 * MIB, 256 * MIB}) {
            int calls = size <= MIB ? 200 : 10;
            try (Operation operation = new Operation(size)) {
                operation.report("broadcast", 1, calls, () -> {
                    repeat(calls, operation::broadcast);
                    stream.synchronize(SOON);
                });
                operation.report("allgather", 1, calls, () -> {
                    repeat(calls, operation::allGather);
                    stream.synchronize(SOON);
                });
            }
        }
    }

    private static void repeat(int calls, Runnable call) {
        for (int i = 0; i < calls; i++) {
            call.run();
        }
    }

    /** One size's tensors and collectives on one rank. */
    private final class Operation implements AutoCloseable {
        private final SymmetricTensor source;
        private final SymmetricTensor target;
        private final SymmetricTensor gathered;
        private final Collective broadcast;
        private final Collective gather;
        private final @Nullable TensorView broadcastSource;
        private final long size;

        Operation(long size) {
            this.size = size;
            this.source = memory.allocate(Shape.of(size), DataType.UINT8);
            this.target = memory.allocate(Shape.of(size), DataType.UINT8);
            this.gathered = memory.allocate(Shape.of(memory.group().worldSize(), size), DataType.UINT8);
            source.local().fill(rank + 1);
            this.broadcast = collectives.broadcast(target, 0);
            this.gather = collectives.allGather(gathered);
            this.broadcastSource = rank == 0 ? source.local() : null;
        }

        void broadcast() {
            broadcast.run(broadcastSource, stream, SOON);
        }

        void allGather() {
            gather.run(source.local(), stream, SOON);
        }

        void broadcastBlocking() {
            broadcast.run(broadcastSource, SOON);
        }

        void allGatherBlocking() {
            gather.run(source.local(), SOON);
        }

        void report(String name, int worlds, int calls, Runnable batch) {
            double[] micros = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                if (worlds == 1) {
                    memory.group().allGather("measuring", new byte[0], SOON);
                }
                long start = System.nanoTime();
                batch.run();
                micros[round] = (System.nanoTime() - start) / 1e3 / calls;
            }
            double[] measured = Arrays.copyOfRange(micros, WARM_UP, ROUNDS);
            Arrays.sort(measured);
            if (rank == 0) {
                System.out.printf("%s_%dB_%s %.3f us%n", name, size,
                        (name.equals("broadcast") ? broadcast : gather).algorithm(), measured[measured.length / 2]);
            }
        }

        @Override
        public void close() {
            source.close();
            target.close();
            gathered.close();
        }
    }

    /** Each step that ranks do together needs a thread a rank; the measured work does not. */
    private static void threads(int worldSize) throws Exception {
        KeyValueStore store = new InMemoryStore();
        try (ExecutorService pool = Executors.newFixedThreadPool(worldSize)) {
            List<CollectiveBench> ranks = together(pool, worldSize, rank -> new CollectiveBench(
                    SymmetricMemory.open(ProcessGroups.over(store, "world", rank, worldSize, 0, SOON))));
            List<Operation> operations = together(pool, worldSize, rank -> ranks.get(rank).new Operation(1024));
            int calls = 300;
            operations.getFirst().report("broadcast_" + worldSize + "_threads", worldSize, calls, () -> {
                repeat(calls, () -> operations.forEach(Operation::broadcast));
                ranks.forEach(rank -> rank.stream.synchronize(SOON));
            });
            operations.getFirst().report("allgather_" + worldSize + "_threads", worldSize, calls, () -> {
                repeat(calls, () -> operations.forEach(Operation::allGather));
                ranks.forEach(rank -> rank.stream.synchronize(SOON));
            });
            operations.forEach(Operation::close);
            for (CollectiveBench rank : ranks) {
                rank.close();
                rank.memory.close();
            }
        }
    }

    @FunctionalInterface
    private interface Part<T> {
        T of(int rank) throws Exception;
    }

    private static <T> List<T> together(ExecutorService pool, int worldSize, Part<T> part) throws Exception {
        List<Future<T>> futures = new ArrayList<>();
        for (int rank = 0; rank < worldSize; rank++) {
            int own = rank;
            futures.add(pool.submit(() -> part.of(own)));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) {
            results.add(future.get());
        }
        return results;
    }

    @Override
    public void close() {
        stream.close();
        collectives.close();
    }
}
