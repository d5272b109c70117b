package org.symmem.rendezvous;

import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.symmem.ErrorCode;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Closers;

/** Makes process groups. Users reach it through {@link ProcessGroup}; what is here besides is for engines and tests. */
public final class ProcessGroups {
    private static final System.Logger LOG = System.getLogger("org.symmem.rendezvous");

    /** How long rank 0 goes on serving the store for ranks that have not said that they go; less if its timeout is shorter. */
    private static final Duration FAREWELL = Duration.ofSeconds(10);
    /** Whose store it is, where rank 0 serves it. */
    private static final String JOB_KEY = "symmem/job";
    private static final AtomicInteger WORLDS_OF_ONE = new AtomicInteger();
    /** How many world groups each rank of this process has joined by an agent's store. */
    private static final Map<String, Integer> WORLDS = new ConcurrentHashMap<>();

    private ProcessGroups() {}

    /**
     * Joins the group that a launcher's variables describe. See {@link ProcessGroup#fromEnvironment()}. Closing the group is local,
     * but that rank 0, if it serves the store, waits until the others have closed theirs, 10 seconds at most or the group's timeout
     * if that is shorter.
     *
     * @param variables the variables of the process
     * @return the world group; the caller closes it
     * @throws SymmetricMemoryException if a variable or setting is missing or wrong, the store cannot be reached in time, or rank 0
     *                                  cannot listen for it
     */
    public static ProcessGroup fromEnvironment(Map<String, String> variables) {
        LaunchEnvironment launch = LaunchEnvironment.of(variables);
        Duration timeout = Settings.timeout(variables);
        if (launch.store().isEmpty()) {
            return StoreProcessGroup.of(launch.keyPrefix(), 0, 1, launch.localRank(), timeout, new InMemoryStore(), () -> {});
        }
        LaunchEnvironment.Address address = launch.store().get();
        Optional<StoreToken> token = StoreToken.of(variables);
        boolean serves = launch.rank() == 0 && !launch.agentStore();
        Closers closers = new Closers();
        try {
            if (serves) {
                String listen = Settings.value(Settings.LISTEN_PROPERTY, Settings.LISTEN_VARIABLE, variables).orElse(address.host());
                closers.add(TcpStoreServer.start(new InetSocketAddress(listen, address.port()), StoreLimits.defaults(), token));
            }
            TcpStore store = closers.add(TcpStore.connect(address.host(), address.port(), timeout, token));
            store.announceWorker();
            if (!launch.agentStore()) {
                meetOwnJob(store, launch, address, timeout);
            }
            String name = nameOf(launch);
            Farewell farewell = new Farewell(store, name, launch.rank(), launch.worldSize());
            Duration patience = timeout.compareTo(FAREWELL) < 0 ? timeout : FAREWELL;
            return StoreProcessGroup.of(name, launch.rank(), launch.worldSize(), launch.localRank(), timeout, store,
                    () -> leave(farewell, serves, patience, closers));
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    /** Where two jobs were given one port, one of them has the store: the ranks of the other must hear of it instead of waiting in it. */
    private static void meetOwnJob(TcpStore store, LaunchEnvironment launch, LaunchEnvironment.Address address, Duration timeout) {
        byte[] own = launch.keyPrefix().getBytes(StandardCharsets.UTF_8);
        if (launch.rank() == 0) {
            store.set(JOB_KEY, own);
            return;
        }
        byte[] served = store.get(JOB_KEY, timeout).orElseThrow(() -> wrongStore(launch, address, "no job of this framework"));
        if (!Arrays.equals(served, own)) {
            throw wrongStore(launch, address, "job " + StoreRequest.printable(new String(served, StandardCharsets.UTF_8)));
        }
    }

    private static SymmetricMemoryException wrongStore(LaunchEnvironment launch, LaunchEnvironment.Address address, String whose) {
        return new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE, "the store on " + address.host() + ":" + address.port()
                + " belongs to " + whose + ", not to " + launch.keyPrefix() + ". Give each job a MASTER_PORT of its own");
    }

    /** A store that rank 0 serves is new for each group; an agent's outlives a group, and every rank joins the next one in turn. */
    private static String nameOf(LaunchEnvironment launch) {
        return launch.agentStore()
                ? launch.keyPrefix() + "/" + WORLDS.merge(launch.keyPrefix() + "/" + launch.rank(), 1, Integer::sum)
                : launch.keyPrefix();
    }

    private static void leave(Farewell farewell, boolean serves, Duration patience, Closers closers) {
        try (closers) {
            farewell.say();
            if (serves) {
                farewell.awaitAll(patience);
            }
        } catch (SymmetricMemoryException e) {
            // The store went first; there is nobody left to say farewell to.
            LOG.log(Level.DEBUG, "the store had ended before the group was closed", e);
        }
    }

    /**
     * Makes a group over a store. See {@link ProcessGroup#of}.
     *
     * @param localRank this rank among those of its host
     * @param timeout   how long collective steps wait unless told otherwise
     */
    public static ProcessGroup over(KeyValueStore store, String name, int rank, int worldSize, int localRank, Duration timeout) {
        return StoreProcessGroup.of(name, rank, worldSize, localRank, timeout, store, () -> {});
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
