package org.symmem.collectives;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemory;
import org.symmem.rendezvous.InMemoryStore;
import org.symmem.rendezvous.ProcessGroups;

/** Runs one body on threads as ranks, over the host backend. */
final class Ranks {
    static final Duration SOON = Duration.ofSeconds(10);

    private Ranks() {}

    @FunctionalInterface
    interface Body {
        void run(SymmetricMemory memory) throws Exception;
    }

    static void run(int worldSize, Body body) throws Exception {
        KeyValueStore store = new InMemoryStore();
        try (ExecutorService threads = Executors.newFixedThreadPool(worldSize)) {
            List<Future<?>> ranks = new ArrayList<>();
            for (int rank = 0; rank < worldSize; rank++) {
                int own = rank;
                ranks.add(threads.submit(() -> {
                    try (ProcessGroup group = ProcessGroups.over(store, "world", own, worldSize, own, SOON);
                            SymmetricMemory memory = SymmetricMemory.open(group,
                                    SymmetricMemory.Options.defaults().withBackend("host"))) {
                        body.run(memory);
                    }
                    return null;
                }));
            }
            for (Future<?> rank : ranks) {
                rank.get();
            }
        }
    }
}
