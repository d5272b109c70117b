package org.symmem.host;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.symmem.ErrorCode;
import org.symmem.MemoryRegion;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.rendezvous.DescriptorExchange;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.Wire;

/**
 * One rank's buffer. Its place in the address space is reserved from the beginning beside places for all peers' buffers, so the
 * rendezvous only fills these in, no address changes, and the contiguous view needs no mapping of its own.
 *
 * <pre>
 *   address space   | rank 0's data | rank 1's data | … |    | rank 0's pad | rank 1's pad | … |
 *   own memfd       | data | pad |
 * </pre>
 * Each part is a whole number of pages.
 */
final class HostAllocation implements Allocation {
    /** User addresses on x86-64 and AArch64 have 47 or 48 bits. */
    private static final long MOST_BYTES = 1L << 47;
    /** The buffers of this process by address, so that one tensor's memory can be wrapped in another group. */
    private static final ConcurrentSkipListMap<Long, HostAllocation> LIVE = new ConcurrentSkipListMap<>();

    private final HostBackend backend;
    private final long sizeBytes;
    private final SignalPadLayout padLayout;
    private final FileRange data;
    private final FileRange pad;
    private final Closers closers;
    private final MemorySegment allData;
    private final MemorySegment allPads;
    private final MemorySegment local;

    /** A part of a file that is shared. */
    private record FileRange(Descriptor file, long offsetBytes) {}

    private HostAllocation(HostBackend backend, long sizeBytes, SignalPadLayout padLayout, FileRange data, FileRange pad,
            Optional<MemorySegment> wrapped, Closers closers) {
        this.backend = backend;
        this.sizeBytes = sizeBytes;
        this.padLayout = padLayout;
        this.data = data;
        this.pad = pad;
        this.closers = closers;
        int worldSize = backend.group().worldSize();
        int rank = backend.group().rank();
        Arena arena = closers.add(Arena.ofShared());
        this.allData = LibC.reserve(Math.multiplyExact(dataPages(), worldSize), arena,
                "reserving addresses for " + worldSize + " buffers of " + sizeBytes + " bytes");
        this.allPads = LibC.reserve(Math.multiplyExact(padPages(), worldSize), arena,
                "reserving addresses for " + worldSize + " signal pads");
        LibC.mapInto(dataPlace(rank), data.file().fd(), data.offsetBytes(), "mapping the own buffer of " + sizeBytes + " bytes");
        LibC.mapInto(padPlace(rank), pad.file().fd(), pad.offsetBytes(), "mapping the own signal pad");
        padLayout.writeHeader(padPlace(rank));
        this.local = wrapped.orElseGet(() -> buffer(rank));
        LIVE.put(local.address(), this);
        closers.add(() -> LIVE.remove(local.address(), this));
    }

    static HostAllocation allocate(HostBackend backend, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(closers -> {
            long dataBytes = SharedMemory.wholePages(sizeBytes);
            long fileBytes = Math.addExact(dataBytes, SharedMemory.wholePages(padLayout.sizeBytes()));
            Descriptor memfd = closers
                    .add(SharedMemory.create(fileBytes, "allocating a buffer of " + sizeBytes + " bytes with its signal pad"));
            return new HostAllocation(backend, sizeBytes, padLayout, new FileRange(memfd, 0), new FileRange(memfd, dataBytes),
                    Optional.empty(), closers);
        }, sizeBytes, backend.group().worldSize());
    }

    static HostAllocation wrap(HostBackend backend, MemoryRegion region, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(closers -> {
            FileRange source = fileOf(region).orElseThrow();
            Descriptor file = closers.add(LibC.duplicate(source.file().fd(), "wrapping " + region));
            Descriptor padFile = closers
                    .add(SharedMemory.create(SharedMemory.wholePages(padLayout.sizeBytes()), "allocating a signal pad"));
            MemorySegment wrapped = region.segment().orElseThrow().asSlice(0, sizeBytes);
            return new HostAllocation(backend, sizeBytes, padLayout, new FileRange(file, source.offsetBytes()), new FileRange(padFile, 0),
                    Optional.of(wrapped), closers);
        }, sizeBytes, backend.group().worldSize());
    }

    private static HostAllocation beginning(Function<Closers, HostAllocation> make, long sizeBytes, int worldSize) {
        if (sizeBytes > MOST_BYTES / worldSize) {
            throw new SymmetricMemoryException(ErrorCode.RESOURCE_LIMIT, worldSize + " buffers of " + sizeBytes
                    + " bytes do not fit the address space of a process, " + MOST_BYTES + " bytes: ask for less");
        }
        Closers closers = new Closers();
        try {
            return make.apply(closers);
        } catch (Throwable e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    /** {@return every reason why a region cannot be wrapped, each a full phrase} */
    static List<String> unsuitable(MemoryRegion region, long sizeBytes) {
        List<String> reasons = new ArrayList<>();
        if (region.segment().isEmpty()) {
            reasons.add("it is known by its address only: give its MemorySegment, with the descriptor that it maps");
        } else if (!region.segment().get().isNative()) {
            reasons.add("it is on the Java heap, which other processes cannot map");
        }
        if (region.sizeBytes() < sizeBytes) {
            reasons.add("it has " + region.sizeBytes() + " bytes, the tensor needs " + sizeBytes);
        }
        if (region.address() % LibC.pageSize() != 0) {
            reasons.add("its address is not a multiple of the page size " + LibC.pageSize());
        }
        Optional<FileRange> file = fileOf(region);
        if (file.isEmpty()) {
            reasons.add(
                    "no descriptor behind it is known: allocate it with memfd_create, map it shared and give MemoryRegion.ofDescriptor, or take another tensor's segment");
        } else {
            reasons.addAll(SharedMemory.unsuitable(file.get().file().fd(), file.get().offsetBytes(), sizeBytes));
        }
        return reasons;
    }

    private static Optional<FileRange> fileOf(MemoryRegion region) {
        if (region.descriptor().isPresent()) {
            return Optional.of(new FileRange(Descriptor.borrowed(region.descriptor().getAsInt()), region.descriptorOffsetBytes()));
        }
        Map.Entry<Long, HostAllocation> below = LIVE.floorEntry(region.address());
        if (below == null || region.address() - below.getKey() >= below.getValue().sizeBytes) {
            return Optional.empty();
        }
        FileRange data = below.getValue().data;
        return Optional.of(new FileRange(data.file(), data.offsetBytes() + region.address() - below.getKey()));
    }

    @Override
    public Memory local() {
        return new HostMemory(local);
    }

    /** {@return the buffers of all ranks, each at a whole number of pages} */
    MemorySegment allData() {
        return allData;
    }

    /** {@return a rank's buffer, exactly as long as was asked for} */
    MemorySegment buffer(int rank) {
        return dataPlace(rank).asSlice(0, sizeBytes);
    }

    /** {@return the distance from one rank's buffer to the next, in bytes} */
    long dataPages() {
        return SharedMemory.wholePages(sizeBytes);
    }

    private long padPages() {
        return SharedMemory.wholePages(padLayout.sizeBytes());
    }

    private MemorySegment dataPlace(int rank) {
        return allData.asSlice(rank * dataPages(), dataPages());
    }

    private MemorySegment padPlace(int rank) {
        return allPads.asSlice(rank * padPages(), padPages());
    }

    @Override
    public PeerMapping rendezvous(Agreement agreement) {
        List<Descriptor> own = data.file() == pad.file() ? List.of(data.file()) : List.of(data.file(), pad.file());
        byte[] note = Wire.write(out -> {
            out.writeLong(data.offsetBytes());
            out.writeLong(pad.offsetBytes());
        });
        try {
            backend.exchange()
                    .exchange(agreement, "mapping the peers' memory", () -> own, note,
                            received -> eachPeer(peer -> mapPeer(peer, received.get(peer))));
        } catch (Throwable e) {
            // No view of a peer has been given out yet, so nothing can fault on the places that become empty.
            eachPeer(this::unmapPeer);
            throw e;
        }
        MemorySegment[] pads = IntStream.range(0, backend.group().worldSize()).mapToObj(this::padPlace).toArray(MemorySegment[]::new);
        return new HostMapping(this,
                new HostSignalPad(padLayout, backend.group().rank(), pads, backend.exchange()::lostRanks, agreement.subject()));
    }

    private void eachPeer(IntConsumer action) {
        IntStream.range(0, backend.group().worldSize()).filter(peer -> peer != backend.group().rank()).forEach(action);
    }

    private void mapPeer(int peer, DescriptorExchange.Received handles) {
        long[] offsets = Wire.read(handles.note(), in -> new long[]{in.readLong(), in.readLong()});
        int dataFile = handles.descriptors().getFirst().fd();
        int padFile = handles.descriptors().getLast().fd();
        List<String> reasons = new ArrayList<>(SharedMemory.unsuitable(dataFile, offsets[0], sizeBytes));
        reasons.addAll(SharedMemory.unsuitable(padFile, offsets[1], padLayout.sizeBytes()));
        if (!reasons.isEmpty()) {
            throw new SymmetricMemoryException(ErrorCode.DESCRIPTOR_EXCHANGE,
                    "the memory that rank " + peer + " handed over cannot be mapped: " + String.join("; ", reasons));
        }
        LibC.mapInto(dataPlace(peer), dataFile, offsets[0], "mapping the buffer of rank " + peer + ", " + sizeBytes + " bytes");
        LibC.mapInto(padPlace(peer), padFile, offsets[1], "mapping the signal pad of rank " + peer);
        padLayout.checkHeader(padPlace(peer), peer);
    }

    private void unmapPeer(int peer) {
        LibC.unmapFrom(dataPlace(peer), "unmapping the buffer of rank " + peer);
        LibC.unmapFrom(padPlace(peer), "unmapping the signal pad of rank " + peer);
    }

    @Override
    public void close() {
        closers.close();
    }
}
