package org.symmem.program;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.symmem.Capability;
import org.symmem.SymmetricMemory;
import org.symmem.spi.Agreement;
import org.symmem.spi.Closers;

/** Buffers that outlive runs. Every rank takes and gives back in the same order, which taking makes sure of. Used by one thread. */
final class BufferPool implements AutoCloseable {
    private final SymmetricMemory memory;
    private final List<Buffer> all = new ArrayList<>();
    private final List<Buffer.Kind> kinds = new ArrayList<>();
    private final Set<Integer> taken = new HashSet<>();

    BufferPool(SymmetricMemory memory) {
        this.memory = memory;
    }

    /**
     * Takes a buffer of each kind: free ones in order, else new ones. Collective, and a meeting of all ranks: whoever has a buffer
     * again has it after all ranks gave it back.
     *
     * @return their numbers in this pool
     * @throws org.symmem.RanksDisagreeException on all ranks, if their pools differ; nothing was taken
     */
    List<Integer> take(List<Buffer.Kind> wanted, Agreement agreement) {
        List<Integer> numbers = new ArrayList<>();
        List<Buffer.Kind> missing = new ArrayList<>();
        for (Buffer.Kind kind : wanted) {
            int number = 0;
            while (number < all.size() && (!kinds.get(number).equals(kind) || taken.contains(number) || numbers.contains(number))) {
                number++;
            }
            if (number == all.size()) {
                number += missing.size();
                missing.add(kind);
            }
            numbers.add(number);
        }
        String order = numbers.stream().map(String::valueOf).collect(Collectors.joining(" "));
        agreement.compare("comparing pools", new TreeMap<>(java.util.Map.of("buffers in the pool", Integer.toString(all.size()),
                "order in which buffers are taken", order)));
        all.addAll(allocate(missing, agreement));
        kinds.addAll(missing);
        taken.addAll(numbers);
        return numbers;
    }

    private List<Buffer> allocate(List<Buffer.Kind> missing, Agreement agreement) {
        boolean locally = memory.capability(Capability.LOCAL_ALLOCATION).supported();
        Closers begun = new Closers();
        try {
            List<Buffer> buffers = new ArrayList<>();
            if (locally) {
                agreement.check("allocating", () -> missing.forEach(kind -> buffers.add(begun.add(Buffer.allocate(memory, kind)))));
            } else {
                for (Buffer.Kind kind : missing) {
                    // Collective for symmetric memory, which then agrees by itself; the other is agreed on one by one.
                    if (kind.memory() == MemoryType.SYMMETRIC) {
                        buffers.add(begun.add(Buffer.allocate(memory, kind)));
                    } else {
                        agreement.check("allocating", () -> buffers.add(begun.add(Buffer.allocate(memory, kind))));
                    }
                }
            }
            for (Buffer buffer : buffers) {
                buffer.symmetric().ifPresent(tensor -> tensor.rendezvous(agreement.timeout()));
            }
            return buffers;
        } catch (Throwable e) {
            begun.closeBecauseOf(e);
            throw e;
        }
    }

    Buffer get(int number) {
        return all.get(number);
    }

    /** Gives buffers back. Local. */
    void give(List<Integer> numbers) {
        taken.removeAll(numbers);
    }

    /** Frees all. Local or collective as {@link org.symmem.SymmetricTensor#close} is. */
    @Override
    public void close() {
        try (Closers closers = new Closers()) {
            all.forEach(closers::add);
        }
    }
}
