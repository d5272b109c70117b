package org.symmem;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where ranks meet: a small map that all of them can reach. The project's own speaks PyTorch's TCPStore protocol
 * ({@code org.symmem.rendezvous.TcpStore}); a cluster engine's own key-value service can stand in by implementing the three
 * abstract methods.
 *
 * <p>Keys are non-empty and at most a few hundred bytes; values are small (handles, sizes, error texts). All methods may be
 * called by several threads at once. Everything is local: no method waits for another rank but {@link #await}.
 */
public interface KeyValueStore {
    /**
     * Stores a value; visible to every rank when the call returns.
     *
     * @param key   the key
     * @param value the bytes; not kept by reference
     * @throws SymmetricMemoryException if the store cannot be reached
     */
    void set(String key, byte[] value);

    /**
     * Reads a value without waiting.
     *
     * @param key the key
     * @return the bytes, or empty if no rank has stored the key
     * @throws SymmetricMemoryException if the store cannot be reached
     */
    Optional<byte[]> get(String key);

    /**
     * Removes a key.
     *
     * @param key the key
     * @return whether it was there
     * @throws SymmetricMemoryException if the store cannot be reached
     */
    boolean delete(String key);

    /**
     * Waits until every key is there and reads them all.
     *
     * @param keys    the keys
     * @param timeout how long to wait at most, over all keys
     * @return the values in the order of the keys, or empty if the timeout passed first
     * @throws SymmetricMemoryException if the store cannot be reached
     * @implSpec Asks with {@link #get} again and again, with pauses that grow to 5 milliseconds. A store that can wait at its
     *           server should override it.
     */
    default Optional<List<byte[]>> await(List<String> keys, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        List<byte[]> values = new ArrayList<>(keys.size());
        long pauseNanos = 50_000;
        for (String key : keys) {
            Optional<byte[]> value = get(key);
            while (value.isEmpty()) {
                if (System.nanoTime() - deadline >= 0) {
                    return Optional.empty();
                }
                java.util.concurrent.locks.LockSupport.parkNanos(pauseNanos);
                pauseNanos = Math.min(pauseNanos * 2, 5_000_000);
                value = get(key);
            }
            values.add(value.get());
        }
        return Optional.of(values);
    }

    /**
     * Stores a value, waits until every key is there, reads them all, and removes a key that is not needed any more: what an
     * all-gather asks of a store, in one call so that a store over a network can do it in few messages.
     *
     * @param key     the key to store
     * @param value   its bytes
     * @param keys    the keys to wait for
     * @param outworn the key to remove when all have come; empty for none
     * @param timeout how long to wait at most
     * @return the values in the order of the keys, or empty if the timeout passed first
     * @throws SymmetricMemoryException if the store cannot be reached
     */
    default Optional<List<byte[]>> exchange(String key, byte[] value, List<String> keys, Optional<String> outworn, Duration timeout) {
        set(key, value);
        Optional<List<byte[]>> values = await(keys, timeout);
        if (values.isPresent()) {
            outworn.ifPresent(this::delete);
        }
        return values;
    }
}
