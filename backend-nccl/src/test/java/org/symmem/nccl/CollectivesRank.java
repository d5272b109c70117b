package org.symmem.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.symmem.DataType;
import org.symmem.NativeCollectives;
import org.symmem.ProcessGroup;
import org.symmem.Shape;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.SymmetricTensor;

/** A rank that broadcasts and gathers odd numbers of bytes. */
final class CollectivesRank {
    /** More than what the emulation moves at once, and no multiple of anything. */
    private static final int[] SIZES = {1, 4097, 2_500_003};
    private static final int GUARD = 61;
    private static final byte UNTOUCHED = 113;
    private static final Duration SOON = Duration.ofSeconds(20);

    private CollectivesRank() {}

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.fromEnvironment(); SymmetricMemory memory = SymmetricMemory.open(group)) {
            NativeCollectives collectives = memory.nativeCollectives().orElseThrow();
            if (arguments[0].equals("wrong")) {
                wrong(memory, collectives);
            } else {
                for (int size : SIZES) {
                    broadcast(memory, collectives, size);
                    gather(memory, collectives, size);
                }
                System.out.println("all bytes are right");
            }
        } catch (RuntimeException e) {
            System.out.println("refused: " + e.getMessage());
        }
    }

    private static byte value(int rank, long at, int size) {
        return (byte) (rank * 31 + at * 7 + at / 251 + size);
    }

    private static SymmetricTensor guarded(SymmetricMemory memory, long size) {
        SymmetricTensor tensor = memory.allocate(Shape.of(size + 2 * GUARD), DataType.UINT8);
        tensor.local().fill(UNTOUCHED);
        return tensor;
    }

    private static void write(SymmetricTensor tensor, int rank, int size) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(size);
            for (int i = 0; i < size; i++) {
                values.set(ValueLayout.JAVA_BYTE, i, value(rank, i, size));
            }
            tensor.local().slice(GUARD, size).copyFrom(values);
        }
    }

    /** @param first the rank whose values come first */
    private static void check(SymmetricTensor tensor, int first, int ranks, int size) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(tensor.sizeBytes());
            tensor.local().copyTo(all);
            for (long i = 0; i < all.byteSize(); i++) {
                long at = i - GUARD;
                byte expected = at < 0 || at >= (long) ranks * size ? UNTOUCHED : value(first + (int) (at / size), at % size, size);
                if (all.get(ValueLayout.JAVA_BYTE, i) != expected) {
                    throw new IllegalStateException("byte " + at + " of " + ranks + " times " + size + " is "
                            + all.get(ValueLayout.JAVA_BYTE, i) + " and should be " + expected);
                }
            }
        }
    }

    private static void broadcast(SymmetricMemory memory, NativeCollectives collectives, int size) {
        for (int root = 0; root < memory.group().worldSize(); root++) {
            try (SymmetricTensor tensor = guarded(memory, size); Stream stream = memory.newStream()) {
                write(tensor, memory.group().rank(), size);
                collectives.broadcast(tensor.local().slice(GUARD, size), root, stream);
                stream.synchronize(SOON);
                check(tensor, root, 1, size);
            }
        }
    }

    private static void gather(SymmetricMemory memory, NativeCollectives collectives, int size) {
        int ranks = memory.group().worldSize();
        try (SymmetricTensor source = guarded(memory, size);
                SymmetricTensor target = guarded(memory, (long) ranks * size);
                Stream stream = memory.newStream()) {
            write(source, memory.group().rank(), size);
            collectives.allGather(source.local().slice(GUARD, size), target.local().slice(GUARD, (long) ranks * size), stream);
            stream.synchronize(SOON);
            check(target, 0, ranks, size);
            check(source, memory.group().rank(), 1, size);
        }
    }

    private static void said(Runnable action) {
        try {
            action.run();
            System.out.println("no error");
        } catch (RuntimeException e) {
            System.out.println(e.getMessage());
        }
    }

    private static void wrong(SymmetricMemory memory, NativeCollectives collectives) {
        try (SymmetricTensor tensor = guarded(memory, 1000); Stream stream = memory.newStream()) {
            tensor.rendezvous();
            said(() -> collectives.broadcast(tensor.local(), 2, stream));
            said(() -> collectives.broadcast(tensor.local(), -1, stream));
            said(() -> collectives.broadcast(tensor.contiguousView().select(0), 0, stream));
            said(() -> collectives.broadcast(tensor.contiguousView(), 0, stream));
            said(() -> collectives.allGather(tensor.local().slice(0, 3), tensor.local().slice(3, 7), stream));
            memory.group().allGather("the end of the test", new byte[0], SOON);
        }
    }
}
