package org.symmem.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.symmem.DataType;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.rendezvous.InMemoryStore;

/** Ranks as threads of one process; the kit runs them as processes. */
class HostThreadsTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    @FunctionalInterface
    private interface RankBody {
        void run(SymmetricMemory memory) throws Exception;
    }

    private static void onThreads(int worldSize, RankBody body) throws Exception {
        InMemoryStore store = new InMemoryStore();
        try (ExecutorService ranks = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<?>> results = new ArrayList<>();
            for (int r = 0; r < worldSize; r++) {
                int rank = r;
                Callable<Void> work = () -> {
                    try (ProcessGroup group = ProcessGroup.of(rank, worldSize, store, "threads");
                            SymmetricMemory memory = SymmetricMemory.open(group)) {
                        body.run(memory);
                    }
                    return null;
                };
                results.add(ranks.submit(work));
            }
            for (Future<?> result : results) {
                result.get();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 8})
    void everyRankReadsEveryRankThroughPeersAndTheContiguousView(int worldSize) throws Exception {
        onThreads(worldSize, memory -> {
            int rank = memory.group().rank();
            try (SymmetricTensor tensor = memory.allocate(Shape.of(2, 1025), DataType.FLOAT32)) {
                tensor.local().fill(rank + 100f);
                tensor.local().set(rank, 1, 1024);
                tensor.rendezvous();
                tensor.signals().barrier(0, SOON);
                TensorView all = tensor.contiguousView();
                assertThat(all.shape()).isEqualTo(Shape.of(worldSize, 2, 1025));
                for (int peer = 0; peer < worldSize; peer++) {
                    assertThat(tensor.remote(peer).get(0, 7)).isEqualTo(peer + 100);
                    assertThat(tensor.remote(peer).get(1, 1024)).isEqualTo(peer);
                    assertThat(all.get(peer, 1, 1023)).isEqualTo(peer + 100);
                    assertThat(all.get(peer, 1, 1024)).isEqualTo(peer);
                }
                tensor.signals().barrier(0, SOON);
            }
        });
    }

    @Test
    void aStreamPutsAndSignalsInOrder() throws Exception {
        onThreads(2, memory -> {
            int rank = memory.group().rank();
            int peer = 1 - rank;
            try (SymmetricTensor tensor = memory.allocate(Shape.of(4096), DataType.INT32);
                    SymmetricTensor source = memory.allocate(Shape.of(4096), DataType.INT32)) {
                tensor.rendezvous();
                try (Stream stream = memory.newStream()) {
                    for (int round = 1; round <= 100; round++) {
                        source.local().fill(round * 10 + rank);
                        tensor.remote(peer).copyFrom(source.local(), stream);
                        tensor.signals().signal(peer, 1, stream);
                        tensor.signals().await(peer, 1, stream, SOON);
                        stream.synchronize(SOON);
                        assertThat(tensor.local().get(4095)).isEqualTo(round * 10 + peer);
                        tensor.signals().barrier(0, SOON);
                    }
                }
            }
        });
    }

    @Test
    void aClosedTensorSaysSo() throws Exception {
        onThreads(1, memory -> {
            SymmetricTensor tensor = memory.allocate(Shape.of(3), DataType.INT8);
            TensorView view = tensor.local();
            tensor.close();
            tensor.close();
            assertThatThrownBy(view::segment).isInstanceOf(IllegalStateException.class)
                    .hasMessage("closed: SymmetricTensor[rank 0/1, int8 3, host]");
            assertThat(memory.liveAllocations()).isEmpty();
        });
    }
}
