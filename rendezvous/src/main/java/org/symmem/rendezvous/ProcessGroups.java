package org.symmem.rendezvous;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Closers;

/** Makes process groups. Users reach it through {@link ProcessGroup}; what is here besides is for engines and tests. */
public final class ProcessGroups {
    /** How long rank 0 goes on serving the store for ranks that have not said that they go. */
    private static final Duration FAREWELL = Duration.ofSeconds(3);
    private static final AtomicInteger WORLDS_OF_ONE = new AtomicInteger();

    private ProcessGroups() {}

    /**
     * Joins the group that a launcher's variables describe. See {@link ProcessGroup#fromEnvironment()}.
     *
     * @param variables the variables of the process
     * @return the world group; the caller closes it
     */
    public static ProcessGroup fromEnvironment(Map<String, String> variables) {
        LaunchEnvironment launch = LaunchEnvironment.of(variables);
        Duration timeout = Settings.timeout(variables);
        if (launch.store().isEmpty()) {
            return new StoreProcessGroup(launch.keyPrefix(), 0, 1, launch.localRank(), timeout, new InMemoryStore(), () -> {});
        }
        LaunchEnvironment.Address address = launch.store().get();
        Closers closers = new Closers();
        try {
            if (launch.rank() == 0 && !launch.agentStore()) {
                String listen = Settings.value(Settings.LISTEN_PROPERTY, Settings.LISTEN_VARIABLE, variables).orElse(address.host());
                closers.add(TcpStoreServer.start(new InetSocketAddress(listen, address.port()), StoreLimits.defaults()));
            }
            TcpStore store = closers.add(TcpStore.connect(address.host(), address.port(), timeout));
            store.announceWorker();
            boolean serves = launch.rank() == 0 && !launch.agentStore();
            return new StoreProcessGroup(launch.keyPrefix(), launch.rank(), launch.worldSize(), launch.localRank(), timeout, store,
                    () -> leave(launch, store, serves, closers));
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    /** A rank that serves the store must not go before the others: their last steps need it. */
    private static void leave(LaunchEnvironment launch, TcpStore store, boolean serves, Closers closers) {
        try (closers) {
            store.set(farewell(launch, launch.rank()), new byte[0]);
            if (serves) {
                store.await(java.util.stream.IntStream.range(0, launch.worldSize()).mapToObj(rank -> farewell(launch, rank)).toList(),
                        FAREWELL);
            }
        } catch (SymmetricMemoryException e) {
            // The store went first; there is nobody left to say farewell to.
        }
    }

    private static String farewell(LaunchEnvironment launch, int rank) {
        return launch.keyPrefix() + "/farewell/" + rank;
    }

    /**
     * Makes a group over a store. See {@link ProcessGroup#of}.
     *
     * @param localRank this rank among those of its host
     * @param timeout   how long collective steps wait unless told otherwise
     */
    public static ProcessGroup over(KeyValueStore store, String name, int rank, int worldSize, int localRank, Duration timeout) {
        return new StoreProcessGroup(name, rank, worldSize, localRank, timeout, store, () -> {});
    }

    /** {@return a group of this process alone, which needs no store} */
    public static ProcessGroup alone() {
        return over(new InMemoryStore(), "alone-" + WORLDS_OF_ONE.incrementAndGet(), 0, 1, 0, Settings.timeout(System.getenv()));
    }

    /**
     * Makes a group over an engine's own all-gather, for engines that have a barrier with messages rather than a store. Sub-groups
     * cannot be made of it, for the engine gathers from all ranks.
     *
     * @param gather    collective; gives every rank's bytes in rank order, or throws when its deadline passes
     * @param name      distinguishes the group
     * @param rank      this rank
     * @param worldSize the number of ranks
     * @param localRank this rank among those of its host
     * @return the group; the caller closes it
     */
    public static ProcessGroup over(AllGather gather, String name, int rank, int worldSize, int localRank) {
        return new GatheringProcessGroup(gather, name, rank, worldSize, localRank, Settings.timeout(System.getenv()));
    }
}
