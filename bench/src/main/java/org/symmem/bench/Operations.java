package org.symmem.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.symmem.Capability;
import org.symmem.bench.Operation.Moves;

/** All operations by name, in the order in which they are measured. */
public final class Operations {
    private static final SequencedMap<String, Operation> ALL = new LinkedHashMap<>();

    static {
        add(new Operation("allocate", "a tensor is allocated, on every rank at once", true, Moves.NOTHING, 1, List.of(),
                AllocateWork::allocating));
        add(new Operation("rendezvous", "an allocated tensor's handles are exchanged and mapped", true, Moves.NOTHING, 1, List.of(),
                AllocateWork::meeting));
        add(new Operation("local", "rank 0 copies inside its own memory: the limit of the copies below", true, Moves.ONE_BUFFER, 1,
                List.of(),
                CopyWork::local));
        add(new Operation("put", "rank 0 copies from its own memory to rank 1's", true, Moves.ONE_BUFFER, 2, List.of(), CopyWork::put));
        add(new Operation("store", "rank 0 stores 8 bytes to rank 1's memory by a plain store", false, Moves.NOTHING, 2,
                List.of(Capability.HOST_ACCESS), CopyWork::store));
        add(new Operation("get", "rank 0 copies from rank 1's memory to its own", true, Moves.ONE_BUFFER, 2, List.of(), CopyWork::get));
        add(new Operation("contiguous", "rank 0 copies all ranks' buffers through the contiguous view, size bytes of each", true,
                Moves.ALL_BUFFERS, 1,
                List.of(Capability.CONTIGUOUS_VIEW), CopyWork::contiguous));
        add(new Operation("broadcast", "rank 0's buffer comes to every rank, back to back", true, Moves.ONE_BUFFER, 2, List.of(),
                CollectiveWork::broadcast));
        add(new Operation("allgather", "every rank's buffer comes to every rank, back to back", true, Moves.ALL_BUFFERS, 2, List.of(),
                CollectiveWork::allGather));
        add(new Operation("signal", "a signal from rank 0 to rank 1 and one back", false, Moves.NOTHING, 2, List.of(),
                SignalWork::roundTrip));
        add(new Operation("barrier", "all ranks meet", false, Moves.NOTHING, 1, List.of(), SignalWork::barrier));
    }

    private Operations() {}

    private static void add(Operation operation) {
        ALL.put(operation.name(), operation);
    }

    /** {@return every operation's name} */
    public static List<String> names() {
        return List.copyOf(ALL.keySet());
    }

    /**
     * @param name one of {@link #names()}
     * @return the operation
     * @throws IllegalArgumentException if there is none; says which there are
     */
    public static Operation named(String name) {
        Operation operation = ALL.get(name);
        if (operation == null) {
            throw new IllegalArgumentException("operation \"" + name + "\" is unknown; known are " + String.join(", ", ALL.keySet()));
        }
        return operation;
    }
}
