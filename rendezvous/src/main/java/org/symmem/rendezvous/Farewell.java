package org.symmem.rendezvous;

import java.time.Duration;
import java.util.stream.IntStream;
import org.symmem.KeyValueStore;

/**
 * How ranks leave a group whose store one of them serves: that one must not go before the others, whose last steps need it. Each
 * rank leaves a key, and only the one that serves waits for them.
 */
final class Farewell {
    private final KeyValueStore store;
    private final String group;
    private final int rank;
    private final int worldSize;

    Farewell(KeyValueStore store, String group, int rank, int worldSize) {
        this.store = store;
        this.group = group;
        this.rank = rank;
        this.worldSize = worldSize;
    }

    /** Says that this rank needs the store no more. Local. */
    void say() {
        store.set(key(rank), new byte[0]);
    }

    /** Waits until all ranks have said so, or the time has passed. */
    void awaitAll(Duration patience) {
        store.await(IntStream.range(0, worldSize).mapToObj(this::key).toList(), patience);
    }

    private String key(int of) {
        return group + "/farewell/" + of;
    }
}
