package org.symmem.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.symmem.ErrorCode;
import org.symmem.MemoryRegion;
import org.symmem.NativeCallException;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.rendezvous.DescriptorExchange;
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
 *   or, where the pad would take a granule more, and for wrapped memory, which is the user's
 *   own memory        | … data … |   and   | pad |                two, the pad with a reservation of its own
 * </pre>
 * The pad never makes the memory larger: the driver maps whole memories only, so the contiguous view would have a gap.
 */
final class CudaAllocation implements Allocation {
    private static final int PAD_ALIGNMENT = 128;
    /** Tells whether a peer is in this process, where memory needs no descriptor. */
    private static final String PROCESS = UUID.randomUUID().toString();

    private final CudaBackend backend;
    private final long sizeBytes;
    private final SignalPadLayout padLayout;
    private final PhysicalMemory dataMemory;
    private final long dataOffsetBytes;
    private final PhysicalMemory padMemory;
    private final long padOffsetBytes;
    private final AddressRange dataRange;
    private final Optional<AddressRange> padRange;
    private final Closers closers;

    private CudaAllocation(CudaBackend backend, long sizeBytes, SignalPadLayout padLayout, PhysicalMemory dataMemory, long dataOffsetBytes,
            PhysicalMemory padMemory, long padOffsetBytes, Closers closers) {
        this.backend = backend;
        this.sizeBytes = sizeBytes;
        this.padLayout = padLayout;
        this.dataMemory = dataMemory;
        this.dataOffsetBytes = dataOffsetBytes;
        this.padMemory = padMemory;
        this.padOffsetBytes = padOffsetBytes;
        this.closers = closers;
        this.dataRange = mapOwn(dataMemory, "buffers of " + sizeBytes + " bytes");
        this.padRange = padMemory == dataMemory ? Optional.empty() : Optional.of(mapOwn(padMemory, "signal pads"));
    }

    private AddressRange mapOwn(PhysicalMemory memory, String what) {
        AddressRange range = closers.add(AddressRange.reserve(Math.multiplyExact(memory.sizeBytes(), backend.group().worldSize()),
                "reserving addresses for all ranks' " + what));
        range.map(backend.group().rank() * memory.sizeBytes(), memory, memory.sizeBytes(), backend.cudaDevice(), "mapping the own " + what);
        return range;
    }

    static CudaAllocation allocate(CudaBackend backend, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(backend, sizeBytes, closers -> {
            long memoryBytes = roundUp(sizeBytes, backend.granularityBytes());
            PhysicalMemory memory = closers.add(PhysicalMemory.create(backend.cudaDevice(), memoryBytes,
                    "allocating a buffer of " + sizeBytes + " bytes, " + memoryBytes + " with its granularity"));
            long padOffsetBytes = roundUp(sizeBytes, PAD_ALIGNMENT);
            boolean padFits = memoryBytes - padOffsetBytes >= padLayout.sizeBytes();
            CudaAllocation allocation = padFits
                    ? new CudaAllocation(backend, sizeBytes, padLayout, memory, 0, memory, padOffsetBytes, closers)
                    : new CudaAllocation(backend, sizeBytes, padLayout, memory, 0, padMemory(backend, padLayout, closers), 0, closers);
            int rank = backend.group().rank();
            backend.engine().clear(allocation.data(rank), sizeBytes);
            backend.engine().clear(allocation.pad(rank), padLayout.sizeBytes());
            return allocation;
        });
    }

    static CudaAllocation wrap(CudaBackend backend, MemoryRegion region, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(backend, sizeBytes, closers -> {
            Range range = Range.around(region.address());
            PhysicalMemory user = closers.add(PhysicalMemory.behind(region.address(), range.sizeBytes(), "wrapping " + region));
            CudaAllocation allocation = new CudaAllocation(backend, sizeBytes, padLayout, user, region.address() - range.base(),
                    padMemory(backend, padLayout, closers), 0, closers);
            backend.engine().clear(allocation.pad(backend.group().rank()), padLayout.sizeBytes());
            return allocation;
        });
    }

    private static PhysicalMemory padMemory(CudaBackend backend, SignalPadLayout padLayout, Closers closers) {
        return closers.add(PhysicalMemory.create(backend.cudaDevice(), roundUp(padLayout.sizeBytes(), backend.granularityBytes()),
                "allocating a signal pad"));
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
                        unsuitable(CudaStructures.AllocationProperties.of(memory.handle(), "asking for properties"), backend.cudaDevice()));
            }
        } catch (NativeCallException e) {
            reasons.add("it is not memory that cuMemCreate made and this process has mapped, so it cannot be exported (" + e.call() + ": "
                    + e.codeName() + ")");
        }
        return reasons;
    }

    private static List<String> unsuitable(CudaStructures.AllocationProperties properties, CudaDevice device) {
        List<String> reasons = new ArrayList<>();
        if (properties.type() != CudaStructures.PINNED) {
            reasons.add("its allocation is not pinned (type " + properties.type() + ")");
        }
        if (properties.locationType() != CudaStructures.DEVICE) {
            reasons.add("it is not device memory (location type " + properties.locationType() + ")");
        } else if (properties.locationId() != device.device()) {
            reasons.add("it is on device " + properties.locationId() + ", this rank uses " + device);
        }
        if ((properties.handleTypes() & CudaStructures.POSIX_DESCRIPTOR) == 0) {
            reasons.add("it was not created to be exported as a POSIX descriptor (handle types " + properties.handleTypes() + ")");
        }
        return reasons;
    }

    static long roundUp(long value, long unit) {
        return Math.multiplyExact(Math.ceilDiv(value, unit), unit);
    }

    @Override
    public Memory local() {
        return new CudaMemory(data(backend.group().rank()), sizeBytes);
    }

    long sizeBytes() {
        return sizeBytes;
    }

    /** {@return the address of a rank's buffer} */
    long data(int rank) {
        return dataRange.address() + rank * dataMemory.sizeBytes() + dataOffsetBytes;
    }

    /** {@return the address of a rank's pad} */
    long pad(int rank) {
        return padRange.orElse(dataRange).address() + rank * padMemory.sizeBytes() + padOffsetBytes;
    }

    /** {@return the distance between ranks' buffers, in bytes} */
    long dataStrideBytes() {
        return dataMemory.sizeBytes();
    }

    /** What a rank tells of its memory with the descriptors. */
    private record Note(String process, long dataAddress, long padAddress, long dataBytes, long dataOffsetBytes, long padBytes,
            long padOffsetBytes) {
        byte[] toBytes() {
            return Wire.write(out -> {
                out.writeUTF(process);
                for (long number : new long[]{dataAddress, padAddress, dataBytes, dataOffsetBytes, padBytes, padOffsetBytes}) {
                    out.writeLong(number);
                }
            });
        }

        static Note from(byte[] bytes) {
            return Wire.read(bytes,
                    in -> new Note(in.readUTF(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong(), in.readLong()));
        }
    }

    @Override
    public PeerMapping rendezvous(Agreement agreement) {
        int rank = backend.group().rank();
        Note own = new Note(PROCESS, data(rank), pad(rank), dataMemory.sizeBytes(), dataOffsetBytes, padMemory.sizeBytes(), padOffsetBytes);
        Closers mapped = new Closers();
        int worldSize = backend.group().worldSize();
        try (Closers exported = new Closers()) {
            backend.exchange().exchange(agreement, "mapping the peers' memory", () -> exportOwn(exported), own.toBytes(), received -> {
                try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
                    for (int peer = 0; peer < worldSize; peer++) {
                        if (peer != rank) {
                            mapPeer(peer, own, Note.from(received.get(peer).note()), received.get(peer).descriptors(), mapped);
                        }
                    }
                }
            });
            long[] pads = java.util.stream.IntStream.range(0, worldSize).mapToLong(this::pad).toArray();
            return new CudaMapping(this, backend, mapped,
                    new CudaSignalPad(backend.engine(), padLayout, rank, pads, backend.exchange()::lostRanks, agreement.subject()));
        } catch (Throwable e) {
            try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
                mapped.closeBecauseOf(e);
            }
            throw e;
        }
    }

    private List<Descriptor> exportOwn(Closers exported) {
        try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
            Descriptor data = exported.add(dataMemory.export("exporting a buffer"));
            return padMemory == dataMemory ? List.of(data) : List.of(data, exported.add(padMemory.export("exporting a signal pad")));
        }
    }

    private void mapPeer(int peer, Note own, Note theirs, List<Descriptor> descriptors, Closers mapped) {
        if (theirs.dataBytes() != own.dataBytes() || theirs.dataOffsetBytes() != own.dataOffsetBytes()
                || theirs.padBytes() != own.padBytes() || theirs.padOffsetBytes() != own.padOffsetBytes()) {
            throw new SymmetricMemoryException(ErrorCode.RANKS_DISAGREE,
                    "rank " + peer + " has its buffer at byte " + theirs.dataOffsetBytes() + " of " + theirs.dataBytes()
                            + " and its pad at " + theirs.padOffsetBytes() + " of "
                            + theirs.padBytes() + ", this rank at " + own.dataOffsetBytes() + " of " + own.dataBytes() + " and "
                            + own.padOffsetBytes() + " of " + own.padBytes() + "; wrapped buffers must lie alike on all ranks");
        }
        boolean here = theirs.process().equals(PROCESS);
        PhysicalMemory data = mapped.add(here
                ? PhysicalMemory.behind(theirs.dataAddress(), own.dataBytes(), "sharing the buffer of rank " + peer + " in this process")
                : PhysicalMemory.imported(descriptors.getFirst().fd(), own.dataBytes(), "importing the buffer of rank " + peer));
        mapped.add(dataRange.mapPart(peer * own.dataBytes(), data, own.dataBytes(), backend.cudaDevice(),
                "mapping the buffer of rank " + peer));
        if (padRange.isPresent()) {
            PhysicalMemory pad = mapped.add(here
                    ? PhysicalMemory.behind(theirs.padAddress(), own.padBytes(),
                            "sharing the signal pad of rank " + peer + " in this process")
                    : PhysicalMemory.imported(descriptors.getLast().fd(), own.padBytes(), "importing the signal pad of rank " + peer));
            mapped.add(padRange.get()
                    .mapPart(peer * own.padBytes(), pad, own.padBytes(), backend.cudaDevice(), "mapping the signal pad of rank " + peer));
        }
    }

    @Override
    public void close() {
        try (CudaDevice.Current current = backend.cudaDevice().makeCurrent()) {
            closers.close();
        }
    }
}
