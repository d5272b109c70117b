package org.symmem.collectives;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.Multicast;
import org.symmem.Shape;
import org.symmem.Support;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;
import org.symmem.TensorView;
import org.symmem.UnsupportedCapabilityException;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;

/**
 * Broadcast and allgather to symmetric tensors, over any backend.
 *
 * <p>The first call for a target is collective: ranks agree on what is to be done and how, and the target's rendezvous is done. The
 * same call for the same tensor object gives the same {@link Collective} again, at no cost; another tensor is another target, whatever
 * it holds. Belongs to one thread; the caller closes it, before the symmetric memory.
 *
 * <p>The algorithm is chosen by size and capabilities, or asked for by {@code symmem.broadcast} and {@code symmem.allgather}
 * ({@code SYMMEM_BROADCAST}, {@code SYMMEM_ALLGATHER}), equal on all ranks.
 *
 * <pre>{@code
 * try (Collectives collectives = Collectives.of(memory); Stream stream = memory.newStream()) {
 *     Collective gather = collectives.allGather(target);       // target is [worldSize, …shape of source]
 *     gather.post(source, stream);
 *     // other work on the stream
 *     gather.await(stream, Duration.ofSeconds(10));
 * }
 * }</pre>
 */
public final class Collectives implements AutoCloseable {
    private static final String BROADCAST = "broadcast";
    private static final String ALLGATHER = "allgather";
    private static final int NO_ROOT = -1;
    /** Up to here a second copy costs less than to wait until the target is free. */
    private static final long STAGED_MOST_BYTES = 16 << 10;
    private static final long MULTICAST_LEAST_BYTES = 64 << 10;
    /** What a store of the hardware to a multicast address is a multiple of. */
    private static final long MULTICAST_UNIT_BYTES = 16;

    private final SymmetricMemory memory;
    private final Optional<Algorithm> wanted;
    private final Map<SymmetricTensor, Map<Key, Collective>> byTarget = new IdentityHashMap<>();
    /** In the order in which they were made, which is the same on all ranks, so that closing may be collective. */
    private final List<Collective> inOrder = new ArrayList<>();

    private record Key(String operation, int root) {}

    private Collectives(SymmetricMemory memory, Optional<Algorithm> wanted) {
        this.memory = memory;
        this.wanted = wanted;
    }

    /** {@return collectives among the ranks of a symmetric memory} Local. */
    public static Collectives of(SymmetricMemory memory) {
        return new Collectives(memory, Optional.empty());
    }

    /**
     * Collectives that all use one algorithm, whatever the settings say. Local.
     *
     * @param memory    the ranks' symmetric memory
     * @param algorithm the same on all ranks
     * @return the collectives
     */
    public static Collectives of(SymmetricMemory memory, Algorithm algorithm) {
        return new Collectives(memory, Optional.of(algorithm));
    }

    /**
     * A broadcast to every rank's target. Collective the first time.
     *
     * @param target of this symmetric memory
     * @param root   the rank that sends, the same on all ranks
     * @return the broadcast; closed with this
     * @throws org.symmem.RanksDisagreeException on all ranks, if root, shape, type or algorithm differ
     * @throws IndexOutOfBoundsException         on all ranks, if the root is out of range
     * @throws UnsupportedCapabilityException    if multicast is asked for and not there
     */
    public Collective broadcast(SymmetricTensor target, int root) {
        return collective(target, new Key(BROADCAST, root));
    }

    /**
     * An allgather to every rank's target. Collective the first time.
     *
     * @param target of this symmetric memory; its outermost extent is the world size, and each rank's source comes to its position there
     * @return the allgather; closed with this
     * @throws org.symmem.RanksDisagreeException on all ranks, if shape, type or algorithm differ
     * @throws IllegalArgumentException          on all ranks, if the outermost extent is not the world size
     * @throws UnsupportedCapabilityException    if multicast is asked for and not there
     */
    public Collective allGather(SymmetricTensor target) {
        return collective(target, new Key(ALLGATHER, NO_ROOT));
    }

    private Collective collective(SymmetricTensor target, Key key) {
        Map<Key, Collective> known = byTarget.get(target);
        Collective ready = known == null ? null : known.get(key);
        if (ready != null && target.isOpen()) {
            return ready;
        }
        forgetClosedTargets();
        Collective made = make(target, key);
        inOrder.add(made);
        byTarget.computeIfAbsent(target, t -> new HashMap<>()).put(key, made);
        return made;
    }

    private Collective make(SymmetricTensor target, Key key) {
        if (target.memory() != memory) {
            throw new IllegalArgumentException(target + " belongs to " + target.memory() + ", these collectives to " + memory);
        }
        int worldSize = memory.group().worldSize();
        boolean gathers = key.root() == NO_ROOT;
        String name = key.operation() + (gathers ? "" : " from root " + key.root());
        target.rendezvous();
        Agreement agreement = memory.agreement("making a collective", name + " to " + target);
        agreeOn(agreement, target, key);
        if (!gathers && (key.root() < 0 || key.root() >= worldSize)) {
            throw new IndexOutOfBoundsException("root " + key.root() + " is not in [0, " + worldSize + ") of " + target);
        }
        if (gathers && (target.shape().rank() == 0 || target.shape().extent(0) != worldSize)) {
            throw new IllegalArgumentException("the outermost extent of the target of an allgather is the world size, " + worldSize
                    + "; not so of " + target);
        }
        Algorithm algorithm = algorithm(target, key, gathers ? target.sizeBytes() / worldSize : target.sizeBytes());
        Shape slots = target.shape().prepend(gathers ? AllGatherStaged.SLOTS : BroadcastStaged.SLOTS);
        Ground ground = new Ground(target, algorithm == Algorithm.STAGED
                ? tokens(agreement, slots, target.dataType())
                : tokens(agreement, Shape.of(1), DataType.UINT8), key.root());
        TensorView sourcePlace = gathers ? target.local().select(ground.rank()) : ground.isRoot() ? target.local() : null;
        boolean runsInCaller = memory.capability(Capability.HOST_ACCESS).supported()
                && memory.capability(Capability.HOST_SIGNALS).supported() && algorithm != Algorithm.MULTICAST;
        return new Collective(name, algorithm, ground, exchange(ground, gathers, algorithm), sourcePlace, runsInCaller);
    }

    private SymmetricTensor tokens(Agreement agreement, Shape shape, DataType dataType) {
        Closers begun = new Closers();
        try {
            List<SymmetricTensor> tokens = new ArrayList<>();
            agreement.check("allocating its tokens", () -> tokens.add(begun.add(memory.allocate(shape, dataType))));
            tokens.getFirst().rendezvous();
            return tokens.getFirst();
        } catch (Throwable e) {
            begun.closeBecauseOf(e);
            throw e;
        }
    }

    private void agreeOn(Agreement agreement, SymmetricTensor target, Key key) {
        SequencedMap<String, String> properties = new LinkedHashMap<>();
        agreement.check("reading the settings", () -> {
            properties.put("operation", key.operation());
            properties.put("root", key.root() == NO_ROOT ? "none" : String.valueOf(key.root()));
            properties.put("shape", target.shape().toString());
            properties.put("data type", target.dataType().toString());
            properties.put("algorithm", asked(key).map(String::valueOf).orElse("auto"));
        });
        agreement.compare("comparing collectives", properties);
    }

    private Optional<Algorithm> asked(Key key) {
        return wanted.isPresent() ? wanted : Algorithm.askedFor(key.operation());
    }

    private Algorithm algorithm(SymmetricTensor target, Key key, long sizeBytes) {
        Optional<Algorithm> asked = asked(key);
        Support multicast = target.multicastSupport();
        if (asked.isPresent()) {
            if (asked.get() == Algorithm.MULTICAST && multicast instanceof Support.No no) {
                throw new UnsupportedCapabilityException(Capability.MULTICAST, memory.backend(), no.reason());
            }
            return asked.get();
        }
        if (sizeBytes <= STAGED_MOST_BYTES) {
            return Algorithm.STAGED;
        }
        if (multicast.supported() && memory.group().worldSize() > 2 && sizeBytes >= MULTICAST_LEAST_BYTES
                && sizeBytes % MULTICAST_UNIT_BYTES == 0) {
            return Algorithm.MULTICAST;
        }
        // Processors that copy share the work when every rank reads; on a device one queue's copies have it to themselves.
        return memory.capability(Capability.HOST_ACCESS).supported() ? Algorithm.READ : Algorithm.WRITE;
    }

    private static Exchange exchange(Ground ground, boolean gathers, Algorithm algorithm) {
        Multicast multicast = algorithm == Algorithm.MULTICAST ? ground.target().multicast() : null;
        return switch (algorithm) {
            case STAGED -> gathers ? new AllGatherStaged(ground) : new BroadcastStaged(ground);
            case READ -> gathers ? new AllGatherRead(ground) : new BroadcastRead(ground);
            case WRITE, MULTICAST -> gathers ? new AllGatherWrite(ground, multicast) : new BroadcastWrite(ground, multicast);
        };
    }

    private void forgetClosedTargets() {
        byTarget.keySet().removeIf(target -> !target.isOpen());
        inOrder.removeIf(collective -> {
            boolean over = !collective.target().isOpen();
            if (over) {
                collective.close();
            }
            return over;
        });
    }

    /** Closes all of its collectives; their targets stay. Local or collective as {@link SymmetricTensor#close} is. */
    @Override
    public void close() {
        try (Closers closers = new Closers()) {
            inOrder.forEach(closers::add);
        }
        inOrder.clear();
        byTarget.clear();
    }
}
