package org.symmem;

import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.Closers;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.Transfers;
import org.symmem.spi.Wire;

/**
 * Symmetric memory of one process group: where tensors are allocated that every rank can reach.
 *
 * <p>{@link #open} is collective and fails alike on all ranks. The caller closes it, after its tensors and streams. Allocating
 * and closing belong to one thread at a time.
 *
 * <pre>{@code
 * try (ProcessGroup group = ProcessGroup.fromEnvironment();
 *      SymmetricMemory memory = SymmetricMemory.open(group)) {
 *     SymmetricTensor tensor = memory.allocate(Shape.of(2, 262_144), DataType.FLOAT32);
 *     tensor.local().fill(group.rank() + 100f);
 *     tensor.rendezvous();
 *     TensorView peer = tensor.remote(1);
 *     tensor.signals().barrier(0, Duration.ofSeconds(10));
 * }
 * }</pre>
 */
public final class SymmetricMemory implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("org.symmem");
    private static final Cleaner LEAKS = Cleaner.create();

    private final ProcessGroup group;
    private final Options options;
    private final String backendName;
    private final String selection;
    private final Backend backend;
    private final ProcessGroup meetingGroup;
    private final Map<Capability, Support> capabilities;
    private final Set<SymmetricTensor.Resources> tensors = ConcurrentHashMap.newKeySet();
    private final Set<GlobalTensor.Resources> globals = ConcurrentHashMap.newKeySet();
    private final Set<Stream> streams = ConcurrentHashMap.newKeySet();
    private long allocations;
    private volatile boolean closed;

    private SymmetricMemory(ProcessGroup group, Options options, BackendSelection.Choice selection, Backend backend,
            Map<Capability, Support> capabilities) {
        this.group = group;
        this.options = options;
        this.backendName = selection.provider().name();
        this.selection = selection.explanation();
        this.backend = backend;
        this.meetingGroup = backend.meetingGroup(group);
        this.capabilities = capabilities;
    }

    /**
     * What can be chosen when symmetric memory is opened; must be equal on all ranks.
     *
     * @param backend  the backend's name, or empty for {@code symmem.backend}, {@code SYMMEM_BACKEND} or the best that all have
     * @param channels signal channels of each tensor, from 1 to 1024
     */
    public record Options(Optional<String> backend, int channels) {
        /** Checks the values. */
        public Options {
            if (channels < 1 || channels > 1024) {
                throw new IllegalArgumentException("channels must be from 1 to 1024, not " + channels);
            }
        }

        /** {@return no backend asked for, and 16 channels} */
        public static Options defaults() {
            return new Options(Optional.empty(), 16);
        }

        /** {@return these options with a backend asked for} */
        public Options withBackend(String name) {
            return new Options(Optional.of(name), channels);
        }

        /** {@return these options with another number of channels} */
        public Options withChannels(int number) {
            return new Options(backend, number);
        }
    }

    /** Opens symmetric memory with {@link Options#defaults()}. See {@link #open(ProcessGroup, Options)}. */
    public static SymmetricMemory open(ProcessGroup group) {
        return open(group, Options.defaults());
    }

    /**
     * Agrees with all ranks on one backend and opens it. Collective; waits for the group's timeout at most.
     *
     * @param group   the ranks; stays open as long as this
     * @param options equal on all ranks
     * @return symmetric memory; the caller closes it
     * @throws RanksDisagreeException    on all ranks, if they ask for different backends or options
     * @throws SymmetricMemoryException  on all ranks, if the backend is unknown or unavailable on one, or opening it fails
     * @throws UnsupportedCapabilityException on all ranks, if the group is part of another and the backend has no
     *                                   {@link Capability#SUBGROUPS}
     * @throws DeadlineException         if a rank did not come in time; names the missing ranks
     */
    public static SymmetricMemory open(ProcessGroup group, Options options) {
        Agreement choosing = new Agreement(group, "opening symmetric memory", rankOf(group), () -> "no device yet", group.timeout());
        BackendSelection.Choice choice = BackendSelection.ofInstalled().choose(choosing, options.backend());
        String name = choice.provider().name();
        choosing.compare("comparing options", new TreeMap<>(Map.of("channels", Integer.toString(options.channels()))));
        Closers opened = new Closers();
        try {
            Agreement opening = new Agreement(group, "opening backend " + name, rankOf(group), () -> "backend " + name, group.timeout());
            @Nullable
            Backend answer = choice.provider().open(group, opening);
            if (answer != null) {
                opened.add(answer);
            }
            Map<Capability, Support> capabilities = commonCapabilities(opening, name, answer);
            Backend backend = Answer.of(answer, name, "open");
            if (group.isPartOfAnother() && capabilities.get(Capability.SUBGROUPS) instanceof Support.No no) {
                throw new UnsupportedCapabilityException(Capability.SUBGROUPS, name, no.reason());
            }
            LOG.log(Level.INFO, "rank {0}/{1} on host {2}, {3}: chose backend {4}", group.rank(), group.worldSize(),
                    HostIdentity.local().name(), backend.device(), choice.explanation());
            return new SymmetricMemory(group, options, choice, backend, capabilities);
        } catch (Throwable e) {
            opened.closeBecauseOf(e);
            throw e;
        }
    }

    /** {@return every backend that was found on the class path or module path, the preferred first, and whether it can be used} Local; never throws. */
    public static List<ProviderReport> providers() {
        return BackendSelection.ofInstalled().reports();
    }

    private static Map<Capability, Support> commonCapabilities(Agreement agreement, String name, @Nullable Backend answer) {
        List<byte[]> all = agreement.step("comparing capabilities", () -> {
            Map<Capability, Support> own = Answer.of(Answer.of(answer, name, "open").capabilities(), name, "capabilities");
            return Wire.write(out -> {
                out.writeUTF(HostIdentity.local().bootId());
                for (Capability capability : Capability.values()) {
                    Support support = own.getOrDefault(capability, new Support.No("the backend does not offer it"));
                    out.writeBoolean(support.supported());
                    out.writeUTF(support.explanation());
                }
            });
        });
        Map<Capability, Support> common = new EnumMap<>(Capability.class);
        List<String> hosts = new ArrayList<>();
        for (int rank = 0; rank < all.size(); rank++) {
            int from = rank;
            Wire.read(all.get(rank), in -> {
                hosts.add(in.readUTF());
                for (Capability capability : Capability.values()) {
                    boolean supported = in.readBoolean();
                    String explanation = in.readUTF();
                    common.merge(capability, supported ? new Support.Yes(explanation) : new Support.No(explanation),
                            (soFar, next) -> soFar.supported() && !next.supported()
                                    ? new Support.No("rank " + from + ": " + next.explanation())
                                    : soFar);
                }
                return common;
            });
        }
        if (common.get(Capability.MULTIPLE_HOSTS) instanceof Support.No no && hosts.stream().distinct().count() > 1) {
            throw new RanksDisagreeException("ranks of " + agreement.group().name()
                    + " are on different hosts, which the backend cannot span: " + no.reason() + ". Boot ids by rank: " + hosts);
        }
        return common;
    }

    /** {@return the name of the backend in use; the same on all ranks} */
    public String backend() {
        return backendName;
    }

    /** {@return the backend in use, why it was chosen, and why none of the others was; in words} */
    public String selection() {
        return selection;
    }

    /** {@return this rank's device in words} */
    public String device() {
        return backend.device();
    }

    /** {@return the ranks} */
    public ProcessGroup group() {
        return group;
    }

    /**
     * Whether all ranks have a capability. Local; never throws.
     *
     * @param capability what is asked for
     * @return the answer, the same on all ranks, with how or why not
     */
    public Support capability(Capability capability) {
        return capabilities.get(capability);
    }

    /** {@return the unit of allocation, in bytes; a contiguous view of buffers that are multiples of it has no gaps} */
    public long granularityBytes() {
        return backend.granularityBytes();
    }

    /**
     * Allocates a tensor of zeros. Local, or collective where the backend has no {@link Capability#LOCAL_ALLOCATION}. Every rank
     * allocates in the same order.
     *
     * @param shape    the same on all ranks
     * @param dataType the same on all ranks
     * @return the tensor; the caller closes it
     * @throws NativeCallException   if memory, address space or descriptors do not suffice; says what was asked for
     * @throws IllegalStateException if this is closed
     */
    public SymmetricTensor allocate(Shape shape, DataType dataType) {
        return tensor(shape, dataType, backend::allocate);
    }

    /**
     * Allocates a tensor of zeros, without gaps, in ordinary memory of this rank's device. Local, and not part of the order of
     * allocations.
     *
     * @return the tensor; the caller closes it
     * @throws UnsupportedCapabilityException if the backend has no {@link Capability#GLOBAL_MEMORY}
     * @throws NativeCallException            if memory does not suffice; says what was asked for
     * @throws IllegalStateException          if this is closed
     */
    public GlobalTensor allocateGlobal(Shape shape, DataType dataType) {
        return allocateGlobal(shape, shape.denseStrides(), dataType);
    }

    /**
     * As {@link #allocateGlobal(Shape, DataType)}, with gaps or in another order of dimensions.
     *
     * @param strides in elements, one for each dimension, positive
     * @throws IllegalArgumentException if strides are not so many or not positive, or two elements would share a place
     */
    public GlobalTensor allocateGlobal(Shape shape, long[] strides, DataType dataType) {
        ensureOpen();
        if (capability(Capability.GLOBAL_MEMORY) instanceof Support.No no) {
            throw new UnsupportedCapabilityException(Capability.GLOBAL_MEMORY, backendName, no.reason());
        }
        String name = "GlobalTensor[rank " + group.rank() + "/" + group.worldSize() + ", " + dataType + " " + shape + ", " + backendName
                + "]";
        long sizeBytes = sizeBytes(Shape.of(shape.spannedBy(strides)), dataType);
        var resources = new GlobalTensor.Resources(name, Answer.of(backend.allocateGlobal(sizeBytes), backendName, "allocateGlobal"),
                allocationSite());
        globals.add(resources);
        GlobalTensor tensor = new GlobalTensor(this, resources, shape, strides.clone(), dataType);
        LEAKS.register(tensor, () -> reportIfForgotten(resources.closed(), resources.name, resources.allocationSite));
        return tensor;
    }

    private static @Nullable Throwable allocationSite() {
        return Boolean.getBoolean("symmem.debug") ? new Throwable("allocated here") : null;
    }

    /**
     * Finds out why a buffer could not be wrapped. Local; never throws for a bad buffer.
     *
     * @param region   the buffer
     * @param shape    what it should hold
     * @param dataType what it should hold
     * @return every reason; empty if {@link #wrap} would take it
     */
    public List<String> validate(MemoryRegion region, Shape shape, DataType dataType) {
        ensureOpen();
        if (capability(Capability.WRAP) instanceof Support.No no) {
            return List.of("backend " + backendName + " cannot wrap buffers: " + no.reason());
        }
        return backend.validate(region, sizeBytes(shape, dataType));
    }

    /**
     * Uses a buffer that the user allocated beforehand, as it is. Local. Counts as an allocation in the order of allocations.
     *
     * @param region   stays the user's; must outlive the tensor
     * @param shape    the same on all ranks
     * @param dataType the same on all ranks
     * @return the tensor; the caller closes it, which does not free the region
     * @throws UnsupportedCapabilityException if the backend has no {@link Capability#WRAP}
     * @throws SymmetricMemoryException        if {@link #validate} has reasons; the message has them all
     */
    public SymmetricTensor wrap(MemoryRegion region, Shape shape, DataType dataType) {
        ensureOpen();
        if (capability(Capability.WRAP) instanceof Support.No no) {
            throw new UnsupportedCapabilityException(Capability.WRAP, backendName, no.reason());
        }
        List<String> reasons = validate(region, shape, dataType);
        if (!reasons.isEmpty()) {
            throw new SymmetricMemoryException(ErrorCode.BUFFER_UNSUITABLE, where() + ": " + region + " cannot hold " + dataType + " "
                    + shape + " as symmetric memory: " + String.join("; ", reasons));
        }
        return tensor(shape, dataType, (sizeBytes, pad) -> backend.wrap(region, sizeBytes, pad));
    }

    /** {@return a new stream of this rank's device; the caller closes it} Local. */
    public Stream newStream() {
        ensureOpen();
        return remember(new Stream(this, backend.newStream()));
    }

    /**
     * Uses a native stream that the user has. Local.
     *
     * @param handle its handle: the address behind a {@code CUstream} or {@code cudaStream_t}
     * @return the stream; closing it leaves the native stream alone
     * @throws UnsupportedCapabilityException if the backend has no {@link Capability#EXTERNAL_STREAM}
     */
    public Stream wrapStream(long handle) {
        ensureOpen();
        if (capability(Capability.EXTERNAL_STREAM) instanceof Support.No no) {
            throw new UnsupportedCapabilityException(Capability.EXTERNAL_STREAM, backendName, no.reason());
        }
        return remember(new Stream(this, backend.wrapStream(handle)));
    }

    /**
     * Begins a collective operation of a library on top of this one. Local; its steps are collective.
     *
     * @param operation what is done, in words that are the same on all ranks
     * @param subject   what it is done to, in this rank's words
     * @return by which the ranks' steps end alike, within the group's timeout
     */
    public Agreement agreement(String operation, String subject) {
        ensureOpen();
        return agreement(operation, subject, group.timeout());
    }

    /**
     * {@return the collectives of the native library behind the backend, or empty if it has none; alike on all ranks} Local. Where
     * there are none, copies between peers do the same work.
     *
     * @throws IllegalStateException if this is closed
     */
    public Optional<NativeCollectives> nativeCollectives() {
        ensureOpen();
        return Answer.of(backend.collectives(), backendName, "collectives").map(calls -> new NativeCollectives(this, calls));
    }

    /** {@return the tensors that are not closed, in no order} Local. */
    public List<LiveAllocation> liveAllocations() {
        return java.util.stream.Stream
                .concat(tensors.stream().map(tensor -> new LiveAllocation(tensor.name, Optional.ofNullable(tensor.allocationSite))),
                        globals.stream().map(tensor -> new LiveAllocation(tensor.name, Optional.ofNullable(tensor.allocationSite))))
                .toList();
    }

    /**
     * Closes the backend. Local or collective as {@link SymmetricTensor#close} is. Tensors and streams that are still open are
     * closed first, with a warning that names them. Closing twice is fine.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try (Closers closers = new Closers()) {
            closers.add(backend);
            // Where closing is collective all ranks must close in one order.
            for (SymmetricTensor.Resources tensor : tensors.stream().sorted(Comparator.comparingLong(one -> one.ordinal)).toList()) {
                reportLeftOpen(tensor.name, tensor.allocationSite);
                closers.add(() -> tensor.close(group.timeout()));
            }
            for (GlobalTensor.Resources tensor : globals) {
                reportLeftOpen(tensor.name, tensor.allocationSite);
                closers.add(() -> tensor.close(group.timeout()));
            }
            streams.forEach(closers::add);
        }
        tensors.clear();
        globals.clear();
    }

    private static void reportLeftOpen(String name, @Nullable Throwable site) {
        LOG.log(Level.WARNING, "closing " + name + ", which was left open" + allocatedAt(site), site);
    }

    @FunctionalInterface
    private interface Allocator {
        Allocation allocate(long sizeBytes, SignalPadLayout pad);
    }

    private SymmetricTensor tensor(Shape shape, DataType dataType, Allocator allocator) {
        ensureOpen();
        sizeBytes(shape, dataType);
        var description = new SymmetricTensor.TensorDescription(allocations++, shape, dataType, options.channels());
        String name = "SymmetricTensor[rank " + group.rank() + "/" + group.worldSize() + ", " + dataType + " " + shape + ", " + backendName
                + "]";
        SignalPadLayout pad = new SignalPadLayout(group.worldSize(), options.channels());
        if (!allocatesLocally()) {
            description.agreeOn(agreement("allocation " + description.ordinal(), name, group.timeout()));
        }
        Allocation allocation = Answer.of(allocator.allocate(description.sizeBytes(), pad), backendName, "allocate");
        var resources = new SymmetricTensor.Resources(name, description.ordinal(), allocation, allocationSite());
        tensors.add(resources);
        SymmetricTensor tensor = new SymmetricTensor(this, description, resources);
        LEAKS.register(tensor, () -> reportIfForgotten(resources.closed(), resources.name, resources.allocationSite));
        return tensor;
    }

    private static long sizeBytes(Shape shape, DataType dataType) {
        try {
            return Math.multiplyExact(shape.elements(), dataType.sizeBytes());
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(dataType + " " + shape + " has more bytes than a long can count", e);
        }
    }

    private static void reportIfForgotten(boolean closed, String name, @Nullable Throwable site) {
        if (!closed) {
            LOG.log(Level.WARNING,
                    name + " was never closed and cannot be any more; its memory stays until the process ends" + allocatedAt(site), site);
        }
    }

    private static String allocatedAt(@Nullable Throwable site) {
        return site == null ? " (-Dsymmem.debug=true tells where it was allocated)" : ", allocated at:";
    }

    boolean allocatesLocally() {
        return capability(Capability.LOCAL_ALLOCATION).supported();
    }

    Agreement agreement(String operation, String tensor, Duration timeout) {
        return new Agreement(meetingGroup, operation, tensor, backend::device, timeout);
    }

    private static String rankOf(ProcessGroup group) {
        return "rank " + group.rank() + "/" + group.worldSize() + " of group " + group.name();
    }

    Transfers blocking() {
        return backend;
    }

    void ensureOpen() {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    void forget(SymmetricTensor.Resources tensor) {
        tensors.remove(tensor);
    }

    void forget(GlobalTensor.Resources tensor) {
        globals.remove(tensor);
    }

    void forget(Stream stream) {
        streams.remove(stream);
    }

    private Stream remember(Stream stream) {
        streams.add(stream);
        return stream;
    }

    String where() {
        return "rank " + group.rank() + "/" + group.worldSize() + " on host " + HostIdentity.local().name() + ", " + backend.device();
    }

    @Override
    public String toString() {
        return "SymmetricMemory[rank " + group.rank() + "/" + group.worldSize() + ", " + backendName + "]";
    }
}
