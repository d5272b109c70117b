package org.symmem.interop;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.symmem.SymmetricMemoryException;
import org.symmem.rendezvous.StoreLimits;
import org.symmem.rendezvous.TcpStore;
import org.symmem.rendezvous.TcpStoreServer;

/**
 * A Java rank among Python ranks in one store. {@code store_rank.py} does the same checks in the same order with PyTorch's classes;
 * what the ranks write to each other is a function of the writer's rank. Prints a line for each check: {@code check NAME RANK java
 * ok}, or {@code FAILED} and why. Needs {@code RANK}, {@code WORLD_SIZE}, {@code MASTER_ADDR} and {@code MASTER_PORT}; with the
 * argument {@code --serve} it also serves the store.
 */
public final class StoreRank {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final int APPENDS = 25;
    private static final int LARGE = 1 << 20;

    private final TcpStore store;
    private final int rank;
    private final int world;
    private boolean failed;

    /** One thing that the ranks do together. */
    @FunctionalInterface
    private interface Check {
        void run() throws Exception;
    }

    private StoreRank(TcpStore store, int rank, int world) {
        this.store = store;
        this.rank = rank;
        this.world = world;
    }

    /** @param arguments {@code --serve}, or none; exits with 1 if a check failed */
    public static void main(String[] arguments) {
        int rank = Integer.parseInt(System.getenv("RANK"));
        int world = Integer.parseInt(System.getenv("WORLD_SIZE"));
        String host = System.getenv("MASTER_ADDR");
        int port = Integer.parseInt(System.getenv("MASTER_PORT"));
        boolean serve = List.of(arguments).contains("--serve");
        boolean ok;
        try (TcpStoreServer served = serve ? TcpStoreServer.start(new InetSocketAddress(host, port), StoreLimits.defaults()) : null;
                TcpStore store = TcpStore.connect(host, port, SOON)) {
            store.announceWorker();
            StoreRank checks = new StoreRank(store.prefixed("interop"), rank, world);
            checks.all();
            checks.leave(served != null);
            ok = !checks.failed;
        }
        System.exit(ok ? 0 : 1);
    }

    private void all() {
        check("set-get", this::setAndGet);
        check("add", this::add);
        check("wait", this::waitForEachOther);
        check("compare-set", this::compareSet);
        check("append", this::append);
        check("multi", this::multiSetAndGet);
        check("delete", this::delete);
        check("key-count", this::countKeys);
        check("timeout", this::timeOut);
        check("prefix", this::prefix);
        check("large", this::large);
    }

    private void check(String name, Check check) {
        String outcome = "ok";
        try {
            barrier(name);
            check.run();
        } catch (Exception | AssertionError e) {
            failed = true;
            outcome = "FAILED " + String.valueOf(e).replace('\n', ' ');
        }
        System.out.println("check " + name + " " + rank + " java " + outcome);
    }

    private void setAndGet() {
        store.set("set/" + rank, binary(rank));
        for (int peer = 0; peer < world; peer++) {
            same(binary(peer), store.get("set/" + peer, SOON), "the value of rank " + peer);
        }
    }

    private void add() throws InterruptedException {
        store.add("sum", rank + 1);
        store.add("sum", -2L * (rank + 1));
        barrier("added");
        long expected = -(long) world * (world + 1) / 2;
        same(expected, store.add("sum", 0), "the sum");
        same(bytes(Long.toString(expected)), store.get("sum", SOON), "the sum as text");
    }

    /** A chain, so that each wait is parked at the server until another side's set ends it. */
    private void waitForEachOther() throws InterruptedException {
        if (rank == 0) {
            // The others are parked by then; if not, nothing fails.
            Thread.sleep(200);
        } else {
            require(store.waitFor(List.of("late/" + (rank - 1)), SOON), "the wait for rank " + (rank - 1) + " timed out");
        }
        store.set("late/" + rank, bytes("now"));
        require(store.waitFor(ofAll("late/"), SOON), "the wait for all timed out");
    }

    private void compareSet() throws InterruptedException {
        byte[] own = bytes("rank " + rank);
        byte[] winner = store.compareSet("winner", new byte[0], own);
        store.set("winner/" + rank, winner);
        for (int peer = 0; peer < world; peer++) {
            same(winner, store.get("winner/" + peer, SOON), "the winner that rank " + peer + " saw");
        }
        same(bytes("e"), Optional.of(store.compareSet("none/" + rank, bytes("e"), own)), "a missing key with an expectation");
        require(!store.check(List.of("none/" + rank)), "a refused compare-set stored its key");
        byte[] next = bytes(Integer.toString(rank + 1));
        long deadline = System.nanoTime() + SOON.toNanos();
        while (!Arrays.equals(store.compareSet("chain", rank == 0 ? new byte[0] : bytes(Integer.toString(rank)), next), next)) {
            require(System.nanoTime() < deadline, "the chain of compare-sets did not come to this rank");
            Thread.sleep(5);
        }
        barrier("chained");
        same(bytes(Integer.toString(world)), store.get("chain", SOON), "the chain's end");
    }

    private void append() {
        for (int i = 0; i < APPENDS; i++) {
            store.append("log", bytes(rank + ";"));
        }
        barrier("appended");
        String log = new String(store.get("log", SOON).orElseThrow(), StandardCharsets.UTF_8);
        List<String> entries = List.of(log.split(";"));
        same(APPENDS * world, entries.size(), "the entries of the log");
        for (int peer = 0; peer < world; peer++) {
            String of = Integer.toString(peer);
            same((long) APPENDS, entries.stream().filter(of::equals).count(), "the entries of rank " + peer);
        }
    }

    private void multiSetAndGet() {
        store.multiSet(List.of("multi/a/" + rank, "multi/b/" + rank), List.of(binary(rank), bytes("")));
        barrier("multi is set");
        List<String> keys = new ArrayList<>(ofAll("multi/a/"));
        keys.addAll(ofAll("multi/b/"));
        List<byte[]> values = store.multiGet(keys);
        for (int peer = 0; peer < world; peer++) {
            same(binary(peer), Optional.of(values.get(peer)), "the first value of rank " + peer);
            same(new byte[0], Optional.of(values.get(world + peer)), "the empty value of rank " + peer);
        }
    }

    private void delete() {
        store.set("delete/" + rank, bytes("x"));
        barrier("there to delete");
        String next = "delete/" + (rank + 1) % world;
        require(store.check(List.of(next)), "the key to delete is missing");
        require(store.delete(next), "delete did not find the key");
        require(!store.delete(next), "delete found the key twice");
        require(!store.check(List.of(next)), "the deleted key is still there");
    }

    private void countKeys() {
        long before = store.keyCount();
        store.set("counted/" + rank, bytes(Long.toString(before)));
        // Nobody makes a key between the two barriers, also not by coming to the second.
        store.add("barrier/counted again", 0);
        barrier("counted");
        long now = store.keyCount();
        require(now > before, "the store had " + before + " keys and has " + now + " after more were set");
        store.set("counted/" + rank, bytes(Long.toString(now)));
        barrier("counted again");
        for (int peer = 0; peer < world; peer++) {
            same(bytes(Long.toString(now)), store.get("counted/" + peer, SOON), "the keys that rank " + peer + " counted");
        }
    }

    private void timeOut() {
        long start = System.nanoTime();
        require(!store.waitFor(List.of("never/" + rank), Duration.ofMillis(300)), "a wait for a key that nobody sets came back");
        long millis = (System.nanoTime() - start) / 1_000_000;
        require(millis >= 290 && millis < 5000, "a wait of 300 ms took " + millis + " ms");
        same(1, store.add("after the timeout/" + rank, 1), "the first request after a timeout");
    }

    private void prefix() {
        TcpStore inner = store.prefixed("group").prefixed("1");
        inner.set("k/" + rank, binary(rank));
        for (int peer = 0; peer < world; peer++) {
            same(binary(peer), inner.get("k/" + peer, SOON), "the value of rank " + peer + " by prefix");
            same(binary(peer), store.get("group/1/k/" + peer, SOON), "the value of rank " + peer + " by its whole name");
        }
    }

    private void large() {
        byte[] value = new byte[LARGE];
        Arrays.fill(value, (byte) (rank + 1));
        store.set("large/" + rank, value);
        for (int peer = 0; peer < world; peer++) {
            Arrays.fill(value, (byte) (peer + 1));
            same(value, store.get("large/" + peer, SOON), "the large value of rank " + peer);
        }
    }

    /** Whoever serves goes last. */
    private void leave(boolean serves) {
        try {
            store.set("left/" + rank, new byte[0]);
        } catch (SymmetricMemoryException e) {
            // The last to leave is the reason for the store to end, perhaps before it has answered.
            return;
        }
        if (serves) {
            store.waitFor(ofAll("left/"), SOON);
        }
    }

    private void barrier(String name) {
        if (store.add("barrier/" + name, 1) == world) {
            store.set("barrier/" + name + "/go", new byte[0]);
        }
        require(store.waitFor(List.of("barrier/" + name + "/go"), SOON), "ranks are missing before " + name);
    }

    private List<String> ofAll(String prefix) {
        return IntStream.range(0, world).mapToObj(peer -> prefix + peer).toList();
    }

    /** Bytes that are no text: zero, line ends, and what is invalid in UTF-8. */
    private static byte[] binary(int of) {
        return new byte[]{0, 10, 13, (byte) 0xff, (byte) 0xc0, (byte) of, (byte) (of * 7 + 1)};
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void same(byte[] expected, Optional<byte[]> found, String what) {
        if (found.isEmpty() || !Arrays.equals(expected, found.get())) {
            throw new AssertionError(what + " is " + found.map(StoreRank::printed).orElse("missing") + ", not " + printed(expected));
        }
    }

    private static void same(byte[] expected, byte[] found, String what) {
        same(expected, Optional.of(found), what);
    }

    private static void same(long expected, long found, String what) {
        require(expected == found, what + " is " + found + ", not " + expected);
    }

    private static String printed(byte[] bytes) {
        return bytes.length > 40 ? bytes.length + " bytes" : Arrays.toString(bytes);
    }

    private static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }
}
