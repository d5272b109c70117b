package org.symmem.cuda;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.symmem.ErrorCode;
import org.symmem.MemoryRegion;
import org.symmem.NativeCallException;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.Wire;

/**
 * One rank's buffer in device memory.
 *
 * <pre>
 *   addresses         | rank 0's memory | rank 1's memory | …     one reservation, each place as large as the memory
 *   own memory        | data | pad |                              a whole number of granules, the pad at the next 128 bytes
 * </pre>
 * Where the pad would take a granule more, and for wrapped memory, which is the user's, it is a slot of {@link SignalPads}. It
 * never makes the memory larger: the driver maps whole memories only, so the contiguous view would have a gap.
 */
final class CudaAllocation implements Allocation {
    private final CudaBackend backend;
    private final long sizeBytes;
    private final SignalPadLayout padLayout;
    private final PhysicalMemory dataMemory;
    private final long dataOffsetBytes;
    /** In the own memory; unused where the pad has a slot. */
    private final long padOffsetBytes;
    private final Optional<SignalPads.Slot> padSlot;
    private final AddressRange range;
    private final Closers closers;
    /** The number that a rendezvous gave the slot's tensor. */
    private OptionalLong ordinal = OptionalLong.empty();

    private CudaAllocation(CudaBackend backend, long sizeBytes, SignalPadLayout padLayout, PhysicalMemory dataMemory, long dataOffsetBytes,
            boolean padFits, Closers closers) {
        this.backend = backend;
        this.sizeBytes = sizeBytes;
        this.padLayout = padLayout;
        this.dataMemory = dataMemory;
        this.dataOffsetBytes = dataOffsetBytes;
        this.closers = closers;
        this.padOffsetBytes = roundUp(sizeBytes, SignalPads.UNIT_BYTES);
        this.padSlot = padFits ? Optional.empty() : Optional.of(backend.pads().take(padLayout.sizeBytes()));
        padSlot.ifPresent(slot -> closers.add(() -> giveBack(slot)));
        this.range = closers.add(AddressRange.reserve(Math.multiplyExact(dataMemory.sizeBytes(), backend.group().worldSize()),
                "reserving addresses for all ranks' buffers of " + sizeBytes + " bytes"));
        range.map(backend.group().rank() * dataMemory.sizeBytes(), dataMemory, dataMemory.sizeBytes(), backend.cudaDevice(),
                "mapping the own buffer of " + sizeBytes + " bytes");
        closers.add(backend.engine()::quiesce);
    }

    private void giveBack(SignalPads.Slot slot) {
        ordinal.ifPresentOrElse(backend.pads()::closed, () -> backend.pads().untake(slot));
    }

    static CudaAllocation allocate(CudaBackend backend, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(backend, sizeBytes, closers -> {
            long memoryBytes = roundUp(sizeBytes, backend.granularityBytes());
            PhysicalMemory memory = closers.add(PhysicalMemory.create(backend.cudaDevice(), memoryBytes, backend.handles().handleType(),
                    "allocating a buffer of " + sizeBytes + " bytes, " + memoryBytes + " with its granularity"));
            boolean padFits = memoryBytes - roundUp(sizeBytes, SignalPads.UNIT_BYTES) >= padLayout.sizeBytes();
            CudaAllocation allocation = new CudaAllocation(backend, sizeBytes, padLayout, memory, 0, padFits, closers);
            backend.engine().clear(allocation.own(), allocation.ownPadMemory());
            return allocation;
        });
    }

    static CudaAllocation wrap(CudaBackend backend, MemoryRegion region, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(backend, sizeBytes, closers -> {
            Range range = Range.around(region.address());
            PhysicalMemory user = closers.add(PhysicalMemory.behind(region.address(), range.sizeBytes(), "wrapping " + region));
            CudaAllocation allocation = new CudaAllocation(backend, sizeBytes, padLayout, user, region.address() - range.base(), false,
                    closers);
            backend.engine().clear(allocation.ownPadMemory());
            return allocation;
        });
    }

    private static CudaAllocation beginning(CudaBackend backend, long sizeBytes, Function<Closers, CudaAllocation> make) {
        if (sizeBytes > (1L << 47) / backend.group().worldSize()) {
            throw new SymmetricMemoryException(ErrorCode.RESOURCE_LIMIT,
                    backend.group().worldSize() + " buffers of " + sizeBytes + " bytes do not fit a device's address space: ask for less");
        }
        Closers closers = new Closers();
        try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
            return make.apply(closers);
        } catch (NativeCallException e) {
            closers.closeBecauseOf(e);
            if (e.status() == CudaDriver.OUT_OF_MEMORY) {
                throw new NativeCallException(e.code(), e.call(), e.codeName(), e.status(),
                        "allocating " + sizeBytes + " bytes on " + backend.cudaDevice() + ": " + backend.cudaDevice().memory()
                                + ". Free some, ask for less, or use another device");
            }
            throw e;
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    /** The mapping around an address. */
    private record Range(long base, long sizeBytes) {
        static Range around(long address) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment base = arena.allocate(ValueLayout.JAVA_LONG);
                MemorySegment size = arena.allocate(ValueLayout.JAVA_LONG);
                CudaDriver.memGetAddressRange(base, size, address, "asking for the mapping at 0x" + Long.toHexString(address));
                return new Range(base.get(ValueLayout.JAVA_LONG, 0), size.get(ValueLayout.JAVA_LONG, 0));
            }
        }
    }

    /** {@return every reason why a region cannot be wrapped, each a full phrase} */
    static List<String> unsuitable(CudaBackend backend, MemoryRegion region, long sizeBytes) {
        List<String> reasons = new ArrayList<>();
        if (region.sizeBytes() < sizeBytes) {
            reasons.add("it has " + region.sizeBytes() + " bytes, the tensor needs " + sizeBytes);
        }
        try (CudaDevice.Current current = backend.cudaDevice().makeCurrent(); Arena arena = Arena.ofConfined()) {
            Range range = Range.around(region.address());
            if (range.base() + range.sizeBytes() - region.address() < sizeBytes) {
                reasons.add("the mapping around it ends after " + (range.base() + range.sizeBytes() - region.address())
                        + " bytes, the tensor needs " + sizeBytes);
            }
            if (range.sizeBytes() % backend.granularityBytes() != 0) {
                reasons.add("the mapping around it has " + range.sizeBytes() + " bytes, no multiple of the granularity "
                        + backend.granularityBytes());
            }
            MemorySegment flags = arena.allocate(ValueLayout.JAVA_LONG);
            CudaDriver.memGetAccess(flags, CudaStructures.location(arena, backend.cudaDevice().device()), region.address(),
                    "asking for access flags");
            if (flags.get(ValueLayout.JAVA_LONG, 0) != CudaStructures.READ_WRITE) {
                reasons.add(backend.cudaDevice() + " may not both read and write it (access flags " + flags.get(ValueLayout.JAVA_LONG, 0)
                        + ")");
            }
            try (PhysicalMemory memory = PhysicalMemory.behind(region.address(), range.sizeBytes(), "looking behind an address")) {
                reasons.addAll(
                        unsuitable(CudaStructures.AllocationProperties.of(memory.handle(), "asking for properties"), backend));
            }
        } catch (NativeCallException e) {
            reasons.add("it is not memory that cuMemCreate made and this process has mapped, so it cannot be exported (" + e.call() + ": "
                    + e.codeName() + ")");
        }
        return reasons;
    }

    private static List<String> unsuitable(CudaStructures.AllocationProperties properties, CudaBackend backend) {
        List<String> reasons = new ArrayList<>();
        CudaDevice device = backend.cudaDevice();
        if (properties.type() != CudaStructures.PINNED) {
            reasons.add("its allocation is not pinned (type " + properties.type() + ")");
        }
        if (properties.locationType() != CudaStructures.DEVICE) {
            reasons.add("it is not device memory (location type " + properties.locationType() + ")");
        } else if (properties.locationId() != device.device()) {
            reasons.add("it is on device " + properties.locationId() + ", this rank uses " + device);
        }
        if ((properties.handleTypes() & backend.handles().handleType()) == 0) {
            reasons.add("it was not created to be exported as a "
                    + (backend.handles().handleType() == CudaStructures.FABRIC ? "fabric handle" : "POSIX descriptor") + " (handle types "
                    + properties.handleTypes() + ")");
        }
        return reasons;
    }

    static long roundUp(long value, long unit) {
        return Math.multiplyExact(Math.ceilDiv(value, unit), unit);
    }

    @Override
    public Memory local() {
        return own();
    }

    long sizeBytes() {
        return sizeBytes;
    }

    long dataOffsetBytes() {
        return dataOffsetBytes;
    }

    /** {@return the address of a rank's buffer} */
    long data(int rank) {
        return range.address() + rank * dataMemory.sizeBytes() + dataOffsetBytes;
    }

    private long ownPad() {
        return padSlot.map(SignalPads.Slot::address).orElseGet(() -> padBehindData(backend.group().rank()));
    }

    private CudaMemory ownPadMemory() {
        return new CudaMemory(ownPad(), padLayout.sizeBytes());
    }

    private CudaMemory own() {
        return new CudaMemory(data(backend.group().rank()), sizeBytes);
    }

    private long padBehindData(int rank) {
        return range.address() + rank * dataMemory.sizeBytes() + padOffsetBytes;
    }

    /** {@return the distance between ranks' buffers, in bytes} */
    long dataStrideBytes() {
        return dataMemory.sizeBytes();
    }

    /**
     * What a rank tells of its memory with the descriptors.
     *
     * @param process         the process, where memory needs no descriptor
     * @param dataAddress     where it maps its buffer
     * @param dataBytes       the size of the memory
     * @param dataOffsetBytes where in it the buffer begins
     * @param pad             its slot for the signal pad, if it has one
     */
    private record Note(String process, long dataAddress, long dataBytes, long dataOffsetBytes, Optional<PadNote> pad) {
        byte[] toBytes() {
            return Wire.write(out -> {
                out.writeUTF(process);
                for (long number : new long[]{dataAddress, dataBytes, dataOffsetBytes}) {
                    out.writeLong(number);
                }
                out.writeBoolean(pad.isPresent());
                if (pad.isPresent()) {
                    pad.get().write(out);
                }
            });
        }

        static Note from(byte[] bytes) {
            return Wire.read(bytes, in -> new Note(in.readUTF(), in.readLong(), in.readLong(), in.readLong(),
                    in.readBoolean() ? Optional.of(PadNote.read(in)) : Optional.empty()));
        }
    }

    /**
     * Where a rank's pad is.
     *
     * @param pool        its pool
     * @param offsetBytes where in it the pad begins
     * @param ordinal     the number that this rendezvous gives the tensor
     * @param closed      earlier tensors that the rank has closed
     */
    private record PadNote(SignalPads.PoolNote pool, long offsetBytes, long ordinal, List<Long> closed) {
        void write(DataOutput out) throws IOException {
            pool.write(out);
            out.writeLong(offsetBytes);
            out.writeLong(ordinal);
            out.writeInt(closed.size());
            for (long tensor : closed) {
                out.writeLong(tensor);
            }
        }

        static PadNote read(DataInput in) throws IOException {
            SignalPads.PoolNote pool = SignalPads.PoolNote.read(in);
            long offsetBytes = in.readLong();
            long ordinal = in.readLong();
            List<Long> closed = new ArrayList<>();
            for (int left = in.readInt(); left > 0; left--) {
                closed.add(in.readLong());
            }
            return new PadNote(pool, offsetBytes, ordinal, closed);
        }
    }

    private Note ownNote() {
        SignalPads pads = backend.pads();
        return new Note(SignalPads.PROCESS, data(backend.group().rank()), dataMemory.sizeBytes(), dataOffsetBytes,
                padSlot.map(slot -> new PadNote(slot.pool().note(), slot.offsetBytes(), pads.nextOrdinal(), pads.closedTensors())));
    }

    @Override
    public PeerMapping rendezvous(Agreement agreement) {
        int rank = backend.group().rank();
        int worldSize = backend.group().worldSize();
        Note own = ownNote();
        List<Note> notes = new ArrayList<>();
        long[] pads = new long[worldSize];
        Closers mapped = new Closers();
        Closers pools = new Closers();
        Map<Integer, SignalPads.PeerAddress> newPools = new HashMap<>();
        try {
            backend.handles().exchange(agreement, "mapping the peers' memory", this::ownMemories, own.toBytes(), received -> {
                for (int peer = 0; peer < worldSize; peer++) {
                    Note note = Note.from(received.get(peer).note());
                    notes.add(note);
                    if (peer != rank) {
                        requireAlike(peer, own, note);
                        mapBuffer(peer, note, received.get(peer), mapped);
                    }
                    pads[peer] = peer == rank ? ownPad()
                            : note.pad().isEmpty() ? padBehindData(peer)
                                    : poolOf(peer, note, received.get(peer), pools, newPools) + note.pad().get().offsetBytes();
                }
            });
            CudaMulticast multicast = mapped.add(backend.multicast().supported() ? CudaMulticast.over(backend, agreement, dataMemory)
                    : CudaMulticast.none(backend.multicast()));
            mapped.add(backend.engine()::quiesce);
            padSlot.ifPresent(slot -> ordinal = OptionalLong.of(backend.pads()
                    .met(slot, own.pad().orElseThrow().closed(),
                            notes.stream().map(note -> note.pad().orElseThrow().closed()).toList(), pools, newPools)));
            return new CudaMapping(this, backend, mapped, multicast, new CudaSignalPad(backend.engine(), padLayout, rank, pads,
                    backend.handles()::lostRanks, agreement.subject()));
        } catch (Throwable e) {
            try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
                mapped.closeBecauseOf(e);
                pools.closeBecauseOf(e);
            }
            throw e;
        }
    }

    /** The buffer's memory, and the pool of the pad if the peers do not have it yet. */
    private List<PhysicalMemory> ownMemories() {
        return Stream.concat(Stream.of(dataMemory), padSlot.map(SignalPads.Slot::pool)
                .filter(pool -> !backend.pads().isShared(pool))
                .map(SignalPads.Pool::memory)
                .stream()).toList();
    }

    private static void requireAlike(int peer, Note own, Note theirs) {
        if (theirs.dataBytes() != own.dataBytes() || theirs.dataOffsetBytes() != own.dataOffsetBytes()
                || theirs.pad().isPresent() != own.pad().isPresent()) {
            throw new SymmetricMemoryException(ErrorCode.RANKS_DISAGREE,
                    "rank " + peer + " has its buffer at byte " + theirs.dataOffsetBytes() + " of " + theirs.dataBytes()
                            + (theirs.pad().isPresent() ? " and its pad elsewhere" : " and its pad behind it") + ", this rank at "
                            + own.dataOffsetBytes() + " of " + own.dataBytes()
                            + (own.pad().isPresent() ? " and elsewhere" : " and behind it")
                            + "; wrapped buffers must lie alike on all ranks");
        }
        if (own.pad().isPresent() && own.pad().get().ordinal() != theirs.pad().orElseThrow().ordinal()) {
            throw new SymmetricMemoryException(ErrorCode.RANKS_DISAGREE, "rank " + peer + " has met " + theirs.pad().get().ordinal()
                    + " times, this rank " + own.pad().get().ordinal()
                    + " times: an earlier rendezvous ended well on some ranks only. Close this symmetric memory and open it anew");
        }
    }

    private void mapBuffer(int peer, Note theirs, HandleExchange.Received received, Closers mapped) {
        PhysicalMemory data = mapped.add(isHere(theirs)
                ? PhysicalMemory.behind(theirs.dataAddress(), theirs.dataBytes(), "sharing the buffer of rank " + peer + " in this process")
                : received.memory(0, theirs.dataBytes(), "importing the buffer of rank " + peer));
        mapped.add(range.mapPart(peer * theirs.dataBytes(), data, theirs.dataBytes(), backend.cudaDevice(),
                "mapping the buffer of rank " + peer));
    }

    private static boolean isHere(Note note) {
        return note.process().equals(SignalPads.PROCESS);
    }

    /** {@return where the pool of a peer's pad is mapped, which the first rendezvous over it does} */
    private long poolOf(int peer, Note theirs, HandleExchange.Received received, Closers pools,
            Map<Integer, SignalPads.PeerAddress> newPools) {
        SignalPads.PoolNote pool = theirs.pad().orElseThrow().pool();
        Long known = backend.pads().peerPool(peer, pool.index());
        if (known != null) {
            return known;
        }
        long address = backend.pads().map(peer, pool, 1, received, pools);
        newPools.put(peer, new SignalPads.PeerAddress(pool.index(), address));
        return address;
    }

    @Override
    public void close() {
        try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
            closers.close();
        }
    }
}
