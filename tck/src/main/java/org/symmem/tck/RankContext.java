package org.symmem.tck;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.symmem.KeyValueStore;
import org.symmem.ProcessGroup;
import org.symmem.Stream;
import org.symmem.SymmetricMemory;
import org.symmem.TensorView;
import org.symmem.rendezvous.ProcessGroups;

/** One rank's side of the kit while it runs a rule. Lives in the rank's process. */
public final class RankContext {
    /** How long ranks wait for each other where nobody is late. */
    public static final Duration SOON = TckSettings.groupTimeout();

    private final SymmetricMemory memory;
    private final KeyValueStore store;
    private final String rule;
    private final long seed;
    private final List<AutoCloseable> opened = new ArrayList<>();
    private int groups;

    RankContext(SymmetricMemory memory, KeyValueStore store, String rule, long seed) {
        this.memory = memory;
        this.store = store;
        this.rule = rule;
        this.seed = seed;
    }

    /** {@return this rank, from 0} */
    public int rank() {
        return memory.group().rank();
    }

    /** {@return the number of ranks} */
    public int worldSize() {
        return memory.group().worldSize();
    }

    /** {@return the rank after this one; the first after the last} */
    public int next() {
        return (rank() + 1) % worldSize();
    }

    /** {@return the rank before this one; the last before the first} */
    public int previous() {
        return (rank() + worldSize() - 1) % worldSize();
    }

    /** {@return symmetric memory of the backend under test, open as long as the rank's process} */
    public SymmetricMemory memory() {
        return memory;
    }

    /** {@return options that ask for the backend under test} */
    public SymmetricMemory.Options options() {
        return SymmetricMemory.Options.defaults().withBackend(memory.backend());
    }

    /** {@return a new group of all ranks, closed after the rule} Collective, as are all uses of it. */
    public ProcessGroup freshGroup() {
        return freshGroup(SOON);
    }

    /** {@return a new group of all ranks with a timeout of its own, closed after the rule} */
    public ProcessGroup freshGroup(Duration timeout) {
        return opened(ProcessGroups.over(store, rule + "-" + groups++, rank(), worldSize(), memory.group().localRank(), timeout));
    }

    /** {@return symmetric memory on another group, closed after the rule} Collective. */
    public SymmetricMemory open(ProcessGroup group) {
        return opened(SymmetricMemory.open(group, options()));
    }

    /** {@return the same, which is closed after the rule} */
    public <T extends AutoCloseable> T opened(T resource) {
        opened.add(resource);
        return resource;
    }

    /** Waits for all ranks through the kit's store, not through the backend under test. Collective. */
    public void meet() {
        memory.group().allGather("meeting in rule " + rule, new byte[0], SOON);
    }

    /** Waits for all ranks as {@link #meet()} does, for longer. */
    void meet(Duration patience) {
        memory.group().allGather("meeting in rule " + rule, new byte[0], patience);
    }

    /** Waits for all ranks of a group through its store, not through the backend under test. Collective. */
    public void meet(ProcessGroup group) {
        group.allGather("meeting in rule " + rule, new byte[0], SOON);
    }

    /** Waits for all ranks but the last, which has died, so that no other leaves before each has seen that. Collective among these. */
    public void meetSurvivors() {
        try (ProcessGroup survivors = memory.group().subgroup(IntStream.range(0, worldSize() - 1).toArray())) {
            meet(survivors);
        }
    }

    /** {@return the process of a rank} Collective. */
    public ProcessHandle processOf(int rank) {
        byte[] pid = Long.toString(ProcessHandle.current().pid()).getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        List<byte[]> all = memory.group().allGather("telling processes in rule " + rule, pid, SOON);
        return ProcessHandle.of(Long.parseLong(new String(all.get(rank), java.nio.charset.StandardCharsets.US_ASCII))).orElseThrow();
    }

    /** {@return a group of threads of this process over a store of theirs, closed by the caller} */
    public ProcessGroup threadGroup(KeyValueStore threads, int thread, int number) {
        return ProcessGroups.over(threads, rule + "-threads", thread, number, memory.group().localRank(), SOON);
    }

    /** {@return what a byte of a rank's buffer should hold: depends on rank, offset, round and seed} */
    public byte value(int rank, long offset, int round) {
        long x = seed + 0x9E3779B97F4A7C15L * (rank + 1) + 0xBF58476D1CE4E5B9L * offset + 0x94D049BB133111EBL * round;
        x = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
        return (byte) (x ^ x >>> 27 ^ x >>> 48);
    }

    /** {@return the bytes that a rank's buffer should hold from an offset on} */
    public byte[] values(int rank, long offset, int length, int round) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = value(rank, offset + i, round);
        }
        return bytes;
    }

    /** Writes bytes to a view of just that many. */
    public void write(TensorView view, byte[] bytes) {
        view.copyFrom(MemorySegment.ofArray(bytes));
    }

    /** {@return the bytes of a view} */
    public byte[] read(TensorView view) {
        byte[] bytes = new byte[Math.toIntExact(view.sizeBytes())];
        view.copyTo(MemorySegment.ofArray(bytes));
        return bytes;
    }

    /** Checks that a view holds what a rank's buffer should hold from an offset on. */
    public void checkHolds(TensorView view, int owner, long offset, int round, String what) {
        byte[] found = read(view);
        for (int i = 0; i < found.length; i++) {
            byte expected = value(owner, offset + i, round);
            if (found[i] != expected) {
                throw new AssertionError(
                        what + ": byte " + (offset + i) + " of rank " + owner + "'s buffer should be " + expected + " and is " + found[i]
                                + ", seen by rank " + rank() + " (round " + round + ", seed " + seed + ")");
            }
        }
    }

    /** Checks a condition. */
    public void check(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message + " (rank " + rank() + ", seed " + seed + ")");
        }
    }

    /** Checks that two values are equal. */
    public void checkEqual(Object expected, Object found, String what) {
        check(Objects.equals(expected, found), what + " should be " + expected + " and is " + found);
    }

    /** Something that should throw. */
    @FunctionalInterface
    public interface Action {
        /** @throws Exception as expected */
        void run() throws Exception;
    }

    /** {@return the error that the action throws; it must be of the kind, and its message must have all the parts} */
    public <E extends Throwable> E checkThrows(Class<E> kind, Action action, String... parts) {
        return checkThrows("", kind, action, parts);
    }

    /** {@return the same as {@link #checkThrows(Class, Action, String...)}; a complaint begins with what was done} */
    public <E extends Throwable> E checkThrows(String what, Class<E> kind, Action action, String... parts) {
        String lead = what.isEmpty() ? "" : what + ": ";
        Throwable thrown = null;
        try {
            action.run();
        } catch (Throwable e) {
            thrown = e;
        }
        if (!kind.isInstance(thrown)) {
            AssertionError wrong = new AssertionError(lead + "a " + kind.getSimpleName() + " should be thrown, not "
                    + (thrown == null ? "nothing" : thrown) + " (rank " + rank() + ")");
            if (thrown != null) {
                wrong.addSuppressed(thrown);
            }
            throw wrong;
        }
        for (String part : parts) {
            check(String.valueOf(thrown.getMessage()).contains(part),
                    lead + "the message should contain \"" + part + "\": " + thrown.getMessage());
        }
        return kind.cast(thrown);
    }

    /** Waits for a stream, which must come to its end without an error. */
    public void checkDone(Stream stream, String what) {
        try {
            stream.synchronize(SOON);
        } catch (RuntimeException e) {
            throw new AssertionError(what + " fails: " + e + " (rank " + rank() + ", seed " + seed + ")", e);
        }
    }

    /** Kills this process as {@code kill -9} does. Never returns. */
    public void killMyself() throws Exception {
        new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid())).start().waitFor();
        throw new AssertionError("kill -9 did not kill");
    }

    /** Kills this process as {@code kill -9} does, after a while. Returns at once. */
    public void killMyselfAfter(Duration howLong) throws Exception {
        new ProcessBuilder("sh", "-c",
                "sleep " + howLong.toMillis() / 1000.0 + "; kill -9 " + ProcessHandle.current().pid()).start();
    }

    /** Stops this process as {@code kill -STOP} does, and has it continued after a while. Returns after that. */
    public void stopMyself(Duration howLong) throws Exception {
        long pid = ProcessHandle.current().pid();
        Process continuer = new ProcessBuilder("sh", "-c",
                "kill -STOP " + pid + "; sleep " + howLong.toMillis() / 1000.0 + "; kill -CONT " + pid).start();
        continuer.waitFor();
    }

    void closeAll() throws Exception {
        Exception first = null;
        for (AutoCloseable resource : opened.reversed()) {
            try {
                resource.close();
            } catch (Exception e) {
                first = first == null ? e : first;
            }
        }
        opened.clear();
        if (first != null) {
            throw first;
        }
    }
}
