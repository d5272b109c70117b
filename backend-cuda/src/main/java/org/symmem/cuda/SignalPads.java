package org.symmem.cuda;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;
import org.symmem.spi.Wire;

/**
 * Signal pads that do not fit behind their tensor's data. The driver maps whole memories only, so a memory for each such pad would
 * cost a granule, and its hand-over as much as the buffer's; here many pads share a memory, which is handed to the peers
 * once and stays mapped. The first is made and handed over when the ranks open the backend, further ones when more tensors are
 * alive than fit it; they stay until the backend is closed.
 *
 * <pre>
 *   pool      | slot of a tensor | free | slot of another | …      one memory of at least a granule, owned by this rank
 * </pre>
 * A slot is used again only when every rank has closed the tensor that had it, since a peer may signal until then. Ranks say which
 * tensors they have closed in the notes of later rendezvous. Thread-safe.
 */
final class SignalPads implements AutoCloseable {
    /** Tells whether a peer is in this process, where memory needs no descriptor. */
    static final String PROCESS = UUID.randomUUID().toString();
    /** What a pad begins at a multiple of: a cache line of the device. */
    static final long UNIT_BYTES = 128;
    /** So many closed tensors are told of in one note, which holds little; the rest in the next. */
    private static final int MOST_TOLD = 256;

    private final CudaDevice device;
    private final int worldSize;
    private final long granularityBytes;
    private final int handleType;
    private final List<Pool> pools = new ArrayList<>();
    private final Map<PeerPool, Long> peerPools = new HashMap<>();
    private final TreeMap<Long, Use> uses = new TreeMap<>();
    private final List<Long> untold = new ArrayList<>();
    private final Closers closers = new Closers();
    private long nextOrdinal;

    /** A peer's pool. */
    private record PeerPool(int rank, int index) {}

    /** A slot that peers may know. */
    private static final class Use {
        private final Slot slot;
        private final BitSet closedBy = new BitSet();

        Use(Slot slot) {
            this.slot = slot;
        }
    }

    /** One memory for pads. */
    static final class Pool {
        private final int index;
        private final PhysicalMemory memory;
        private final long address;
        private final BitSet taken = new BitSet();
        private boolean shared;

        private Pool(int index, PhysicalMemory memory, long address) {
            this.index = index;
            this.memory = memory;
            this.address = address;
        }

        PhysicalMemory memory() {
            return memory;
        }

        PoolNote note() {
            return new PoolNote(PROCESS, index, address, memory.sizeBytes());
        }

        /** {@return the first unit of so many free ones, or -1} */
        private int find(int units) {
            int begin = taken.nextClearBit(0);
            while ((begin + (long) units) * UNIT_BYTES <= memory.sizeBytes()) {
                int end = taken.nextSetBit(begin);
                if (end < 0 || end - begin >= units) {
                    return begin;
                }
                begin = taken.nextClearBit(end);
            }
            return -1;
        }
    }

    /**
     * What a rank tells of a pool.
     *
     * @param process where the memory needs no descriptor
     * @param index   the pool's number at that rank
     * @param address where that rank maps it
     * @param bytes   its size
     */
    record PoolNote(String process, int index, long address, long bytes) {
        void write(DataOutput out) throws IOException {
            out.writeUTF(process);
            out.writeInt(index);
            out.writeLong(address);
            out.writeLong(bytes);
        }

        static PoolNote read(DataInput in) throws IOException {
            return new PoolNote(in.readUTF(), in.readInt(), in.readLong(), in.readLong());
        }
    }

    /** A tensor's place in a pool. */
    record Slot(Pool pool, int unit, int units) {
        long offsetBytes() {
            return unit * UNIT_BYTES;
        }

        long address() {
            return pool.address + offsetBytes();
        }
    }

    private SignalPads(CudaDevice device, int worldSize, long granularityBytes, int handleType) {
        this.handleType = handleType;
        this.device = device;
        this.worldSize = worldSize;
        this.granularityBytes = granularityBytes;
    }

    /** Makes the first pool and hands it to the peers. Collective. */
    static SignalPads open(Agreement agreement, HandleExchange handles, CudaDevice device, long granularityBytes) {
        int rank = agreement.group().rank();
        SignalPads pads = new SignalPads(device, agreement.group().worldSize(), granularityBytes, handles.handleType());
        try {
            agreement.check("making memory for signal pads", () -> {
                try (CudaDevice.Current current = device.makeCurrent()) {
                    pads.newPool(granularityBytes);
                }
            });
            Pool own = pads.pools.getFirst();
            handles.exchange(agreement, "sharing memory for signal pads", () -> List.of(own.memory()), Wire.write(own.note()::write),
                    received -> {
                        for (int peer = 0; peer < received.size(); peer++) {
                            if (peer != rank) {
                                PoolNote note = Wire.read(received.get(peer).note(), PoolNote::read);
                                pads.peerPools.put(new PeerPool(peer, note.index()),
                                        pads.map(peer, note, 0, received.get(peer), pads.closers));
                            }
                        }
                    });
            own.shared = true;
            return pads;
        } catch (Throwable e) {
            try (CudaDevice.Current current = device.makeCurrent()) {
                pads.closers.closeBecauseOf(e);
            }
            throw e;
        }
    }

    /** Maps a peer's pool, which is one of the memories that it gave. {@return where} */
    long map(int peer, PoolNote pool, int index, HandleExchange.Received received, Closers mapped) {
        PhysicalMemory memory = mapped.add(pool.process().equals(PROCESS)
                ? PhysicalMemory.behind(pool.address(), pool.bytes(), "sharing the signal pads of rank " + peer + " in this process")
                : received.memory(index, pool.bytes(), "importing the signal pads of rank " + peer));
        AddressRange addresses = mapped.add(AddressRange.reserve(pool.bytes(), "reserving addresses for the signal pads of rank " + peer));
        addresses.map(0, memory, pool.bytes(), device, "mapping the signal pads of rank " + peer);
        return addresses.address();
    }

    /** {@return a slot that no rank can signal to; the device's context is current} */
    synchronized Slot take(long sizeBytes) {
        int units = Math.toIntExact(Math.ceilDiv(sizeBytes, UNIT_BYTES));
        Pool pool = pools.stream().filter(one -> one.find(units) >= 0).findFirst().orElseGet(() -> newPool(sizeBytes));
        int unit = pool.find(units);
        pool.taken.set(unit, unit + units);
        return new Slot(pool, unit, units);
    }

    private Pool newPool(long leastBytes) {
        long sizeBytes = CudaAllocation.roundUp(leastBytes, granularityBytes);
        Closers begun = new Closers();
        try {
            PhysicalMemory memory = begun.add(PhysicalMemory.create(device, sizeBytes, handleType, "allocating memory for signal pads"));
            AddressRange range = begun.add(AddressRange.reserve(sizeBytes, "reserving addresses for signal pads"));
            range.map(0, memory, sizeBytes, device, "mapping the own signal pads");
            Pool pool = new Pool(pools.size(), memory, range.address());
            pools.add(pool);
            closers.add(begun);
            return pool;
        } catch (Throwable e) {
            begun.closeBecauseOf(e);
            throw e;
        }
    }

    /** Gives back a slot that no peer has learnt of. */
    synchronized void untake(Slot slot) {
        slot.pool.taken.clear(slot.unit, slot.unit + slot.units);
    }

    /** {@return whether the peers have a pool already} */
    synchronized boolean isShared(Pool pool) {
        return pool.shared;
    }

    /** {@return tensors that this rank has closed, for the note of a rendezvous} */
    synchronized List<Long> closedTensors() {
        return List.copyOf(untold.subList(0, Math.min(MOST_TOLD, untold.size())));
    }

    /** {@return the number that the next rendezvous gives its tensor, the same on all ranks} */
    synchronized long nextOrdinal() {
        return nextOrdinal;
    }

    /** {@return where a peer's pool is mapped here, or null if it is not yet} */
    synchronized @org.jspecify.annotations.Nullable Long peerPool(int rank, int index) {
        return peerPools.get(new PeerPool(rank, index));
    }

    /**
     * A rendezvous over a slot succeeded on all ranks.
     *
     * @param slot   this rank's
     * @param told   what this rank's note said is closed
     * @param closed what each rank's note said is closed, in rank order
     * @param mapped pools of peers that were mapped for it; closed with this
     * @param where  their addresses
     * @return the number of the tensor
     */
    synchronized long met(Slot slot, List<Long> told, List<List<Long>> closed, Closers mapped, Map<Integer, PeerAddress> where) {
        slot.pool.shared = true;
        untold.removeAll(told);
        closers.add(mapped);
        where.forEach((rank, pool) -> peerPools.put(new PeerPool(rank, pool.index()), pool.address()));
        uses.put(nextOrdinal, new Use(slot));
        for (int rank = 0; rank < closed.size(); rank++) {
            for (long ordinal : closed.get(rank)) {
                closedBy(rank, ordinal);
            }
        }
        return nextOrdinal++;
    }

    /** A peer's pool that is mapped here. */
    record PeerAddress(int index, long address) {}

    /** This rank has closed a tensor, and nothing of it is still running here. */
    synchronized void closed(long ordinal) {
        // Told to all, heard by this rank too: with the others' answers the slot is free.
        untold.add(ordinal);
    }

    private void closedBy(int rank, long ordinal) {
        Use use = uses.get(ordinal);
        if (use != null) {
            use.closedBy.set(rank);
            if (use.closedBy.cardinality() == worldSize) {
                uses.remove(ordinal);
                untake(use.slot);
            }
        }
    }

    /** Unmaps all pools; no tensor is open any more. */
    @Override
    public synchronized void close() {
        try (CudaDevice.Current current = device.makeCurrent()) {
            closers.close();
        }
    }
}
