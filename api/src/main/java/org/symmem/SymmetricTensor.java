package org.symmem;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;

/**
 * A buffer of the same shape and type on every rank. After {@link #rendezvous()} every rank reaches every other's buffer.
 *
 * <p>Made by {@link SymmetricMemory#allocate} or {@link SymmetricMemory#wrap}; the caller closes it. Its views, signals and
 * multicast address end with it: use after that is an {@link IllegalStateException} that names the tensor. Rendezvous and close
 * belong to one thread; views may be used by any.
 *
 * <table>
 * <caption>What may be called when</caption>
 * <tr><th>method</th><th>before rendezvous</th><th>after it</th><th>local or collective</th></tr>
 * <tr><td>{@link #local()}</td><td>yes</td><td>yes</td><td>local</td></tr>
 * <tr><td>{@link #rendezvous()}</td><td>yes</td><td>does nothing</td><td>collective the first time</td></tr>
 * <tr><td>{@link #remote}</td><td>this rank only</td><td>yes</td><td>local</td></tr>
 * <tr><td>{@link #contiguousView()}, {@link #multicast()}, {@link #signals()}</td><td>no</td><td>yes</td><td>local</td></tr>
 * <tr><td>{@link #close()}</td><td>yes</td><td>yes</td><td>local, where the backend has {@link Capability#LOCAL_CLOSE}</td></tr>
 * </table>
 */
public final class SymmetricTensor extends ViewOwner implements AutoCloseable {
    private final Resources resources;
    private final TensorDescription description;
    private final TensorView local;
    private @Nullable Signals signals;

    /** What must be closed, apart from the tensor, so that a forgotten tensor can be noticed. */
    static final class Resources {
        final String name;
        final long ordinal;
        final @Nullable Throwable allocationSite;
        private final Allocation allocation;
        private final Set<Stream> streams = ConcurrentHashMap.newKeySet();
        private volatile @Nullable PeerMapping mapping;
        private volatile boolean closed;

        Resources(String name, long ordinal, Allocation allocation, @Nullable Throwable allocationSite) {
            this.name = name;
            this.ordinal = ordinal;
            this.allocation = allocation;
            this.allocationSite = allocationSite;
        }

        boolean closed() {
            return closed;
        }

        void close(Duration patience) {
            closed = true;
            try (Closers closers = new Closers()) {
                closers.add(allocation);
                PeerMapping peers = mapping;
                if (peers != null) {
                    closers.add(peers);
                }
                streams.forEach(stream -> closers.add(() -> stream.finish(patience)));
            }
        }
    }

    SymmetricTensor(SymmetricMemory memory, TensorDescription description, Resources resources) {
        super(memory);
        this.description = description;
        this.resources = resources;
        this.local = view(resources.allocation.local());
    }

    /** {@return the extents of each rank's buffer} */
    public Shape shape() {
        return description.shape();
    }

    /** {@return the type of the elements} */
    public DataType dataType() {
        return description.dataType();
    }

    /** {@return the size of each rank's buffer, in bytes} */
    public long sizeBytes() {
        return description.sizeBytes();
    }

    /** {@return this rank's buffer; usable at once} Local. */
    public TensorView local() {
        ensureOpen();
        return local;
    }

    /**
     * Exchanges handles with all ranks and maps their buffers, within the group's timeout. Collective the first time; after
     * that it does nothing.
     *
     * @throws RanksDisagreeException    on all ranks, if they disagree on size, shape, type, order of allocation or channels
     * @throws CollectiveFailedException on all ranks, if a step failed on any; the tensor is as before and may try again
     * @throws DeadlineException         if a rank did not come in time; names the missing ranks
     * @throws IllegalStateException     if the tensor is closed
     */
    public void rendezvous() {
        rendezvous(memory.group().timeout());
    }

    /**
     * As {@link #rendezvous()}, with a timeout of its own.
     *
     * @param timeout how long this rank waits for the others, over all steps together
     */
    public void rendezvous(Duration timeout) {
        ensureOpen();
        if (resources.mapping != null) {
            return;
        }
        Agreement agreement = memory.agreement("rendezvous of allocation " + description.ordinal(), toString(), timeout);
        if (memory.allocatesLocally()) {
            description.agreeOn(agreement);
        }
        PeerMapping mapping = Answer.of(resources.allocation.rendezvous(agreement), memory.backend(), "rendezvous");
        boolean signalled = memory.capability(Capability.HOST_SIGNALS).supported()
                || memory.capability(Capability.STREAM_SIGNALS).supported();
        SignalPad pad = signalled ? Answer.of(mapping.signals(), memory.backend(), "signals") : new SignalPad() {
        };
        signals = new Signals(this, pad, description.channels());
        resources.mapping = mapping;
    }

    /** {@return whether {@link #close()} was not called yet} */
    public boolean isOpen() {
        return !resources.closed();
    }

    /** {@return the symmetric memory that it was allocated in} */
    public SymmetricMemory memory() {
        return memory;
    }

    /** {@return whether {@link #rendezvous()} is done} */
    public boolean isRendezvoused() {
        return resources.mapping != null;
    }

    /**
     * The buffer of a rank as this one reaches it. Local.
     *
     * @param rank of the group; this rank too, which works before the rendezvous
     * @return its view
     * @throws IndexOutOfBoundsException if the rank is out of range
     * @throws IllegalStateException     if the tensor is closed, or another rank is asked for before the rendezvous
     */
    public TensorView remote(int rank) {
        ensureOpen();
        if (rank < 0 || rank >= worldSize()) {
            throw rankOutOfRange(rank);
        }
        return rank == memory.group().rank() ? local : view(mapping("remote(" + rank + ")").peer(rank));
    }

    /**
     * All ranks' buffers as one tensor, without a copy: {@code [worldSize, …shape]}. Where a buffer's size is not a multiple of
     * {@link SymmetricMemory#granularityBytes()} there are gaps between the ranks, and the outermost stride says so. Local.
     *
     * @return the view
     * @throws UnsupportedCapabilityException if the backend has no {@link Capability#CONTIGUOUS_VIEW}
     * @throws IllegalStateException           if the tensor is closed or its rendezvous is not done
     */
    public TensorView contiguousView() {
        ensureOpen();
        require(Capability.CONTIGUOUS_VIEW);
        PeerMapping mapping = mapping("contiguousView()");
        Shape shape = shape().prepend(worldSize());
        long[] strides = shape.denseStrides();
        strides[0] = mapping.contiguousStrideBytes() / dataType().sizeBytes();
        return new TensorView(this, Answer.of(mapping.contiguous(), memory.backend(), "contiguous"), 0, shape, strides, dataType());
    }

    /**
     * {@return whether one store can reach all ranks' buffers of this tensor, and why or why not; the same on all ranks} Local.
     *
     * @throws IllegalStateException if the tensor is closed or its rendezvous is not done
     */
    public Support multicastSupport() {
        ensureOpen();
        return memory.capability(Capability.MULTICAST) instanceof Support.No no ? no : mapping("multicastSupport()").multicastSupport();
    }

    /**
     * The address whose stores reach all ranks' buffers. All ranks have it, or none. Local.
     *
     * @return the multicast address
     * @throws UnsupportedCapabilityException if there is none, with the reason of {@link #multicastSupport()}
     * @throws IllegalStateException           if the tensor is closed or its rendezvous is not done
     */
    public Multicast multicast() {
        ensureOpen();
        require(Capability.MULTICAST);
        PeerMapping mapping = mapping("multicast()");
        if (mapping.multicastSupport() instanceof Support.No no) {
            throw unsupported(Capability.MULTICAST, no.reason());
        }
        return new Multicast(this, Answer.of(mapping.multicast(), memory.backend(), "multicast"));
    }

    /**
     * {@return the signals among the ranks of this tensor} Local.
     *
     * @throws IllegalStateException if the tensor is closed or its rendezvous is not done
     */
    public Signals signals() {
        ensureOpen();
        mapping("signals()");
        return Objects.requireNonNull(signals);
    }

    /**
     * Waits for the streams that use the tensor, unmaps the peers and frees this rank's buffer. Closing twice is fine. Local, or collective where the backend has no
     * {@link Capability#LOCAL_CLOSE}; peers that mapped the buffer keep what they mapped until they close theirs.
     */
    @Override
    public void close() {
        if (!resources.closed()) {
            memory.forget(resources);
            resources.close(memory.group().timeout());
        }
    }

    int worldSize() {
        return memory.group().worldSize();
    }

    @Override
    TensorView own() {
        return local;
    }

    @Override
    boolean closed() {
        return resources.closed();
    }

    @Override
    Set<Stream> streams() {
        return resources.streams;
    }

    IndexOutOfBoundsException rankOutOfRange(int rank) {
        return new IndexOutOfBoundsException("rank " + rank + " is not in [0, " + worldSize() + ") of " + this);
    }

    private TensorView view(Memory of) {
        Answer.of(of, memory.backend(), resources.mapping == null ? "local" : "peer");
        return new TensorView(this, of, 0, shape(), shape().denseStrides(), dataType());
    }

    private PeerMapping mapping(String wanted) {
        PeerMapping mapping = resources.mapping;
        if (mapping == null) {
            throw new IllegalStateException(wanted + " needs a rendezvous first: " + this);
        }
        return mapping;
    }

    /** {@return for instance {@code SymmetricTensor[rank 1/4, float32 2x262144, host]}} */
    @Override
    public String toString() {
        return resources.name;
    }

    /** What ranks must agree on before they exchange handles. */
    record TensorDescription(long ordinal, Shape shape, DataType dataType, int channels) {
        long sizeBytes() {
            return shape.elements() * dataType.sizeBytes();
        }

        void agreeOn(Agreement agreement) {
            SequencedMap<String, String> properties = new LinkedHashMap<>();
            properties.put("order of allocation", "allocation " + ordinal);
            properties.put("shape", shape.toString());
            properties.put("data type", dataType.toString());
            properties.put("size in bytes", Long.toString(sizeBytes()));
            properties.put("channels", Integer.toString(channels));
            properties.put("signal pad layout", "version " + SignalPadLayout.VERSION);
            agreement.compare("comparing descriptions", properties);
        }
    }
}
