package org.symmem.rendezvous;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.symmem.ErrorCode;
import org.symmem.KeyValueStore;
import org.symmem.SymmetricMemoryException;

/**
 * A store for ranks that are threads of one process. Any thread may use it; a wait sleeps until a rank sets a key, and ends with a
 * {@link SymmetricMemoryException} when its thread is interrupted. Holds no resources.
 */
public final class InMemoryStore implements KeyValueStore {
    private final Map<String, byte[]> values = new HashMap<>();

    @Override
    public synchronized void set(String key, byte[] value) {
        values.put(key, value.clone());
        notifyAll();
    }

    @Override
    public synchronized Optional<byte[]> get(String key) {
        return Optional.ofNullable(values.get(key)).map(byte[]::clone);
    }

    @Override
    public synchronized boolean delete(String key) {
        return values.remove(key) != null;
    }

    @Override
    public synchronized Optional<List<byte[]>> await(List<String> keys, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!values.keySet().containsAll(keys)) {
            long leftNanos = deadline - System.nanoTime();
            if (leftNanos <= 0) {
                return Optional.empty();
            }
            try {
                wait(leftNanos / 1_000_000 + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE, "interrupted while waiting for keys " + keys, e);
            }
        }
        List<byte[]> found = new ArrayList<>(keys.size());
        keys.forEach(key -> found.add(values.get(key).clone()));
        return Optional.of(found);
    }

    /** {@return the number of keys} */
    synchronized int size() {
        return values.size();
    }

    @Override
    public String toString() {
        return "InMemoryStore of process " + ProcessHandle.current().pid();
    }
}
