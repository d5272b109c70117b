package org.symmem.rendezvous;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;

/** Runs the same on all ranks of a group, a thread each. */
final class ThreadRanks {
    /** What a rank does. */
    @FunctionalInterface
    interface Body<T> {
        T run(ProcessGroup group) throws Exception;
    }

    private ThreadRanks() {}

    static <T> List<T> run(int worldSize, KeyValueStore store, String name, Duration timeout, Body<T> body) throws Exception {
        try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<T>> results = new ArrayList<>();
            for (int r = 0; r < worldSize; r++) {
                int rank = r;
                Callable<T> work = () -> {
                    try (ProcessGroup group = ProcessGroups.over(store, name, rank, worldSize, rank, timeout)) {
                        return body.run(group);
                    }
                };
                results.add(threads.submit(work));
            }
            List<T> values = new ArrayList<>();
            for (Future<T> result : results) {
                values.add(result.get());
            }
            return values;
        }
    }
}
