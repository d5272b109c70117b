package org.symmem.tck.mutant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.symmem.Availability;
import org.symmem.Capability;
import org.symmem.DeadlineException;
import org.symmem.MemoryRegion;
import org.symmem.ProcessGroup;
import org.symmem.RankLostException;
import org.symmem.RanksDisagreeException;
import org.symmem.Support;
import org.symmem.SymmetricMemoryException;
import org.symmem.linux.Descriptor;
import org.symmem.linux.LibC;
import org.symmem.spi.Agreement;
import org.symmem.spi.Allocation;
import org.symmem.spi.Backend;
import org.symmem.spi.GlobalAllocation;
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
    }, "could not open the backend", "backend mutant, asked for by the option, is unavailable", "its provider cannot be made",
            "the constructor reads a file that is not there") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    HAS_TWO_NAMES(1, "SM-CAP-1", new Change() {
        @Override
        public String name(String right) {
            return "another";
        }
    }, "has the name \"another\" and declares \"mutant\" in @BackendName"),

    THROWS_WHEN_OPENED(1, "SM-CAP-1", new Change() {
        @Override
        public void open(ProcessGroup group) {
            throw new IllegalArgumentException("open was written in a hurry");
        }
    }, "could not open the backend", "open was written in a hurry") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    LINKS_A_MISSING_LIBRARY_WHEN_OPENED(1, "SM-CAP-1", new Change() {
        @Override
        public void open(ProcessGroup group) {
            MissingLibrary.call();
        }
    }, "could not open the backend", "symmem-no-such-library") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    OPENS_NULL(1, "SM-CAP-1", new Change() {
        @Override
        public @Nullable Backend opened(Backend right) {
            return null;
        }
    }, "backend mutant returned null from open"),

    HAS_NULL_CAPABILITIES(1, "SM-CAP-1", new Change() {
        @Override
        public @Nullable Map<Capability, Support> capabilities(Map<Capability, Support> right) {
            return null;
        }
    }, "backend mutant returned null from capabilities"),

    ALLOCATES_NULL(1, "SM-ALLOC-1", new Change() {
        @Override
        public @Nullable Allocation allocate(Backend right, long sizeBytes, SignalPadLayout pad) {
            return null;
        }
    }, "backend mutant returned null from allocate"),

    MAPS_NULL(2, "SM-RDV-1", new Change() {
        @Override
        public @Nullable Memory peer(PeerMapping right, int rank, ProcessGroup group) {
            return null;
        }
    }, "backend mutant returned null from peer"),

    EXITS_IN_CONSTRUCTOR(1, "SM-CAP-1", new Change() {
        @Override
        public void construct() {
            System.exit(4);
        }
    }, "rank 0 ended with exit code 4") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    CRASHES_WHEN_OPENED(2, "SM-CAP-1", new Change() {
        @Override
        public void open(ProcessGroup group) {
            if (group.rank() == 1) {
                signalMyself("-SEGV");
            }
        }
    }, "rank 1 ended by signal 6 after SIGSEGV (0xb)") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

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
    }, "an open backend should be available when asked the 1. time") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    THROWS_WHEN_ASKED(1, "SM-CAP-2", new Change() {
        @Override
        public Availability availability(Availability right) {
            MissingLibrary.call();
            return right;
        }
    }, "could not open the backend", "its provider throws when asked for its availability", "symmem-no-such-library") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

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
        public Memory peer(PeerMapping right, int rank, ProcessGroup group) {
            return right.peer((rank + 1) % group.worldSize());
        }
    }, "the peer's view: byte 0 of rank "),

    LEAKS_A_DESCRIPTOR(1, "SM-RDV-1", new Change() {
        private final List<Descriptor> forgotten = new ArrayList<>();

        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            forgotten.add(LibC.memfdCreate("forgotten", LibC.MFD_CLOEXEC, "a descriptor to forget"));
        }
    }, "left behind after the rule: descriptor of /memfd:forgotten (deleted): 2 before, 3 after") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

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
    }, "what was opened without close-on-exec should be [] and is", "/memfd:inherited") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    LEAKS_ADDRESSES(1, "SM-LIFE-3", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            LibC.reserve(8 << 20, Arena.global(), "addresses to forget");
        }
    }, "the address space grew by", "over 200 cycles") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    HANDS_OUT_SEGMENTS_WITHOUT_AN_END(2, "SM-LIFE-9", new Change() {
        @Override
        public Memory peer(PeerMapping right, int rank, ProcessGroup group) {
            Memory mapped = right.peer(rank);
            return Memory.of(MemorySegment.ofAddress(mapped.address()).reinterpret(mapped.sizeBytes()));
        }
    }, "ended by signal 6", "SIGSEGV") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    EXITS_IN_RENDEZVOUS(2, "SM-RDV-1", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            if (group.rank() == 1) {
                System.out.println("a native library has had enough");
                System.exit(3);
            }
        }
    }, "rank 1 ended with exit code 3", "a native library has had enough") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    CRASHES_IN_RENDEZVOUS(2, "SM-RDV-1", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            if (group.rank() == 1) {
                signalMyself("-SEGV");
            }
        }
    }, "rank 1 ended by signal 6 after SIGSEGV (0xb)") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

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

        @Override
        public boolean inProcesses() {
            return true;
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

    COPIES_LATER(1, "SM-SYNC-3", new StoresLater(2048), "what the previous rank stored before it signalled: byte "),

    KEEPS_OLD_SIGNALS(1, "SM-SYNC-17", new Change() {
        private final Set<SignalPad> old = Collections.newSetFromMap(new IdentityHashMap<>());

        @Override
        public boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
            return old.add(right) || right.await(source, channel, timeoutNanos);
        }
    }, "waiting on a fresh tensor: a DeadlineException should be thrown, not nothing"),

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
    }, "waiting once more than was signalled: a DeadlineException should be thrown, not nothing"),

    CHANNELS_ARE_ONE(1, "SM-SYNC-5", new Change() {
        @Override
        public void signal(SignalPad right, int peer, int channel) {
            right.signal(peer, 0);
        }

        @Override
        public boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
            return right.await(source, 0, timeoutNanos);
        }
    }, "waiting on channel 0 for a signal sent on channel 15: a DeadlineException should be thrown, not nothing"),

    NAMES_NOBODY_IN_A_TIMEOUT(2, "SM-SYNC-9", new Change() {
        @Override
        public int[] barrier(SignalPad right, int channel, long timeoutNanos) {
            return right.barrier(channel, timeoutNanos).length > 0 ? new int[]{0} : new int[0];
        }
    }, "a barrier that rank 1 is late for: the message should contain \"[1]\""),

    STREAM_WAITS_FOR_NOBODY(1, "SM-SYNC-13", new Change() {
        @Override
        public void await(SignalPad right, int source, int channel, StreamQueue stream, long timeoutNanos) {}
    }, "a stream that waited in vain: a SymmetricMemoryException should be thrown, not nothing"),

    LIES_ABOUT_MULTICAST(2, "SM-MC-1", new Change() {
        @Override
        public Map<Capability, Support> capabilities(Map<Capability, Support> right) {
            return with(right, Capability.MULTICAST, new Support.Yes("so it says"));
        }

        @Override
        public Support multicastSupport(PeerMapping right, ProcessGroup group) {
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
    }, "the view ends before the last rank's buffer does"),

    LAST_BYTE_OF_ONE_IS_LOST(1, "SM-ALLOC-1", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            if (target.address() == 0 || target.sizeBytes() > 1) {
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
            }
        }
    }, "the last byte of 1: byte 0 of rank 0's buffer should be "),

    ROUNDS_DOWN_TO_A_GRANULE(1, "SM-ALLOC-2", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            long granularity = right.granularityBytes();
            boolean lost = target.address() != 0 && target.sizeBytes() > granularity && targetOffset >= granularity;
            right.copy(target, lost ? targetOffset % granularity : targetOffset, source, sourceOffset, sizeBytes);
        }
    }, "the last byte of 4097: byte 4096 of rank 0's buffer should be "),

    PUTS_DATA_BEHIND_A_HEADER(2, "SM-ALLOC-5", new Change() {
        @Override
        public Memory peer(PeerMapping right, int rank, ProcessGroup group) {
            return new Elsewhere(right.peer(rank), 8);
        }
    }, "the address of rank ", "modulo 128 should be 0 and is 8"),

    STOPS_AT_THE_FIRST_REASON(1, "SM-ALLOC-8", new Change() {
        @Override
        public List<String> validate(Backend right, MemoryRegion region, long sizeBytes) {
            return right.validate(region, sizeBytes).stream().limit(1).toList();
        }
    }, "plain memory that is too small should be refused for both reasons, not for ["),

    WRAPS_A_COPY(1, "SM-ALLOC-9", new Change() {
        @Override
        public Allocation wrap(Backend right, MemoryRegion region, long sizeBytes, SignalPadLayout pad) {
            Allocation copy = right.allocate(sizeBytes, pad);
            right.copy(copy.local(), 0, Memory.of(region.segment().orElseThrow()), 0, sizeBytes);
            return copy;
        }
    }, "what a peer stored into the wrapped buffer: byte 5 of rank 0's buffer"),

    HAS_ROOM_FOR_128_TENSORS(1, "SM-ALLOC-12", new Change() {
        private final List<Memory> all = new ArrayList<>();

        @Override
        public Memory local(Allocation right) {
            all.add(right.local());
            return all.get((all.size() - 1) % 128);
        }
    }, "tensor 0 of 256: byte 0 of rank 0's buffer"),

    GIVES_ORDINARY_MEMORY_TWICE(1, "SM-ALLOC-13", new Change() {
        private final Map<Long, GlobalAllocation> bySize = new ConcurrentHashMap<>();

        @Override
        public GlobalAllocation allocateGlobal(Backend right, long sizeBytes) {
            GlobalAllocation first = bySize.computeIfAbsent(sizeBytes, right::allocateGlobal);
            return new GlobalAllocation() {
                @Override
                public Memory memory() {
                    return first.memory();
                }

                @Override
                public void close() {}
            };
        }
    }, "ordinary memory: byte 0 of rank 0's buffer should be"),

    COMPARES_NO_SIZES(2, "SM-RDV-3", new HearsOnlyItself(), "a rendezvous of 100 and 200: a RanksDisagreeException should be thrown, not "),

    COMPARES_NO_TYPES(2, "SM-RDV-4", new HearsOnlyItself(),
            "a rendezvous of int32 and float32: a RanksDisagreeException should be thrown, not nothing"),

    COMPARES_NO_SHAPES(2, "SM-RDV-5", new HearsOnlyItself(),
            "a rendezvous of 4x16 and 16x4: a RanksDisagreeException should be thrown, not nothing"),

    COMPARES_NO_ORDER(2, "SM-RDV-6", new HearsOnlyItself(),
            "a rendezvous of different allocations: a RanksDisagreeException should be thrown, not nothing"),

    NUMBERS_STEPS_BY_PROCESS(2, "SM-RDV-7", new Change() {
        private final ThreadLocal<Integer> opened = ThreadLocal.withInitial(() -> 0);

        @Override
        public void open(ProcessGroup group) {
            opened.set(opened.get() + 1);
        }

        @Override
        public ProcessGroup meeting(ProcessGroup right) {
            int number = opened.get();
            return new OtherMeeting(right) {
                @Override
                public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
                    return right.allGather(step + ", number " + number, contribution, timeout);
                }
            };
        }
    }, "RanksDisagreeException", "number 2", "number 3"),

    TAKES_RANKS_OF_THE_WORLD(2, "SM-RDV-8", new Change() {
        @Override
        public Memory peer(PeerMapping right, int rank, ProcessGroup group) {
            // The group of reversed order: its rank 0 is the world's last.
            return right.peer(group.name().contains("/1,0#") ? group.worldSize() - 1 - rank : rank);
        }
    }, "the second group's tensor: byte 0 of rank "),

    KEEPS_THE_NAME_OF_A_CLOSED_GROUP(1, "SM-RDV-9", new Change() {
        private final Set<String> names = ConcurrentHashMap.newKeySet();

        @Override
        public void open(ProcessGroup group) {
            String members = group.name().replaceFirst("#\\d+$", "");
            if (!members.equals(group.name()) && !names.add(members)) {
                throw new IllegalStateException("the name " + members + " is in use");
            }
        }
    }, "/0 is in use"),

    WAITS_FOR_A_MOMENT_ONLY(2, "SM-RDV-10", new Change() {
        @Override
        public ProcessGroup meeting(ProcessGroup right) {
            return new OtherMeeting(right) {
                @Override
                public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
                    return right.allGather(step, contribution, Duration.ofMillis(300));
                }
            };
        }
    }, "ranks [0] did not come within 300 ms"),

    BLAMES_RANK_0(2, "SM-RDV-11", new Change() {
        @Override
        public ProcessGroup meeting(ProcessGroup right) {
            return new OtherMeeting(right) {
                @Override
                public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
                    try {
                        return right.allGather(step, contribution, timeout);
                    } catch (DeadlineException e) {
                        throw new DeadlineException(e.code(), "rank 0 did not come", List.of(0));
                    }
                }
            };
        }
    }, "a rendezvous that rank 1 stays away from: the message should contain \"[1]\": rank 0 did not come"),

    STARTS_LAZILY(2, "SM-RDV-12", new Change() {
        private final Set<String> started = ConcurrentHashMap.newKeySet();

        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            if (started.add(group.name() + group.rank())) {
                throw new IllegalStateException("the communicator is still starting");
            }
        }
    }, "the communicator is still starting"),

    HIDES_A_DEATH_BEFORE_THE_RENDEZVOUS(2, "SM-RDV-14", new HidesDeaths(),
            "a rendezvous with a rank that is dead: a SymmetricMemoryException should be thrown, not java.lang.IllegalStateException: something went wrong") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    HIDES_A_DEATH_IN_THE_RENDEZVOUS(2, "SM-RDV-16", new HidesDeaths(),
            "a rendezvous with a rank that is dead: a SymmetricMemoryException should be thrown, not java.lang.IllegalStateException: something went wrong") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    FAILED_RENDEZVOUS_CLEARS_THE_BUFFER(2, "SM-RDV-15", new Change() {
        private final ThreadLocal<List<Memory>> buffers = ThreadLocal.withInitial(ArrayList::new);

        @Override
        public Memory local(Allocation right) {
            buffers.get().add(right.local());
            return right.local();
        }

        @Override
        public ProcessGroup meeting(ProcessGroup right) {
            return new OtherMeeting(right) {
                @Override
                public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
                    try {
                        return right.allGather(step, contribution, timeout);
                    } catch (RanksDisagreeException e) {
                        buffers.get().forEach(buffer -> buffer.segment().orElseThrow().fill((byte) 0));
                        throw e;
                    }
                }
            };
        }
    }, "the own buffer after a failed rendezvous: byte 0 of rank "),

    BELONGS_TO_ITS_FIRST_THREAD(1, "SM-RDV-18", new Change() {
        private final AtomicReference<Thread> first = new AtomicReference<>();

        @Override
        public void open(ProcessGroup group) {
            if (!first.compareAndSet(null, Thread.currentThread()) && first.get() != Thread.currentThread()) {
                throw new IllegalStateException("this process has a rank already, in thread " + first.get().getName());
            }
        }
    }, "this process has a rank already"),

    EXCHANGES_OFFSETS(2, "SM-ACC-2", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            boolean both = target.address() != 0 && source.address() != 0;
            right.copy(target, both ? sourceOffset : targetOffset, source, both ? targetOffset : sourceOffset, sizeBytes);
        }
    }, "what the previous rank put, which it had got from here: byte "),

    SIGNALS_INTO_DATA(1, "SM-ACC-5", new Change() {
        @Override
        public void signalled(PeerMapping mapping, int peer, int channel) {
            mapping.peer(peer).segment().orElseThrow().set(ValueLayout.JAVA_BYTE, channel, (byte) 1);
        }
    }, "data after signals on all channels: byte 0 of rank 0's buffer should be "),

    ROUNDS_COPIES_TO_WORDS(1, "SM-ACC-6", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            right.copy(target, sizeBytes == 7 ? targetOffset & ~3 : targetOffset, source, sourceOffset, sizeBytes);
        }
    }, "a tensor written by rows: byte "),

    HANDS_OUT_COPIES_AS_SEGMENTS(2, "SM-ACC-7", new Change() {
        @Override
        public Memory peer(PeerMapping right, int rank, ProcessGroup group) {
            Memory mapped = right.peer(rank);
            MemorySegment copy = Arena.ofAuto().allocate(mapped.sizeBytes()).copyFrom(mapped.segment().orElseThrow());
            return new Elsewhere(mapped, 0) {
                @Override
                public Optional<MemorySegment> segment() {
                    return Optional.of(copy);
                }
            };
        }
    }, "the address of the segment should be "),

    RUNS_FILLS_FIRST(1, "SM-ACC-9", new Change() {
        @Override
        public StreamQueue stream(StreamQueue right) {
            return new LazyStream(right) {
                @Override
                void release() {
                    runAll(fills);
                    runAll(copies);
                }
            };
        }
    }, "a byte of the last copy should be 19 and is 77"),

    STREAMS_DROP_FILLS(1, "SM-ACC-10", new Change() {
        @Override
        public StreamQueue stream(StreamQueue right) {
            return new LazyStream(right) {
                @Override
                void release() {
                    fills.clear();
                    runAll(copies);
                }
            };
        }
    }, "a byte filled on a stream after the refusal should be 10 and is "),

    WRAPS_A_STREAM_OF_ITS_OWN(1, "SM-ACC-11", new HasEverything() {
        @Override
        public StreamQueue wrapStream(Backend right, long handle) {
            return stream(right.newStream());
        }
    }, "the handle of the wrapped stream should be 1 and is 2"),

    DROPS_PUTS_WITHOUT_AN_ADDRESS(2, "SM-ACC-12", new LacksEverything() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            if (!(target instanceof Unaddressed)) {
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
            }
        }
    }, "what a peer put: byte 500 of rank "),

    BARRIER_LEAVES_STORES_BEHIND(2, "SM-SYNC-1", new StoresLater(64), "after barrier 0: byte "),

    USES_DATA_AS_THE_LAST_CHANNEL(1, "SM-SYNC-6", new Change() {
        @Override
        public void atBarrier(PeerMapping mapping, ProcessGroup group, int channel) {
            if (channel == 15) {
                mapping.peer(group.rank()).segment().orElseThrow().fill((byte) 1);
            }
        }
    }, "a byte of the buffer should be 0 and is 1"),

    LOSES_SIGNALS_TO_ITSELF(2, "SM-SYNC-7", new Change() {
        private final ThreadLocal<Integer> self = ThreadLocal.withInitial(() -> -1);

        @Override
        public void open(ProcessGroup group) {
            self.set(group.rank());
        }

        @Override
        public void signal(SignalPad right, int peer, int channel) {
            if (peer != self.get()) {
                right.signal(peer, channel);
            }
        }
    }, "no signal from rank ", " on channel 0 within"),

    TIMEOUT_BREAKS_THE_CHANNEL(1, "SM-SYNC-8", new Change() {
        private final Set<Integer> broken = ConcurrentHashMap.newKeySet();

        @Override
        public boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
            if (broken.contains(channel)) {
                throw new IllegalStateException("channel " + channel + " is broken by an earlier timeout");
            }
            boolean came = right.await(source, channel, timeoutNanos);
            if (!came) {
                broken.add(channel);
            }
            return came;
        }
    }, "channel 3 is broken by an earlier timeout"),

    THREADS_SHARE_STORES(2, "SM-SYNC-10", new StoresLater(128), "'s half: byte "),

    HAS_ONE_PAD_FOR_ALL_TENSORS(1, "SM-SYNC-11", new Change() {
        private Optional<SignalPad> first = Optional.empty();

        private SignalPad pad(SignalPad right) {
            first = Optional.of(first.orElse(right));
            return first.get();
        }

        @Override
        public void signal(SignalPad right, int peer, int channel) {
            pad(right).signal(peer, channel);
        }

        @Override
        public boolean await(SignalPad right, int source, int channel, long timeoutNanos) {
            return pad(right).await(source, channel, timeoutNanos);
        }
    }, "waiting for a signal of another tensor: a DeadlineException should be thrown, not nothing"),

    SIGNALS_OVERTAKE_COPIES_ON_A_STREAM(1, "SM-SYNC-12", new Change() {
        @Override
        public StreamQueue stream(StreamQueue right) {
            return new LazyStream(right) {
                @Override
                void release() {
                    // Signals and waits went straight to the right queue.
                    runAll(copies.reversed());
                }
            };
        }

        @Override
        public StreamQueue rightOf(StreamQueue stream) {
            return ((LazyStream) stream).right;
        }
    }, "what came before a signal on a stream: byte "),

    ALL_STREAMS_ARE_ONE(1, "SM-SYNC-14", new Change() {
        private Optional<StreamQueue> one = Optional.empty();

        @Override
        public StreamQueue stream(StreamQueue right) {
            one = Optional.of(one.orElse(right));
            return one.get();
        }
    }, "a stream beside one that waits fails: ", "is not done after"),

    DEATH_ENDS_A_BARRIER_WELL(2, "SM-SYNC-15", new Change() {
        @Override
        public int[] barrier(SignalPad right, int channel, long timeoutNanos) {
            try {
                return right.barrier(channel, timeoutNanos);
            } catch (RankLostException e) {
                return new int[0];
            }
        }
    }, "a barrier with a rank that is dead: a SymmetricMemoryException should be thrown, not nothing") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    GIVES_UP_ON_A_STOPPED_RANK(2, "SM-SYNC-16", new Change() {
        @Override
        public int[] barrier(SignalPad right, int channel, long timeoutNanos) {
            return right.barrier(channel, Math.min(timeoutNanos, 300_000_000));
        }
    }, "DeadlineException", "[0]") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    MULTICAST_FORGETS_THE_OFFSET(2, "SM-MC-3", new HasEverything() {
        @Override
        long multicastOffset(long offsetBytes) {
            return 0;
        }
    }, "bytes before the block: byte 0 of rank "),

    ONE_RANK_LACKS_MULTICAST(2, "SM-MC-4", new HasEverything() {
        @Override
        public Support multicastSupport(PeerMapping right, ProcessGroup group) {
            return group.rank() == 0 ? new Support.No("binding failed here") : new Support.Yes("bound");
        }
    }, "another rank's answer for 1 bytes should be "),

    CLOSING_CLEARS_THE_BUFFER(2, "SM-LIFE-4", new Change() {
        @Override
        public void closeAllocation(Allocation right) {
            right.local().segment().orElseThrow().fill((byte) 0);
            right.close();
        }
    }, "the buffer of a rank that has closed its tensor: byte 0 of rank "),

    KEEPS_A_DESCRIPTOR_OF_A_GROUP(1, "SM-LIFE-6", new Change() {
        private final List<Descriptor> forgotten = new ArrayList<>();

        @Override
        public void open(ProcessGroup group) {
            forgotten.add(LibC.memfdCreate("of-a-group", LibC.MFD_CLOEXEC, "a descriptor to forget"));
        }
    }, "what is left after the memory is closed should be [] and is [descriptor of /memfd:of-a-group") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    SHARES_A_FILE_BY_NAME(2, "SM-LIFE-7", new Change() {
        private final Path file = Path.of(System.getProperty("java.io.tmpdir"), "symmem-mutant-" + ProcessHandle.current().pid());

        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            if (group.rank() == 0) {
                onFile(() -> Files.writeString(file, ""));
            }
        }

        @Override
        public void closeAllocation(Allocation right) {
            onFile(() -> Files.deleteIfExists(file));
            right.close();
        }
    }, "while memory is shared: [", "symmem-mutant-") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    CLOSES_WITHOUT_WAITING_FOR_STREAMS(1, "SM-LIFE-8", new Change() {
        @Override
        public StreamQueue stream(StreamQueue right) {
            return new LazyStream(right) {
                private boolean asked;

                @Override
                void release() {
                    if (asked) {
                        runAll(fills);
                        runAll(copies);
                    }
                    asked = true;
                }
            };
        }
    }, "a stream that copied from a tensor when that was closed fails: "),

    CLOSING_ASKS_THE_DEAD(2, "SM-LIFE-10", new Change() {
        @Override
        public void closeMapping(PeerMapping right, ProcessGroup group) {
            right.close();
            group.allGather("closing a mapping", new byte[0], Duration.ofMillis(300));
        }
    }, "closing a mapping: ranks [1] did not come within 300 ms") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    LEAKS_A_LITTLE_EACH_CYCLE(1, "SM-LOAD-1", new Change() {
        @Override
        public void rendezvous(ProcessGroup group, Agreement agreement) {
            Arena.global().allocate(16 << 10).fill((byte) 1);
        }
    }, "the resident memory grew with every 100 cycles, by [") {
        @Override
        public boolean inProcesses() {
            return true;
        }
    },

    HAS_ROOM_FOR_32_RANKS(1, "SM-LOAD-2", new Change() {
        @Override
        public void open(ProcessGroup group) {
            if (group.worldSize() > 32) {
                throw new IllegalStateException("a table of 32 ranks cannot hold " + group.worldSize());
            }
        }
    }, "a table of 32 ranks cannot hold 64"),

    LATE_BARRIERS_LEAVE_STORES_BEHIND(2, "SM-LOAD-3", new StoresLater(8), "after barrier 0 with delays: byte "),

    GROUPS_AT_ONCE_LOSE_STORES(2, "SM-LOAD-4", new StoresLater(128), "a tensor of one of two groups: byte "),

    STREAMS_SHARE_A_STAGING_BUFFER(1, "SM-LOAD-5", new Change() {
        private final Arena arena = Arena.ofAuto();
        private final Memory staging = Memory.of(arena.allocate(10_000));

        @Override
        public StreamQueue stream(StreamQueue right) {
            return new LazyStream(right) {
                @Override
                public void copy(Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
                    right.copy(staging, 0, source, sourceOffset, sizeBytes);
                    right.synchronize(1_000_000_000);
                    // Long enough for the other stream to come in between.
                    LockSupport.parkNanos(2_000_000);
                    right.copy(target, targetOffset, staging, 0, sizeBytes);
                }

                @Override
                void release() {
                    runAll(fills);
                }
            };
        }
    }, "what one of two streams copied: byte "),

    VIEW_IS_A_COPY(1, "SM-VIEW-3", new Change() {
        @Override
        public Memory contiguous(PeerMapping right, int worldSize) {
            MemorySegment mapped = right.contiguous().segment().orElseThrow();
            return Memory.of(Arena.ofAuto().allocate(mapped.byteSize()).copyFrom(mapped));
        }
    }, "a store made after the view: byte "),

    STREAM_COPIES_WHOLE_WORDS(2, "SM-COLL-1", (ChangedCopies) (right, target, targetOffset, source, sourceOffset, sizeBytes) -> {
        if (sizeBytes >= Long.BYTES) {
            right.copy(target, targetOffset, source, sourceOffset, sizeBytes & -Long.BYTES);
        }
    }, "broadcast by staged: byte 0 of rank "),

    STREAM_COPIES_TO_WORDS(2, "SM-COLL-2",
            (ChangedCopies) (right, target, targetOffset, source, sourceOffset, sizeBytes) -> right.copy(target,
                    targetOffset & -Long.BYTES, source, sourceOffset, sizeBytes),
            "gave to an allgather by staged: byte 0 of rank "),

    LOSES_A_SIGNAL_ON_A_STREAM_IN_FIFTY(2, "SM-COLL-3", new Change() {
        private final AtomicInteger sent = new AtomicInteger();

        @Override
        public void signal(SignalPad right, int peer, int channel, StreamQueue stream) {
            if (sent.incrementAndGet() % 50 != 0) {
                right.signal(peer, channel, stream);
            }
        }
    }, "a stream with 100 allgathers back to back by ", "is not done after"),

    HAS_ONE_PAD_ON_STREAMS(2, "SM-COLL-4", new Change() {
        private final ThreadLocal<SignalPad> first = new ThreadLocal<>();

        private SignalPad pad(SignalPad right) {
            if (first.get() == null) {
                first.set(right);
            }
            return first.get();
        }

        @Override
        public void signal(SignalPad right, int peer, int channel, StreamQueue stream) {
            pad(right).signal(peer, channel, stream);
        }

        @Override
        public void await(SignalPad right, int source, int channel, StreamQueue stream, long timeoutNanos) {
            pad(right).await(source, channel, stream, timeoutNanos);
        }
    }, "between another's halves: byte "),

    STREAMS_GIVE_UP_ON_WHO_IS_LATE(2, "SM-COLL-5", new Change() {
        @Override
        public void await(SignalPad right, int source, int channel, StreamQueue stream, long timeoutNanos) {
            stream.synchronize(timeoutNanos);
            right.await(source, channel, 100_000_000);
        }
    }, "with a rank half a second late: byte "),

    STREAMS_WAIT_PAST_THE_DEADLINE(2, "SM-COLL-7", new Change() {
        @Override
        public void await(SignalPad right, int source, int channel, StreamQueue stream, long timeoutNanos) {
            right.await(source, channel, stream, 1_000_000_000);
        }
    }, "a stream with a collective that a rank leaves out: the message should contain \"within 200 ms on a stream\""),

    COPIES_BETWEEN_TENSORS_LATER(2, "SM-COLL-10", new Change() {
        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            if (source.address() == 0 || target.address() == 0) {
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
                return;
            }
            Thread.ofPlatform().daemon().start(() -> {
                LockSupport.parkNanos(20_000_000);
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
            });
        }
    }, "that blocked, by staged: byte ");

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

    /**
     * {@return whether its ranks must be processes: it ends one, or is about what a process holds. Others are judged with threads
     * as ranks, which costs milliseconds}
     */
    public boolean inProcesses() {
        return false;
    }

    Change change() {
        return change;
    }

    @FunctionalInterface
    private interface FileAction {
        void run() throws IOException;
    }

    private static void onFile(FileAction action) {
        try {
            action.run();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A comparison of descriptions in which every rank hears what it said itself. */
    private static final class HearsOnlyItself implements Change {
        @Override
        public ProcessGroup meeting(ProcessGroup right) {
            return new OtherMeeting(right) {
                @Override
                public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
                    // Without its numbers, for steps of different names do not meet.
                    List<byte[]> all = right.allGather(step.replaceAll("\\d+", ""), contribution, timeout);
                    return step.contains("comparing descriptions") ? Collections.nCopies(worldSize(), contribution) : all;
                }
            };
        }
    }

    /** Errors of a step that lose who is gone. */
    private static final class HidesDeaths implements Change {
        @Override
        public ProcessGroup meeting(ProcessGroup right) {
            return new OtherMeeting(right) {
                @Override
                public List<byte[]> allGather(String step, byte[] contribution, Duration timeout) {
                    try {
                        return right.allGather(step, contribution, timeout);
                    } catch (SymmetricMemoryException e) {
                        throw new IllegalStateException("something went wrong");
                    }
                }
            };
        }
    }

    /** Stores of a size that are done a while after they are said to be. */
    private static final class StoresLater implements Change {
        private final long size;

        StoresLater(long size) {
            this.size = size;
        }

        @Override
        public void copy(Backend right, Memory target, long targetOffset, Memory source, long sourceOffset, long sizeBytes) {
            if (sizeBytes != size || source.address() != 0) {
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
                return;
            }
            Thread.ofPlatform().daemon().start(() -> {
                LockSupport.parkNanos(100_000_000);
                right.copy(target, targetOffset, source, sourceOffset, sizeBytes);
            });
        }
    }

    /** Memory whose address is off by some bytes. */
    private static class Elsewhere implements Memory {
        private final Memory right;
        private final long off;

        Elsewhere(Memory right, long off) {
            this.right = right;
            this.off = off;
        }

        @Override
        public long address() {
            return right.address() + off;
        }

        @Override
        public long sizeBytes() {
            return right.sizeBytes();
        }

        @Override
        public Optional<MemorySegment> segment() {
            return right.segment();
        }
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
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
