package org.symmem.tck.mutant;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.symmem.Availability;
import org.symmem.Capability;
import org.symmem.ProcessGroup;
import org.symmem.Support;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.Memory;
import org.symmem.spi.PeerMapping;
import org.symmem.spi.SignalPad;
import org.symmem.spi.SignalPadLayout;
import org.symmem.spi.StreamQueue;

/** The mistakes, each with the rule that must catch it and what that rule's message must say. */
public enum Mutant {
    THROWS_IN_CONSTRUCTOR(1, "SM-CAP-1", new Change() {
        @Override
        public void construct() {
            throw new IllegalStateException("the constructor reads a file that is not there");
        }
    }, "could not open the backend", "its provider cannot be made", "the constructor reads a file that is not there"),

    THROWS_WHEN_OPENED(1, "SM-CAP-1", new Change() {
        @Override
        public void open(ProcessGroup group) {
            throw new IllegalArgumentException("open was written in a hurry");
        }
    }, "could not open the backend", "open was written in a hurry"),

    LACKS_WITHOUT_A_REASON(1, "SM-CAP-1", new Change() {
        @Override
        public Map<Capability, Support> capabilities(Map<Capability, Support> right) {
            return with(right, Capability.MULTICAST, new Support.No(" "));
        }
    }, "MULTICAST is lacking without a reason"),

    LOADS_ITS_LIBRARY_ONCE(1, "SM-CAP-2", new Change() {
        @Override
        public Availability availability(Availability right) {
            // The provider is made anew for each query; what a library's loader remembers is not.
            if (ASKED.incrementAndGet() > 1) {
                throw new NoClassDefFoundError("Could not initialize class Library");
            }
            return right;
        }
    }, "an open backend should be available when asked the 1. time"),

    KEEPS_OLD_DATA(1, "SM-ALLOC-3", new Change() {
        @Override
        public Allocation allocate(Backend backend, long sizeBytes, SignalPadLayout pad) {
            Allocation right = backend.allocate(sizeBytes, pad);
            backend.fill(right.local(), sizeBytes - 1, 1, 0xA5, 1);
            return right;
        }
    }, "a byte of fresh memory in round 0 should be 0 and is -91"),

    FILLS_BYTES_FOR_ELEMENTS(1, "SM-ALLOC-6", new Change() {
        @Override
        public void fill(Backend right, Memory target, long offset, long elements, long elementBits, int elementSize) {
            right.fill(target, offset, elements * elementSize, elementBits & 0xff, 1);
        }
    }, "int16 element 0 should be 3.0 and is 771.0"),

    RUNS_OUT_OF_MEMORY(1, "SM-ALLOC-7", new Change() {
        @Override
        public Allocation allocate(Backend right, long sizeBytes, SignalPadLayout pad) {
            if (sizeBytes > 1L << 40) {
                throw new OutOfMemoryError();
            }
            return right.allocate(sizeBytes, pad);
        }
    }, "a SymmetricMemoryException should be thrown, not java.lang.OutOfMemoryError"),

    COUNTS_SIZES_IN_AN_INT(1, "SM-ALLOC-4", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            right.copy(target, targetOffset & 0x7fff_ffff, source, sourceOffset & 0x7fff_ffff, sizeBytes);
        }
    }, "a byte beyond what an int counts"),

    SHIFTS_PEERS_BY_ONE(2, "SM-RDV-1", new Change() {
        @Override
        public Memory peer(PeerMapping right, int rank, int worldSize) {
            return right.peer((rank + 1) % worldSize);
        }
    }, "the peer's view: byte 0 of rank "),

    LEAKS_A_DESCRIPTOR(1, "SM-RDV-1", new Change() {
        private final List<Descriptor> forgotten = new ArrayList<>();

        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            forgotten.add(LibC.memfdCreate("forgotten", LibC.MFD_CLOEXEC, "a descriptor to forget"));
        }
    }, "left behind after the rule: descriptor of /memfd:forgotten (deleted): 0 before, 1 after"),

    FORGETS_CLOSE_ON_EXEC(1, "SM-LIFE-5", new Change() {
        private Descriptor inherited = Descriptor.borrowed(-1);

        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            inherited = LibC.memfdCreate("inherited", 0, "a descriptor to inherit");
        }

        @Override
        public void closeAllocation(Allocation right) {
            inherited.close();
            right.close();
        }
    }, "what was opened without close-on-exec should be [] and is", "/memfd:inherited"),

    LEAKS_ADDRESSES(1, "SM-LIFE-3", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            LibC.reserve(8 << 20, Arena.global(), "addresses to forget");
        }
    }, "the address space grew by", "over 200 cycles"),

    HANDS_OUT_SEGMENTS_WITHOUT_AN_END(2, "SM-LIFE-9", new Change() {
        @Override
        public Memory peer(PeerMapping right, int rank, int worldSize) {
            Memory mapped = right.peer(rank);
            return Memory.of(MemorySegment.ofAddress(mapped.address()).reinterpret(mapped.sizeBytes()));
        }
    }, "ended by signal 6", "SIGSEGV"),

    EXITS_IN_RENDEZVOUS(2, "SM-RDV-1", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            if (group.rank() == 1) {
                System.out.println("a native library has had enough");
                System.exit(3);
            }
        }
    }, "rank 1 ended with exit code 3", "a native library has had enough"),

    CRASHES_IN_RENDEZVOUS(2, "SM-RDV-1", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            if (group.rank() == 1) {
                signalMyself("-SEGV");
            }
        }
    }, "rank 1 ended by signal "),

    HANGS_IN_RENDEZVOUS(2, "SM-RDV-1", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            while (group.rank() == 1) {
                LockSupport.park();
            }
        }
    }, "DeadlineException", "rank 1 was still running") {
        @Override
        public String timeoutMultiplier() {
            // It is the one that waits for a deadline.
            return "0.15";
        }
    },

    ACCESSES_BEYOND_A_PUT(1, "SM-ACC-1", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
            long end = targetOffset + sizeBytes;
            if (end % 8 != 0 && end + 1 < target.sizeBytes()) {
                right.fill(target, end, 1, 0xEE, 1);
            }
        }
    }, "bytes between puts: byte 2 of rank "),

    COPIES_LATER(1, "SM-SYNC-3", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            if (sizeBytes != 2048 || source.address() != 0) {
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
                return;
            }
            Thread.ofPlatform().daemon().start(() -> {
                LockSupport.parkNanos(5_000_000);
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
            });
        }
    }, "what the previous rank stored before it signalled: byte "),

    KEEPS_OLD_SIGNALS(1, "SM-SYNC-17", new Change() {
        private final Set<SignalPad> old = Collections.newSetFromMap(new IdentityHashMap<>());

        @Override
        public boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
            return old.add(right) || right.await(source, channel, timeoutNanos);
        }
    }, "a DeadlineException should be thrown, not nothing"),

    BARRIER_DOES_NOT_WAIT(2, "SM-SYNC-2", new Change() {
        @Override
        public int[] barrier(SignalPad right, int channel, long timeoutNanos) {
            return new int[0];
        }
    }, "what the late rank stored before it came to the barrier should be 1 and is 0"),

    SIGNAL_DOES_NOTHING(1, "SM-SYNC-4", new Change() {
        @Override
        public void signal(SignalPad right, int peer, int channel) {}

        @Override
        public boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
            return true;
        }
    }, "a DeadlineException should be thrown, not nothing"),

    CHANNELS_ARE_ONE(1, "SM-SYNC-5", new Change() {
        @Override
        public void signal(SignalPad right, int peer, int channel) {
            right.signal(peer, 0);
        }

        @Override
        public boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
            return right.await(source, 0, timeoutNanos);
        }
    }, "a DeadlineException should be thrown, not nothing"),

    NAMES_NOBODY_IN_A_TIMEOUT(2, "SM-SYNC-9", new Change() {
        @Override
        public int[] barrier(SignalPad right, int channel, long timeoutNanos) {
            return right.barrier(channel, timeoutNanos).length > 0 ? new int[]{0} : new int[0];
        }
    }, "the message should contain \"[1]\""),

    STREAM_WAITS_FOR_NOBODY(1, "SM-SYNC-13", new Change() {
        @Override
        public void await(SignalPad right, int source, int channel, StreamQueue stream, long timeoutNanos) {}
    }, "a SymmetricMemoryException should be thrown, not nothing"),

    LIES_ABOUT_MULTICAST(2, "SM-MC-1", new Change() {
        @Override
        public Map<Capability, Support> capabilities(Map<Capability, Support> right) {
            return with(right, Capability.MULTICAST, new Support.Yes("so it says"));
        }

        @Override
        public Support multicastSupport(PeerMapping right) {
            return new Support.Yes("so it says");
        }

        @Override
        public Memory multicast(PeerMapping right, int worldSize) {
            return right.peer(0);
        }
    }, "what rank 0 stored through multicast: byte 0 of rank 0's buffer should be ", "seen by rank 1"),

    STRIDE_FORGETS_THE_GAP(2, "SM-VIEW-2", new Change() {
        @Override
        public long contiguousStrideBytes(PeerMapping right, long sizeBytes) {
            return sizeBytes;
        }
    }, "part 1 of the view of 4 bytes: byte "),

    VIEW_SHOWS_ONE_RANK(2, "SM-VIEW-1", new Change() {
        @Override
        public Memory contiguous(PeerMapping right, int worldSize) {
            return right.peer(0);
        }
    }, "IndexOutOfBoundsException"),

    VIEW_IS_A_COPY(1, "SM-VIEW-3", new Change() {
        @Override
        public Memory contiguous(PeerMapping right, int worldSize) {
            MemorySegment mapped = right.contiguous().segment().orElseThrow();
            return Memory.of(Arena.ofAuto().allocate(mapped.byteSize()).copyFrom(mapped));
        }
    }, "a store made after the view: byte ");

    private static final AtomicInteger ASKED = new AtomicInteger();

    private final int ranks;
    private final String rule;
    private final Change change;
    private final List<String> message;

    Mutant(int ranks, String rule, Change change, String... message) {
        this.ranks = ranks;
        this.rule = rule;
        this.change = change;
        this.message = List.of(message);
    }

    /** {@return the fewest ranks among which it shows} */
    public int ranks() {
        return ranks;
    }

    /** {@return the rule that must catch it} */
    public String rule() {
        return rule;
    }

    /** {@return what the rule's message must contain} */
    public List<String> message() {
        return message;
    }

    /** {@return how the kit's timeouts are multiplied for it} */
    public String timeoutMultiplier() {
        // Its peers wait in vain for what it does not do.
        return "0.3";
    }

    Change change() {
        return change;
    }

    private static Map<Capability, Support> with(Map<Capability, Support> right, Capability capability, Support support) {
        Map<Capability, Support> all = new EnumMap<>(right);
        all.put(capability, support);
        return all;
    }

    private static void signalMyself(String signal) {
        try {
            new ProcessBuilder("kill", signal, Long.toString(ProcessHandle.current().pid())).start().waitFor();
            // The signal takes a moment; nothing here may go on meanwhile.
            LockSupport.park();
        } catch (java.io.IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
