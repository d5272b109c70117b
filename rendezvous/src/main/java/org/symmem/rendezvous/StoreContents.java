package org.symmem.rendezvous;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The keys and values of a store, and who waits for which. Used by the store's thread alone. */
final class StoreContents {
    private final StoreLimits limits;
    private final Map<String, byte[]> values = new HashMap<>();
    private final Map<String, List<StoreConnection>> waiting = new HashMap<>();
    private long totalBytes;
    private long bytesUnderWay;

    StoreContents(StoreLimits limits) {
        this.limits = limits;
    }

    byte @Nullable [] get(String key) {
        return values.get(key);
    }

    boolean containsAll(List<String> keys) {
        return values.keySet().containsAll(keys);
    }

    int size() {
        return values.size();
    }

    /** Stores a value and wakes those whose last missing key it is. */
    void set(String key, byte[] value) throws StoreRequest.Violation {
        checkLength(value.length);
        byte[] before = values.get(key);
        long added = before == null ? (long) key.length() + value.length : (long) value.length - before.length;
        if (totalBytes + added > limits.totalBytes() || before == null && values.size() >= limits.keys()) {
            throw new StoreRequest.Violation("the store is full: " + values.size() + " keys, " + totalBytes + " bytes");
        }
        totalBytes += added;
        values.put(key, value);
        if (before == null) {
            List<StoreConnection> waiters = waiting.remove(key);
            if (waiters != null) {
                waiters.forEach(waiter -> waiter.arrived(key));
            }
        }
    }

    private void checkLength(long bytes) throws StoreRequest.Violation {
        if (bytes > limits.valueBytes()) {
            throw new StoreRequest.Violation(bytes + " bytes of a value; at most " + limits.valueBytes() + " are allowed");
        }
    }

    boolean delete(String key) {
        byte[] before = values.remove(key);
        if (before == null) {
            return false;
        }
        totalBytes -= (long) key.length() + before.length;
        return true;
    }

    long add(String key, long delta) throws StoreRequest.Violation {
        byte[] before = values.get(key);
        long sum;
        try {
            sum = (before == null ? 0 : Long.parseLong(new String(before, StandardCharsets.US_ASCII))) + delta;
        } catch (NumberFormatException e) {
            throw new StoreRequest.Violation("the value of key " + StoreRequest.printable(key) + " is no number that could be added to");
        }
        set(key, Long.toString(sum).getBytes(StandardCharsets.US_ASCII));
        return sum;
    }

    void append(String key, byte[] more) throws StoreRequest.Violation {
        byte[] before = values.getOrDefault(key, new byte[0]);
        checkLength((long) before.length + more.length);
        byte[] joined = Arrays.copyOf(before, before.length + more.length);
        System.arraycopy(more, 0, joined, before.length, more.length);
        set(key, joined);
    }

    /** {@return the value now stored; a missing key is set if nothing is expected, else the expectation comes back} */
    byte[] compareSet(String key, byte[] expected, byte[] desired) throws StoreRequest.Violation {
        byte[] before = values.get(key);
        if (before == null ? expected.length == 0 : Arrays.equals(before, expected)) {
            set(key, desired);
            return desired;
        }
        return before == null ? expected : before;
    }

    /**
     * Counts what clients make the store hold that is not stored: requests that have come in part, and keys that are awaited.
     *
     * @param more bytes; negative for less
     */
    void underWay(long more) throws StoreRequest.Violation {
        if (more > 0 && bytesUnderWay + more > limits.totalBytes()) {
            throw new StoreRequest.Violation("all clients together have " + bytesUnderWay + " bytes of requests under way");
        }
        bytesUnderWay += more;
    }

    /** Counts no more what a client had under way. */
    void noMoreUnderWay(long bytes) {
        bytesUnderWay -= bytes;
    }

    /** {@return whether no client makes the store hold anything that is not stored} */
    boolean nothingUnderWay() {
        return bytesUnderWay == 0 && waiting.isEmpty();
    }

    void awaitedBy(StoreConnection waiter, String key) {
        waiting.computeIfAbsent(key, k -> new ArrayList<>(1)).add(waiter);
    }

    void forget(StoreConnection waiter, Iterable<String> keys) {
        for (String key : keys) {
            waiting.computeIfPresent(key, (k, waiters) -> {
                waiters.remove(waiter);
                return waiters.isEmpty() ? null : waiters;
            });
        }
    }
}
