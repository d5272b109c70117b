package org.symmem.nvshmem;

import java.lang.System.Logger.Level;
import java.util.List;
import java.util.stream.IntStream;
import org.symmem.CollectiveFailedException;
import org.symmem.DeadlineException;
import org.symmem.MemoryRegion;
import org.symmem.RankLostException;
import org.symmem.RanksDisagreeException;
import org.symmem.cuda.CudaMemory;
import org.symmem.cuda.CudaSignalPad;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Closers;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.Wire;

/**
 * One rank's buffer in the heap, at the same place of every rank's heap.
 *
 * <pre>
 *   | data | up to the next 128 bytes | pad |        one block of the heap
 *   | … data … |   and   | pad |                     wrapped memory, which is the user's, and a block
 * </pre>
 */
final class NvshmemAllocation implements Allocation {
    private static final System.Logger LOG = System.getLogger("org.symmem.nvshmem");
    private static final int PAD_ALIGNMENT = 128;

    private final NvshmemBackend backend;
    private final long data;
    private final long sizeBytes;
    private final long pad;
    private final SignalPadLayout padLayout;
    private final Closers closers;

    private NvshmemAllocation(NvshmemBackend backend, long data, long sizeBytes, long pad, SignalPadLayout padLayout, Closers closers) {
        this.backend = backend;
        this.data = data;
        this.sizeBytes = sizeBytes;
        this.pad = pad;
        this.padLayout = padLayout;
        this.closers = closers;
    }

    static NvshmemAllocation allocate(NvshmemBackend backend, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(backend, "allocating a buffer of " + sizeBytes + " bytes", (operation, closers) -> {
            long padOffsetBytes = HeapAccount.roundUp(sizeBytes, PAD_ALIGNMENT);
            long block = block(backend, operation, padOffsetBytes + padLayout.sizeBytes(), closers);
            NvshmemAllocation allocation = new NvshmemAllocation(backend, block, sizeBytes, block + padOffsetBytes, padLayout, closers);
            operation.check("clearing the buffer", () -> backend.engine().clear(allocation.own(), allocation.ownPad()));
            return allocation;
        });
    }

    static NvshmemAllocation wrap(NvshmemBackend backend, MemoryRegion region, long sizeBytes, SignalPadLayout padLayout) {
        return beginning(backend, "wrapping a buffer of " + sizeBytes + " bytes", (operation, closers) -> {
            long data = backend.isInHeap(region) ? region.address() : registered(backend, operation, region, closers);
            long pad = block(backend, operation, padLayout.sizeBytes(), closers);
            NvshmemAllocation allocation = new NvshmemAllocation(backend, data, sizeBytes, pad, padLayout, closers);
            operation.check("clearing the signal pad", () -> backend.engine().clear(allocation.ownPad()));
            return allocation;
        });
    }

    @FunctionalInterface
    private interface Beginning {
        NvshmemAllocation begin(Agreement operation, Closers closers);
    }

    /** Every step ends alike on all ranks, so all give back together what they had when one fails. */
    private static NvshmemAllocation beginning(NvshmemBackend backend, String operation, Beginning beginning) {
        Closers closers = new Closers();
        try {
            return beginning.begin(backend.agreement(operation), closers);
        } catch (RuntimeException e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    private CudaMemory own() {
        return new CudaMemory(data, sizeBytes);
    }

    private CudaMemory ownPad() {
        return new CudaMemory(pad, padLayout.sizeBytes());
    }

    private static long block(NvshmemBackend backend, Agreement operation, long blockBytes, Closers closers) {
        PeWorld world = backend.world();
        long address = world.allocate(operation, blockBytes, backend::lostRanks);
        closers.add(() -> together("freeing " + blockBytes + " bytes",
                () -> world.free(backend.agreement("closing a tensor"), address, blockBytes, backend::lostRanks)));
        return address;
    }

    private static long registered(NvshmemBackend backend, Agreement operation, MemoryRegion region, Closers closers) {
        PeWorld world = backend.world();
        long symmetric = world.register(operation, region.address(), region.sizeBytes(), backend::lostRanks);
        closers.add(() -> together("unregistering a buffer",
                () -> world.unregister(backend.agreement("closing a tensor"), symmetric, region.sizeBytes(), backend::lostRanks)));
        return symmetric;
    }

    /** Closes together with the others; without one that has died nothing can be given back, and closing still succeeds. */
    private static void together(String what, Runnable step) {
        try {
            step.run();
        } catch (DeadlineException | RankLostException | CollectiveFailedException e) {
            LOG.log(Level.WARNING, what + " of NVSHMEM's heap was not possible, so they stay in use until the process ends: "
                    + e.getMessage());
        }
    }

    @Override
    public Memory local() {
        return own();
    }

    @Override
    public PeerMapping rendezvous(Agreement agreement) {
        PeWorld world = backend.world();
        record Places(long data, long pad) {}
        List<Places> all = agreement.step("comparing places in the heap", () -> Wire.write(out -> {
            out.writeLong(world.offsetOf(data));
            out.writeLong(world.offsetOf(pad));
        })).stream().map(bytes -> Wire.read(bytes, in -> new Places(in.readLong(), in.readLong()))).toList();
        if (all.stream().distinct().count() > 1) {
            throw new RanksDisagreeException(agreement.operation() + ": buffers are at different places of the ranks' heaps: " + all
                    + ", in rank order. A wrapped buffer must be the same symmetric memory on all ranks");
        }
        Memory[] peers = IntStream.range(0, world.size()).mapToObj(this::peer).toArray(Memory[]::new);
        long[] pads = IntStream.range(0, world.size()).mapToLong(pe -> pe == world.rank() ? pad : NvshmemNative.address(pad, pe)).toArray();
        CudaSignalPad signals = new CudaSignalPad(backend.engine(), padLayout, world.rank(), pads, backend::lostRanks, agreement.subject());
        return NvshmemMapping.agreed(agreement, backend.multicast().supported() ? data : 0, sizeBytes, peers, signals);
    }

    private Memory peer(int pe) {
        long address = pe == backend.world().rank() ? data : NvshmemNative.address(data, pe);
        return address != 0 ? new CudaMemory(address, sizeBytes) : new RemoteMemory(data, pe, sizeBytes);
    }

    @Override
    public void close() {
        // Signals to peers that are still on their way would otherwise be stored into what the heap has given to somebody else.
        backend.engine().quiesce();
        closers.close();
    }
}
