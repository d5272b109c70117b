package org.symmem.rendezvous;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.symmem.KeyValueStore;
import org.symmem.RanksDisagreeException;
import org.symmem.spi.HostIdentity;

/**
 * Finds ranks that were started with different ideas of their group, at the group's first step: another world size, or one number for
 * two ranks. Their keys of the step itself would not meet, or would overwrite each other.
 *
 * <p>Each rank leaves two keys that depend on neither mistake, {@code name/roll/world} and {@code name/roll/rank}, and looks at
 * them before and after it has met the others; whoever finds a mistake leaves it at {@code name/roll/trouble} for all. The keys
 * stay, so that a second process with a rank's number is found however late it comes.
 */
final class RollCall {
    private static final Duration ANSWER = Duration.ofSeconds(10);

    private final KeyValueStore store;
    private final String group;
    private final int rank;
    private final byte[] world;
    private final byte[] self;

    RollCall(KeyValueStore store, String group, int rank, int worldSize) {
        this.store = store;
        this.group = group;
        this.rank = rank;
        this.world = bytes(Integer.toString(worldSize));
        // Two ranks that are threads of one process differ by the number alone.
        this.self = bytes("process " + ProcessHandle.current().pid() + " on host " + HostIdentity.local().name() + ", number "
                + Long.toHexString(ThreadLocalRandom.current().nextLong()));
    }

    /** Says who is here. Local; before the first step. */
    void answer() {
        Optional<byte[]> worldOfOthers = store.get(key("world"));
        worldOfOthers.ifPresent(this::compareWorld);
        Optional<byte[]> other = store.get(key(Integer.toString(rank)));
        if (other.isPresent()) {
            throw trouble(taken(other.get()));
        }
        if (worldOfOthers.isEmpty()) {
            store.set(key("world"), world);
        }
        store.set(key(Integer.toString(rank)), self);
    }

    /** Throws if anybody has found a mistake, or if another has since overwritten what this rank said. Local. */
    void look() {
        store.get(key("trouble")).ifPresent(found -> {
            throw new RanksDisagreeException(text(found));
        });
        List<byte[]> said = store.await(List.of(key("world"), key(Integer.toString(rank))), ANSWER)
                .orElseThrow(() -> trouble("the store has lost keys of group " + group + ", which nobody deletes"));
        compareWorld(said.getFirst());
        if (!Arrays.equals(said.getLast(), self)) {
            throw trouble(taken(said.getLast()));
        }
    }

    private void compareWorld(byte[] other) {
        if (!Arrays.equals(other, world)) {
            throw trouble("ranks of group " + group + " disagree on the world size: rank " + rank + " was told " + text(world)
                    + ", another " + text(other) + ". Start every rank with the same WORLD_SIZE");
        }
    }

    private String taken(byte[] other) {
        return "rank " + rank + " of group " + group + " is already taken, by " + text(other) + "; this is " + text(self)
                + ". Give every rank a number, and every group a name, of its own";
    }

    private RanksDisagreeException trouble(String what) {
        store.set(key("trouble"), bytes(what));
        return new RanksDisagreeException(what);
    }

    private String key(String of) {
        return group + "/roll/" + of;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
