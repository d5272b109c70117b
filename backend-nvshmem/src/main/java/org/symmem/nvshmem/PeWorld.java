package org.symmem.nvshmem;

import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.symmem.Capability;
import org.symmem.CollectiveFailedException;
import org.symmem.DeadlineException;
import org.symmem.ErrorCode;
import org.symmem.ProcessGroup;
import org.symmem.RankLostException;
import org.symmem.RanksDisagreeException;
import org.symmem.SymmetricMemoryException;
import org.symmem.UnsupportedCapabilityException;
import org.symmem.cuda.CudaDevice;
import org.symmem.spi.Agreement;
import org.symmem.spi.HostIdentity;
import org.symmem.spi.Wire;

/**
 * NVSHMEM as this process takes part in it: one PE, started once, used by every group of the same ranks in the same order, and ended
 * with the last of them. What the library does collectively goes through {@link #collective}, which finds out first that all
 * ranks are about to do the same, for the library does not.
 */
final class PeWorld {
    private static final System.Logger LOG = System.getLogger("org.symmem.nvshmem");
    private static final String PROCESS = UUID.randomUUID().toString();
    private static final String IDLE = "idle";
    /** For copies between memory that the library cannot send from and peers that no store reaches. */
    private static final long STAGING_BYTES = 1 << 20;

    private static @Nullable PeWorld current;
    private static @Nullable String over;

    private final String id;
    private final int rank;
    private final int size;
    private final CudaDevice device;
    private final PeThread thread;
    private final HeapAccount account;
    private final boolean sharesDevices;
    private int status;
    private long base;
    private boolean reachesAll;
    private long staging;
    private long calls;
    private int users;

    private PeWorld(String id, ProcessGroup group, CudaDevice device, PeThread thread, List<String> devices) {
        this.id = id;
        this.rank = group.rank();
        this.size = group.worldSize();
        this.device = device;
        this.thread = thread;
        this.account = new HeapAccount(devices);
        this.sharesDevices = devices.stream().distinct().count() < size;
    }

    /** What a rank tells of itself before it joins. */
    private record Seat(String state, int pe, int pes, String device) {
        byte[] toBytes() {
            return Wire.write(out -> {
                out.writeUTF(state);
                out.writeInt(pe);
                out.writeInt(pes);
                out.writeUTF(device);
            });
        }

        static Seat from(byte[] bytes) {
            return Wire.read(bytes, in -> new Seat(in.readUTF(), in.readInt(), in.readInt(), in.readUTF()));
        }
    }

    /**
     * Joins the world of a group's ranks, which is started if there is none. Collective.
     *
     * @param group     the ranks, each a process
     * @param agreement with them
     * @param library   what was found
     * @param lostRanks who is known to be gone
     * @return the world; to be left
     * @throws UnsupportedCapabilityException on all ranks, if they are threads, or some of a world's ranks
     * @throws SymmetricMemoryException       on all ranks, if one has had another world, or it cannot be started
     */
    static PeWorld join(ProcessGroup group, Agreement agreement, NvshmemLibrary.Loaded library, Supplier<Set<Integer>> lostRanks) {
        requireProcesses(agreement.step("comparing processes", () -> PROCESS.getBytes(StandardCharsets.US_ASCII))
                .stream()
                .map(process -> new String(process, StandardCharsets.US_ASCII))
                .toList());
        // One at a time in this process: a second group that opens meanwhile finds the first one's world.
        synchronized (PeWorld.class) {
            List<Seat> seats = agreement.step("comparing what NVSHMEM does in the processes", () -> ownSeat(group).toBytes())
                    .stream()
                    .map(Seat::from)
                    .toList();
            if (seats.stream().allMatch(seat -> seat.state().equals(IDLE))) {
                current = start(group, agreement, library, lostRanks, seats.stream().map(Seat::device).toList());
            } else {
                requireSameWorld(group, seats);
            }
            PeWorld world = current;
            if (world == null) {
                throw new IllegalStateException("no world, though all ranks have one");
            }
            world.users++;
            return world;
        }
    }

    private static Seat ownSeat(ProcessGroup group) {
        try (CudaDevice device = CudaDevice.forLocalRank(group.localRank())) {
            PeWorld running = current;
            String state = over != null ? over : running != null ? running.id : IDLE;
            return new Seat(state, running != null ? running.rank : -1, running != null ? running.size : 0, device.uuid());
        }
    }

    private static void requireProcesses(List<String> processes) {
        for (int rank = 0; rank < processes.size(); rank++) {
            for (int other = 0; other < rank; other++) {
                if (processes.get(rank).equals(processes.get(other))) {
                    throw new UnsupportedCapabilityException(Capability.THREAD_RANKS, NvshmemBackendProvider.NAME,
                            "ranks " + other + " and " + rank + " are threads of one process, and NVSHMEM has one PE a process");
                }
            }
        }
    }

    private static void requireSameWorld(ProcessGroup group, List<Seat> seats) {
        boolean one = seats.stream().map(Seat::state).distinct().count() == 1 && over == null;
        boolean inOrder = IntStream.range(0, seats.size()).allMatch(rank -> seats.get(rank).pe() == rank);
        if (one && inOrder && seats.getFirst().pes() == seats.size()) {
            return;
        }
        List<String> words = new ArrayList<>();
        for (int rank = 0; rank < seats.size(); rank++) {
            Seat seat = seats.get(rank);
            words.add("rank " + rank + ": "
                    + (seat.pe() >= 0 ? "PE " + seat.pe() + " of " + seat.pes() + " of " + seat.state() : seat.state()));
        }
        if (one) {
            throw new UnsupportedCapabilityException(Capability.SUBGROUPS, NvshmemBackendProvider.NAME,
                    "NVSHMEM allocates with all its PEs, and " + group.name() + " has others, or has them in another order: " + words);
        }
        throw new SymmetricMemoryException(NvshmemErrors.WORLD, "NVSHMEM runs once a process, with the ranks that it began with, and "
                + group.name() + " would be a second world: " + words + ". Open it once for all ranks, or in new processes");
    }

    private static PeWorld start(ProcessGroup group, Agreement agreement, NvshmemLibrary.Loaded library, Supplier<Set<Integer>> lostRanks,
            List<String> devices) {
        PeThread thread = new PeThread();
        CudaDevice device = CudaDevice.forLocalRank(group.localRank());
        boolean begun = false;
        try {
            record Invitation(String world, byte[] uniqueId) {}
            Invitation invitation = Wire.read(
                    agreement.step("making the unique id", () -> invitation(group, agreement, library, lostRanks, device, thread))
                            .getFirst(),
                    in -> new Invitation(in.readUTF(), in.readAllBytes()));
            PeWorld world = new PeWorld(invitation.world(), group, device, thread, devices);
            begun = true;
            agreement.check("starting NVSHMEM", () -> world.startLocally(invitation.uniqueId(), patience(agreement.timeout()), lostRanks));
            world.lookAround(agreement, lostRanks);
            return world;
        } catch (Throwable e) {
            if (begun) {
                // Whoever did start cannot be ended without the others, nor started again.
                over = "NVSHMEM failed to start in this process, and does not try twice";
            } else {
                thread.close();
                device.close();
            }
            throw e;
        }
    }

    private static byte[] invitation(ProcessGroup group, Agreement agreement, NvshmemLibrary.Loaded library,
            Supplier<Set<Integer>> lostRanks, CudaDevice device, PeThread thread) {
        NvshmemNative
                .describe("rank " + group.rank() + "/" + group.worldSize() + " on host " + HostIdentity.local().name() + ", " + device);
        // NVLink multicast can put a host that is shared out of service: it is for the user to ask for it.
        NvshmemNative.setVariable("NVSHMEM_DISABLE_NVLS", "1");
        NvshmemNative.setVariable(NvshmemLibrary.PLUGIN_VARIABLE, library.plugin());
        byte[] uniqueId = new byte[NvshmemNative.UNIQUE_ID_BYTES];
        if (group.rank() == 0) {
            thread.call(device, "making a unique id", patience(agreement.timeout()), lostRanks, () -> {
                NvshmemErrors.check(NvshmemNative.uniqueId(uniqueId), "nvshmemx_get_uniqueid",
                        "making a unique id with the plugin " + library.plugin());
                return 0;
            });
        }
        return Wire.write(out -> {
            out.writeUTF("world " + UUID.randomUUID());
            out.write(uniqueId);
        });
    }

    /** Less than ranks wait for each other, so that the one that gives up can still tell the others. */
    private static Duration patience(Duration timeout) {
        return timeout.multipliedBy(3).dividedBy(4);
    }

    private void startLocally(byte[] uniqueId, Duration patience, Supplier<Set<Integer>> lostRanks) {
        thread.call(device, "the start", patience, lostRanks, () -> {
            NvshmemErrors.check(NvshmemNative.start(rank, size, uniqueId), "nvshmemx_hostlib_init_attr",
                    "starting PE " + rank + " of " + size + " on " + device);
            return 0;
        });
        if (NvshmemNative.pe() != rank || NvshmemNative.pes() != size) {
            throw new SymmetricMemoryException(NvshmemErrors.WORLD,
                    "NVSHMEM was started in this process before, by somebody else: it is PE "
                            + NvshmemNative.pe() + " of " + NvshmemNative.pes() + ", not " + rank + " of " + size);
        }
        status = NvshmemNative.status();
        if (status < NvshmemNative.INITIALIZED) {
            throw new SymmetricMemoryException(NvshmemErrors.WORLD, "NVSHMEM started, and says that it is not initialised (status " + status
                    + ")");
        }
    }

    /** Learns where the heap is, and whose heap stores reach; both by a first allocation, which is kept. */
    private void lookAround(Agreement agreement, Supplier<Set<Integer>> lostRanks) {
        base = allocate(agreement, HeapAccount.ALIGNMENT, lostRanks);
        List<byte[]> answers = agreement.step("looking for the peers' heaps", () -> {
            boolean all = IntStream.range(0, size).allMatch(pe -> NvshmemNative.address(base, pe) != 0);
            return new byte[]{(byte) (all ? 1 : 0)};
        });
        reachesAll = answers.stream().allMatch(answer -> answer[0] == 1);
        if (!reachesAll) {
            staging = allocate(agreement, STAGING_BYTES, lostRanks);
        }
    }

    int rank() {
        return rank;
    }

    int size() {
        return size;
    }

    /** {@return whether loads and stores of every rank reach every rank's heap} */
    boolean reachesAll() {
        return reachesAll;
    }

    boolean sharesDevices() {
        return sharesDevices;
    }

    /** {@return what {@code nvshmemx_init_status} said} */
    int status() {
        return status;
    }

    /** {@return this rank's memory for copies that must go through the heap} */
    long staging() {
        return staging;
    }

    static long stagingBytes() {
        return STAGING_BYTES;
    }

    /** {@return where an address is in the heap, counted from a place that is the same on all ranks} */
    long offsetOf(long address) {
        return address - base;
    }

    /** {@return whether an address lies in this rank's heap} */
    boolean isInHeap(long address) {
        return NvshmemNative.address(address, rank) != 0;
    }

    /**
     * Allocates from the heap. Collective.
     *
     * @return this rank's address
     * @throws SymmetricMemoryException on all ranks, if it cannot be had
     */
    synchronized long allocate(Agreement agreement, long sizeBytes, Supplier<Set<Integer>> lostRanks) {
        Function<List<Long>, @Nullable String> gate = free -> account.refusal(sizeBytes, free).orElse(null);
        long address = collective(agreement, "allocating from the heap", sizeBytes, lostRanks, gate, () -> {
            long allocated = NvshmemNative.allocate(HeapAccount.ALIGNMENT, sizeBytes);
            if (allocated == 0) {
                throw new SymmetricMemoryException(ErrorCode.RESOURCE_LIMIT, "nvshmem_align gave no memory for " + sizeBytes + " bytes on "
                        + device + ": " + device.memory() + "; NVSHMEM's own output, with NVSHMEM_DEBUG=INFO, says more");
            }
            return allocated;
        });
        account.allocated(sizeBytes);
        return address;
    }

    /** Gives memory back to the heap. Collective. */
    synchronized void free(Agreement agreement, long address, long sizeBytes, Supplier<Set<Integer>> lostRanks) {
        collective(agreement, "freeing memory of the heap", offsetOf(address), lostRanks, free -> null, () -> {
            NvshmemNative.free(address);
            return address;
        });
        account.freed(sizeBytes);
    }

    /** Makes a buffer symmetric. Collective. {@return its symmetric address} */
    synchronized long register(Agreement agreement, long buffer, long sizeBytes, Supplier<Set<Integer>> lostRanks) {
        return collective(agreement, "registering a buffer", sizeBytes, lostRanks, free -> null, () -> {
            long symmetric = NvshmemNative.register(buffer, sizeBytes);
            if (symmetric == 0) {
                throw new SymmetricMemoryException(ErrorCode.BUFFER_UNSUITABLE, "nvshmemx_buffer_register_symmetric refused " + sizeBytes
                        + " bytes at 0x" + Long.toHexString(buffer) + "; NVSHMEM's own output says why");
            }
            return symmetric;
        });
    }

    /** Undoes {@link #register}. Collective. */
    synchronized void unregister(Agreement agreement, long symmetric, long sizeBytes, Supplier<Set<Integer>> lostRanks) {
        collective(agreement, "unregistering a buffer", offsetOf(symmetric), lostRanks, free -> null, () -> {
            NvshmemErrors.check(NvshmemNative.unregister(symmetric, sizeBytes), "nvshmemx_buffer_unregister_symmetric",
                    "letting go of a wrapped buffer");
            return symmetric;
        });
    }

    /** What a rank is about to do: the same on all, or it is not done. */
    private record Turn(long number, String call, long argument, long freeBytes) {
        static Turn from(byte[] bytes) {
            return Wire.read(bytes, in -> new Turn(in.readLong(), in.readUTF(), in.readLong(), in.readLong()));
        }

        String what() {
            return "call " + number + ", " + call + " (" + argument + ")";
        }
    }

    private long collective(Agreement agreement, String call, long argument, Supplier<Set<Integer>> lostRanks,
            Function<List<Long>, @Nullable String> gate, LongSupplier work) {
        List<Turn> turns = agreement.step("comparing the order of NVSHMEM's collective calls", () -> {
            requireUsable();
            return Wire.write(out -> {
                out.writeLong(calls);
                out.writeUTF(call);
                out.writeLong(argument);
                out.writeLong(device.freeBytes());
            });
        }).stream().map(Turn::from).toList();
        requireSameTurn(agreement, turns);
        String refusal = gate.apply(turns.stream().map(Turn::freeBytes).toList());
        if (refusal != null) {
            throw new SymmetricMemoryException(ErrorCode.RESOURCE_LIMIT, agreement.operation() + ": " + argument
                    + " bytes cannot be had: " + refusal + ". Free some, ask for less, or use other devices");
        }
        calls++;
        long[] own = new long[1];
        try {
            agreement.check(call, () -> own[0] = thread.call(device, call, patience(agreement.timeout()), lostRanks, work));
            return own[0];
        } catch (CollectiveFailedException e) {
            if (e.failures().size() < size || e.getCause() instanceof DeadlineException || e.getCause() instanceof RankLostException) {
                giveUp(call + " went well on some ranks and failed on others", e);
            }
            throw e;
        } catch (RuntimeException e) {
            giveUp("ranks were lost during " + call, e);
            throw e;
        }
    }

    private static void requireSameTurn(Agreement agreement, List<Turn> turns) {
        if (turns.stream().map(Turn::what).distinct().count() > 1) {
            List<String> words = IntStream.range(0, turns.size()).mapToObj(rank -> "rank " + rank + ": " + turns.get(rank).what()).toList();
            throw new RanksDisagreeException(agreement.operation() + ": ranks use NVSHMEM's heap in different orders: " + words
                    + ". Every rank must allocate and close in the same order");
        }
    }

    private static void requireUsable() {
        synchronized (PeWorld.class) {
            if (over != null) {
                throw new SymmetricMemoryException(NvshmemErrors.WORLD, over);
            }
        }
    }

    private static void giveUp(String why, Throwable error) {
        synchronized (PeWorld.class) {
            if (over == null) {
                over = "NVSHMEM cannot be used by this process any more, since " + why;
                LOG.log(Level.WARNING, over, error);
            }
        }
    }

    /**
     * Leaves the world; the last to leave ends it, if all ranks come to that. Collective. A rank that has died holds nobody up: the
     * others leave NVSHMEM as it is, to end with the process.
     */
    void leave(Agreement agreement, Supplier<Set<Integer>> lostRanks) {
        int left;
        synchronized (PeWorld.class) {
            left = --users;
        }
        try {
            boolean last = agreement.step("asking whether NVSHMEM is still used", () -> {
                requireUsable();
                return new byte[]{(byte) (left == 0 ? 1 : 0)};
            }).stream().allMatch(answer -> answer[0] == 1);
            if (last) {
                end(agreement, lostRanks);
            }
        } catch (SymmetricMemoryException e) {
            LOG.log(Level.WARNING, "NVSHMEM is not ended in order, but with this process: " + e.getMessage());
        }
    }

    private synchronized void end(Agreement agreement, Supplier<Set<Integer>> lostRanks) {
        collective(agreement, "ending NVSHMEM", 0, lostRanks, free -> null, () -> {
            NvshmemNative.finish();
            return 0;
        });
        synchronized (PeWorld.class) {
            over = "NVSHMEM was ended in this process when its last symmetric memory was closed, and does not start twice";
            current = null;
        }
        thread.close();
        device.close();
    }
}
