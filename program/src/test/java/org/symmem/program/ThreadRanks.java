package org.symmem.program;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemory;
import org.symmem.rendezvous.InMemoryStore;
import org.symmem.rendezvous.ProcessGroups;

/** Runs the same on all ranks, a thread each. */
final class ThreadRanks {
    @FunctionalInterface
    interface Body {
        void run(SymmetricMemory memory) throws Exception;
    }

    private ThreadRanks() {}

    static void run(String backend, int worldSize, Duration timeout, Body body) throws Exception {
        InMemoryStore store = new InMemoryStore();
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<?>> ranks = new ArrayList<>();
            for (int r = 0; r < worldSize; r++) {
                int rank = r;
                ranks.add(threads.submit(() -> {
                    try (ProcessGroup group = ProcessGroups.over(store, "world", rank, worldSize, rank, timeout);
                            SymmetricMemory memory = SymmetricMemory.open(group,
                                    SymmetricMemory.Options.defaults().withBackend(backend))) {
                        body.run(memory);
                    }
                    return null;
                }));
            }
            for (Future<?> rank : ranks) {
                try {
                    rank.get();
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof Exception cause) {
                        throw cause;
                    }
                    throw new AssertionError(e.getCause());
                }
            }
        }
    }
}
