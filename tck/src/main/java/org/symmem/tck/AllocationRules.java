package org.symmem.tck;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.symmem.Capability;
import org.symmem.DataType;
import org.symmem.ErrorCode;
import org.symmem.GlobalTensor;
import org.symmem.MemoryRegion;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricMemoryException;
import org.symmem.SymmetricTensor;
import org.symmem.UnsupportedCapabilityException;

/** Group B: allocation. */
interface AllocationRules extends Rules {
    /** If this fails, check the rounding to the granularity and that views are exactly as long as what was asked for. */
    @Rule("SM-ALLOC-1")
    default void SM_ALLOC_1_oneByteCanBeAllocatedAndShared() {
        ranks().run(rank -> checkSize(rank, 1));
    }

    /** If this fails, check the rounding to the granularity around its multiples. */
    @Rule("SM-ALLOC-2")
    default void SM_ALLOC_2_sizesAroundTheGranularityCanBeAllocatedAndShared() {
        ranks().run(rank -> {
            long granularity = rank.memory().granularityBytes();
            rank.check(granularity > 0, "the granularity should be positive, not " + granularity);
            for (long size : new long[]{granularity - 1, granularity, granularity + 1}) {
                if (size > 0) {
                    checkSize(rank, size);
                }
            }
        });
    }

    private static void checkSize(RankContext rank, long size) {
        try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(size), DataType.UINT8)) {
            rank.checkEqual(size, tensor.local().sizeBytes(), "the size of the local view");
            long last = size - 1;
            rank.write(tensor.local().slice(last, 1), rank.values(rank.rank(), last, 1, 1));
            tensor.rendezvous();
            rank.meet();
            for (int peer = 0; peer < rank.worldSize(); peer++) {
                rank.checkHolds(tensor.remote(peer).slice(last, 1), peer, last, 1, "the last byte of " + size);
            }
            rank.meet();
        }
    }

    /** If this fails, check that memory which is reused is cleared, data and pad. */
    @Rule("SM-ALLOC-3")
    default void SM_ALLOC_3_freshMemoryIsZero() {
        ranks().run(rank -> {
            int size = 100_000;
            for (int round = 0; round < 3; round++) {
                try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(size), DataType.UINT8)) {
                    for (byte b : rank.read(tensor.local())) {
                        rank.checkEqual((byte) 0, b, "a byte of fresh memory in round " + round);
                    }
                    tensor.local().fill(0xA5);
                }
            }
        });
    }

    /** If this fails, look for an {@code int} on the way of a size or an offset. */
    @Rule("SM-ALLOC-4")
    default void SM_ALLOC_4_aBufferAboveTwoGibibytesWorks() {
        ranks().run(rank -> {
            long size = (1L << 31) + 4096 + 17;
            try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(size), DataType.UINT8)) {
                long[] places = {0, (1L << 31) - 1, 1L << 31, size - 3};
                for (long place : places) {
                    rank.write(tensor.local().slice(place, 1), rank.values(rank.rank(), place, 1, 4));
                }
                tensor.rendezvous();
                rank.meet();
                for (long place : places) {
                    rank.checkHolds(tensor.remote(rank.next()).slice(place, 1), rank.next(), place, 4, "a byte beyond what an int counts");
                }
                rank.meet();
            }
        });
    }

    /** If this fails, check the order of pad and data in the allocation, and its alignment. */
    @Rule(value = "SM-ALLOC-5", needs = Capability.PEER_ADDRESS)
    default void SM_ALLOC_5_buffersAreAlignedTo128Bytes() {
        ranks().run(rank -> {
            for (long size : new long[]{1, 3, 130, 70_000}) {
                try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(size), DataType.UINT8)) {
                    tensor.rendezvous();
                    for (int peer = 0; peer < rank.worldSize(); peer++) {
                        rank.checkEqual(0L, tensor.remote(peer).address() % 128, "the address of rank " + peer + "'s buffer modulo 128");
                    }
                    rank.meet();
                }
            }
        });
    }

    /** If this fails, check the width and the repetition of elements in {@code fill}. */
    @Rule("SM-ALLOC-6")
    default void SM_ALLOC_6_everyDataTypeCanBeFilledAndReadBack() {
        ranks().run(rank -> {
            for (DataType type : DataType.values()) {
                int elements = 1037;
                double value = type == DataType.BOOL ? 1 : 3;
                try (SymmetricTensor tensor = rank.memory().allocate(Shape.of(elements), type)) {
                    tensor.local().fill(value);
                    MemorySegment copy = MemorySegment.ofArray(rank.read(tensor.local()));
                    for (int i = 0; i < elements; i++) {
                        long bits = 0;
                        for (int b = type.sizeBytes() - 1; b >= 0; b--) {
                            bits = bits << 8 | copy.get(java.lang.foreign.ValueLayout.JAVA_BYTE, (long) i * type.sizeBytes() + b) & 0xff;
                        }
                        rank.checkEqual(value, type.fromBits(bits), type + " element " + i);
                    }
                }
            }
        });
    }

    /** If this fails, check that a failed allocation frees what it began, and that its error says what was asked for. */
    @Rule("SM-ALLOC-7")
    default void SM_ALLOC_7_anImpossibleSizeIsAnErrorThatChangesNothing() {
        ranks().run(rank -> {
            rank.checkThrows(SymmetricMemoryException.class, () -> rank.memory().allocate(Shape.of(1L << 60), DataType.UINT8),
                    Long.toString(1L << 60));
            rank.check(rank.memory().liveAllocations().isEmpty(), "a failed allocation should not be alive");
            checkSize(rank, 1000);
        });
    }

    /** If this fails, check what {@code validate} looks at: kind of memory, size, alignment, how it can be shared. */
    @Rule(value = "SM-ALLOC-8", needs = Capability.WRAP)
    default void SM_ALLOC_8_aBufferThatCannotBeSharedIsRefusedWithEveryReason() {
        ranks().run(rank -> {
            try (Arena arena = Arena.ofConfined()) {
                MemoryRegion region = MemoryRegion.of(arena.allocate(64, 64));
                Shape shape = Shape.of(1000);
                List<String> reasons = rank.memory().validate(region, shape, DataType.UINT8);
                rank.check(reasons.size() >= 2, "plain memory that is too small should be refused for both reasons, not for " + reasons);
                rank.check(reasons.stream().anyMatch(reason -> reason.contains("64") && reason.contains("1000")),
                        "a reason should name both sizes: " + reasons);
                var error = rank.checkThrows(SymmetricMemoryException.class, () -> rank.memory().wrap(region, shape, DataType.UINT8),
                        reasons.toArray(String[]::new));
                rank.checkEqual(ErrorCode.BUFFER_UNSUITABLE, error.code(), "the code");
            }
            MemoryRegion onTheHeap = MemoryRegion.of(MemorySegment.ofArray(new byte[4096]));
            rank.check(!rank.memory().validate(onTheHeap, Shape.of(8), DataType.UINT8).isEmpty(),
                    "memory on the Java heap should be refused");
            rank.checkThrows(SymmetricMemoryException.class, () -> rank.memory().wrap(onTheHeap, Shape.of(8), DataType.UINT8));
            rank.check(rank.memory().liveAllocations().isEmpty(), "nothing should be alive after refusals");
        });
    }

    /** If this fails, check that the wrapped range itself is shared, from its offset on, and not a copy of it. */
    @Rule(value = "SM-ALLOC-9", needs = {Capability.WRAP, Capability.PEER_ADDRESS})
    default void SM_ALLOC_9_aBufferAllocatedBeforehandIsSharedAsItIs() {
        ranks().run(rank -> {
            int size = Math.toIntExact(rank.memory().granularityBytes());
            try (SymmetricTensor owner = rank.memory().allocate(Shape.of(size), DataType.UINT8)) {
                rank.write(owner.local(), rank.values(rank.rank(), 0, size, 9));
                MemoryRegion region = rank.memory().capability(Capability.HOST_ACCESS).supported()
                        ? MemoryRegion.of(owner.local().segment())
                        : MemoryRegion.of(owner.local().address(), size);
                rank.checkEqual(List.of(), rank.memory().validate(region, Shape.of(size), DataType.UINT8),
                        "reasons against a buffer that is symmetric already");
                try (SymmetricTensor wrapped = rank.memory().wrap(region, Shape.of(size), DataType.UINT8)) {
                    wrapped.rendezvous();
                    rank.meet();
                    rank.checkHolds(wrapped.remote(rank.next()), rank.next(), 0, 9, "the wrapped buffer");
                    rank.meet();
                    rank.write(wrapped.remote(rank.next()).slice(5, 1), rank.values(rank.next(), 5, 1, 10));
                    rank.meet();
                    rank.checkHolds(owner.local().slice(5, 1), rank.rank(), 5, 10, "what a peer stored into the wrapped buffer");
                    rank.meet();
                }
                rank.checkHolds(owner.local().slice(6, 1), rank.rank(), 6, 9, "the buffer after its wrapping is closed");
            }
        });
    }

    /** If this fails, check that {@code WRAP} is refused before anything is done. */
    @Rule(value = "SM-ALLOC-10", absent = Capability.WRAP)
    default void SM_ALLOC_10_withoutWrapBuffersAreRefusedCleanly() {
        ranks().run(rank -> {
            try (Arena arena = Arena.ofConfined()) {
                MemoryRegion region = MemoryRegion.of(arena.allocate(64));
                var error = rank.checkThrows(UnsupportedCapabilityException.class,
                        () -> rank.memory().wrap(region, Shape.of(64), DataType.UINT8));
                rank.checkEqual(Capability.WRAP, error.capability(), "the capability");
                rank.check(rank.memory().liveAllocations().isEmpty(), "nothing should be alive");
                rank.check(!rank.memory().validate(region, Shape.of(64), DataType.UINT8).isEmpty(), "validate should say why");
            }
        });
    }

    /** If this fails, the shape in {@code org.symmem} is broken, not the backend. */
    @Rule("SM-ALLOC-11")
    default void SM_ALLOC_11_emptyAndNegativeExtentsAreRefused() {
        ranks().run(rank -> {
            rank.checkThrows(IllegalArgumentException.class, () -> rank.memory().allocate(Shape.of(0), DataType.UINT8), "0");
            rank.checkThrows(IllegalArgumentException.class, () -> rank.memory().allocate(Shape.of(3, -1), DataType.UINT8), "-1");
            rank.checkThrows(IllegalArgumentException.class, () -> rank.memory().allocate(Shape.of(1L << 61), DataType.FLOAT64));
        });
    }

    /** If this fails, check that allocations of one rank share nothing but what they should. */
    @Rule("SM-ALLOC-12")
    default void SM_ALLOC_12_manyTensorsLiveAtOnceAndStayApart() {
        ranks().run(rank -> {
            int number = 256;
            SymmetricMemory memory = rank.memory();
            SymmetricTensor[] tensors = new SymmetricTensor[number];
            for (int i = 0; i < number; i++) {
                tensors[i] = rank.opened(memory.allocate(Shape.of(64), DataType.UINT8));
                rank.write(tensors[i].local(), rank.values(rank.rank(), 0, 64, i));
            }
            for (SymmetricTensor tensor : tensors) {
                tensor.rendezvous();
            }
            rank.meet();
            for (int i = 0; i < number; i++) {
                rank.checkHolds(tensors[i].remote(rank.next()), rank.next(), 0, i, "tensor " + i + " of " + number);
            }
            rank.checkEqual(number, memory.liveAllocations().size(), "the number of live allocations");
            rank.meet();
        });
    }

    /** If this fails, check that {@code allocateGlobal} gives memory of its own, zeroed, which the transfers of backend and streams take. */
    @Rule(value = "SM-ALLOC-13", needs = Capability.GLOBAL_MEMORY)
    default void SM_ALLOC_13_ordinaryMemoryIsZeroHoldsItsDataAndIsCopiedBothWays() {
        ranks().run(rank -> {
            SymmetricMemory memory = rank.memory();
            int length = 5000;
            SymmetricTensor tensor = rank.opened(memory.allocate(Shape.of(length), DataType.UINT8));
            for (int round = 1; round <= 2; round++) {
                try (GlobalTensor one = memory.allocateGlobal(Shape.of(length), DataType.UINT8);
                        GlobalTensor other = memory.allocateGlobal(Shape.of(length), DataType.UINT8);
                        Stream stream = memory.newStream()) {
                    rank.checkEqual(0.0, one.view().get(length - 1), "a byte of fresh ordinary memory in round " + round);
                    rank.write(one.view(), rank.values(rank.rank(), 0, length, round));
                    rank.write(other.view(), rank.values(rank.rank(), 0, length, round + 10));
                    rank.checkHolds(one.view(), rank.rank(), 0, round, "ordinary memory");
                    tensor.local().copyFrom(one.view(), stream);
                    stream.synchronize(RankContext.SOON);
                    rank.checkHolds(tensor.local(), rank.rank(), 0, round, "what was copied from ordinary memory");
                    tensor.local().copyFrom(other.view());
                    one.view().copyFrom(tensor.local());
                    rank.checkHolds(one.view(), rank.rank(), 0, round + 10, "what was copied to ordinary memory");
                }
            }
            rank.checkEqual(1, memory.liveAllocations().size(), "the number of live allocations");
        });
    }

    /** If this fails, check that {@code GLOBAL_MEMORY} is refused before anything is done. */
    @Rule(value = "SM-ALLOC-14", absent = Capability.GLOBAL_MEMORY)
    default void SM_ALLOC_14_withoutOrdinaryMemoryItIsRefusedCleanly() {
        ranks().run(rank -> {
            var error = rank.checkThrows(UnsupportedCapabilityException.class,
                    () -> rank.memory().allocateGlobal(Shape.of(64), DataType.UINT8));
            rank.checkEqual(Capability.GLOBAL_MEMORY, error.capability(), "the capability");
            rank.check(rank.memory().liveAllocations().isEmpty(), "nothing should be alive");
        });
    }
}
