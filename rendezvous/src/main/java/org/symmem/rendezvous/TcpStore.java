package org.symmem.rendezvous;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.symmem.ErrorCode;
import org.symmem.KeyValueStore;
import org.symmem.SymmetricMemoryException;

/**
 * A client of a store in PyTorch's TCPStore protocol: {@link TcpStoreServer}'s or PyTorch's own.
 *
 * <p>Any thread may use it: a request takes an idle connection or opens one, so a thread that waits blocks no other. Methods are
 * local and block until the store has answered, 30 seconds at most, waits apart. Keys are UTF-8. Owned by whoever connected it.
 */
public final class TcpStore implements KeyValueStore, AutoCloseable {
    /** Keys of one request, so that a request stays small however many ranks there are. */
    private static final int KEYS_A_REQUEST = 1024;

    private final String host;
    private final int port;
    private final String prefix;
    private final ConcurrentLinkedDeque<StoreClientConnection> idle;
    private volatile boolean closed;

    private TcpStore(String host, int port, String prefix, ConcurrentLinkedDeque<StoreClientConnection> idle) {
        this.host = host;
        this.port = port;
        this.prefix = prefix;
        this.idle = idle;
    }

    /**
     * Connects, trying again while nobody listens.
     *
     * @param host    a name or an address
     * @param port    from 1 to 65535
     * @param timeout how long in all
     * @return the client; the caller closes it
     * @throws SymmetricMemoryException if the host is unknown, nobody listens in time, or what answers is not a store
     */
    public static TcpStore connect(String host, int port, Duration timeout) {
        TcpStore store = new TcpStore(host, port, StoreProtocol.USER_KEY_PREFIX, new ConcurrentLinkedDeque<>());
        store.idle.push(StoreClientConnection.connect(host, port, timeout));
        return store;
    }

    /** Says that one more worker is here, as PyTorch's client does when it knows the world size; a server of PyTorch's may wait for it. */
    void announceWorker() {
        request(connection -> {
            byte[] key = StoreProtocol.INIT_KEY.getBytes(StandardCharsets.UTF_8);
            send(connection,
                    put(StoreClientConnection.buffer(1 + Long.BYTES + key.length + Long.BYTES).put(StoreProtocol.ADD), key).putLong(1));
            return receiveLong(connection);
        });
    }

    /**
     * A view of this store in which every key has a prefix, as PyTorch's PrefixStore has. Shares the connections.
     *
     * @param name the prefix, without a slash
     * @return the view; closing this store closes it
     */
    public TcpStore prefixed(String name) {
        return new TcpStore(host, port, prefix + name + "/", idle);
    }

    @Override
    public void set(String key, byte[] value) {
        request(connection -> {
            send(connection, put(put(request(StoreProtocol.SET, key, Long.BYTES + value.length), bytes(key)), value));
            return value;
        });
    }

    @Override
    public Optional<byte[]> get(String key) {
        return check(List.of(key)) ? Optional.of(multiGet(List.of(key)).getFirst()) : Optional.empty();
    }

    /**
     * Waits for a key and reads it, as PyTorch's {@code get} does.
     *
     * @param timeout how long at most
     * @return the bytes, or empty if the timeout passed first
     */
    public Optional<byte[]> get(String key, Duration timeout) {
        if (!waitFor(List.of(key), timeout)) {
            return Optional.empty();
        }
        return Optional.of(request(connection -> {
            send(connection, put(request(StoreProtocol.GET, key, 0), bytes(key)));
            return receiveValue(connection);
        }));
    }

    @Override
    public boolean delete(String key) {
        return request(connection -> {
            send(connection, put(request(StoreProtocol.DELETE_KEY, key, 0), bytes(key)));
            return receiveLong(connection) > 0;
        });
    }

    @Override
    public Optional<List<byte[]>> await(List<String> keys, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        List<byte[]> values = new ArrayList<>(keys.size());
        for (int from = 0; from < keys.size(); from += KEYS_A_REQUEST) {
            List<String> some = keys.subList(from, Math.min(keys.size(), from + KEYS_A_REQUEST));
            if (!waitFor(some, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) {
                return Optional.empty();
            }
            values.addAll(multiGet(some));
        }
        return Optional.of(values);
    }

    /** In two round trips: SET goes with WAIT, and DELETE_KEY with MULTI_GET. */
    @Override
    public Optional<List<byte[]>> exchange(String key, byte[] value, List<String> keys, Optional<String> outworn, Duration timeout) {
        if (keys.size() > KEYS_A_REQUEST) {
            return KeyValueStore.super.exchange(key, value, keys, outworn, timeout);
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        return request(connection -> {
            ByteBuffer set = put(put(request(StoreProtocol.SET, key, Long.BYTES + value.length), bytes(key)), value);
            send(connection, joined(set, withKeys(StoreProtocol.WAIT, keys)));
            if (!awaited(connection, deadline)) {
                return Optional.empty();
            }
            ByteBuffer get = withKeys(StoreProtocol.MULTI_GET, keys);
            send(connection,
                    outworn.isEmpty() ? get : joined(get, put(request(StoreProtocol.DELETE_KEY, outworn.get(), 0), bytes(outworn.get()))));
            List<byte[]> values = receiveValues(connection, keys.size());
            if (outworn.isPresent()) {
                receiveLong(connection);
            }
            return Optional.of(values);
        });
    }

    private static ByteBuffer joined(ByteBuffer first, ByteBuffer second) {
        return StoreClientConnection.buffer(first.position() + second.position()).put(first.flip()).put(second.flip());
    }

    /**
     * Adds to a number, which is kept as decimal text; a missing key counts as 0.
     *
     * @return the sum
     */
    public long add(String key, long delta) {
        return request(connection -> {
            send(connection, put(request(StoreProtocol.ADD, key, Long.BYTES), bytes(key)).putLong(delta));
            return receiveLong(connection);
        });
    }

    /**
     * Stores a value if another is stored now.
     *
     * @param expected what must be stored; empty if the key must be missing
     * @return what is stored now; {@code expected} itself if the key is missing and something was expected
     */
    public byte[] compareSet(String key, byte[] expected, byte[] desired) {
        return request(connection -> {
            ByteBuffer request = request(StoreProtocol.COMPARE_SET, key, 2 * Long.BYTES + expected.length + desired.length);
            send(connection, put(put(put(request, bytes(key)), expected), desired));
            return receiveValue(connection);
        });
    }

    /** Puts bytes behind a value; a missing key counts as empty. */
    public void append(String key, byte[] more) {
        request(connection -> {
            send(connection, put(put(request(StoreProtocol.APPEND, key, Long.BYTES + more.length), bytes(key)), more));
            return more;
        });
    }

    /** {@return whether all keys are stored now} */
    public boolean check(List<String> keys) {
        return request(connection -> {
            send(connection, withKeys(StoreProtocol.CHECK, keys));
            return connection.receive(1, answerBy(), "the answer to CHECK").get() == StoreProtocol.READY;
        });
    }

    /**
     * Waits until all keys are stored.
     *
     * @param timeout how long at most
     * @return whether they are; false if the timeout passed first
     */
    public boolean waitFor(List<String> keys, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        return request(connection -> {
            send(connection, withKeys(StoreProtocol.WAIT, keys));
            return awaited(connection, deadline);
        });
    }

    /** {@return whether a WAIT that was sent is answered before the deadline; cancels it otherwise} */
    private static boolean awaited(StoreClientConnection connection, long deadline) {
        if (connection.receive(StoreClientConnection.buffer(1), deadline)) {
            return true;
        }
        send(connection, StoreClientConnection.buffer(1).put(StoreProtocol.CANCEL_WAIT));
        // The keys may have come just before the store read that: then it has answered the wait first.
        boolean came = connection.receive(1, answerBy(), "the answer to CANCEL_WAIT").get() == StoreProtocol.READY;
        if (came) {
            connection.receive(1, answerBy(), "the answer to CANCEL_WAIT");
        }
        return came;
    }

    /**
     * Reads keys that are known to be stored: a store closes the connection of a client that reads a missing one.
     *
     * @return the values in the order of the keys
     */
    public List<byte[]> multiGet(List<String> keys) {
        return request(connection -> {
            send(connection, withKeys(StoreProtocol.MULTI_GET, keys));
            return receiveValues(connection, keys.size());
        });
    }

    private static List<byte[]> receiveValues(StoreClientConnection connection, int number) {
        List<byte[]> values = new ArrayList<>(number);
        for (int i = 0; i < number; i++) {
            values.add(receiveValue(connection));
        }
        return values;
    }

    /** Stores several values, one after the other. */
    public void multiSet(List<String> keys, List<byte[]> values) {
        request(connection -> {
            int length = 1 + Long.BYTES;
            for (int i = 0; i < keys.size(); i++) {
                length += 2 * Long.BYTES + bytes(keys.get(i)).length + values.get(i).length;
            }
            ByteBuffer request = StoreClientConnection.buffer(length).put(StoreProtocol.MULTI_SET).putLong(keys.size());
            for (int i = 0; i < keys.size(); i++) {
                put(put(request, bytes(keys.get(i))), values.get(i));
            }
            send(connection, request);
            return keys;
        });
    }

    /** {@return the number of keys in the whole store} */
    public long keyCount() {
        return request(connection -> {
            send(connection, StoreClientConnection.buffer(1).put(StoreProtocol.GETNUMKEYS));
            return receiveLong(connection);
        });
    }

    private <T> T request(Function<StoreClientConnection, T> exchange) {
        if (closed) {
            throw new IllegalStateException("closed: " + this);
        }
        StoreClientConnection connection = idle.poll();
        if (connection == null) {
            connection = StoreClientConnection.connect(host, port, StoreClientConnection.ANSWER);
        }
        try {
            T answer = exchange.apply(connection);
            idle.push(connection);
            return answer;
        } catch (RuntimeException e) {
            // What is left of an answer would be taken for the next one.
            connection.close();
            throw e;
        }
    }

    private byte[] bytes(String key) {
        return (prefix + key).getBytes(StandardCharsets.UTF_8);
    }

    private ByteBuffer request(byte opcode, String key, int more) {
        return StoreClientConnection.buffer(1 + Long.BYTES + bytes(key).length + more).put(opcode);
    }

    private ByteBuffer withKeys(byte opcode, List<String> keys) {
        ToIntFunction<String> lengthOf = key -> Long.BYTES + bytes(key).length;
        ByteBuffer request = StoreClientConnection.buffer(1 + Long.BYTES + keys.stream().mapToInt(lengthOf).sum())
                .put(opcode)
                .putLong(keys.size());
        keys.forEach(key -> put(request, bytes(key)));
        return request;
    }

    private static ByteBuffer put(ByteBuffer request, byte[] string) {
        return request.putLong(string.length).put(string);
    }

    private static void send(StoreClientConnection connection, ByteBuffer request) {
        connection.send(request.flip(), answerBy());
    }

    private static long receiveLong(StoreClientConnection connection) {
        return connection.receive(Long.BYTES, answerBy(), "a number").getLong();
    }

    private static byte[] receiveValue(StoreClientConnection connection) {
        long length = receiveLong(connection);
        int limit = StoreLimits.defaults().valueBytes();
        if (length < 0 || length > limit) {
            throw new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + connection.address() + " announces a value of "
                    + Long.toUnsignedString(length) + " bytes; at most " + limit + " are allowed");
        }
        byte[] value = new byte[(int) length];
        connection.receive(value.length, answerBy(), "a value").get(value);
        return value;
    }

    private static long answerBy() {
        return System.nanoTime() + StoreClientConnection.ANSWER.toNanos();
    }

    /** Closes all connections. Closing twice is fine. */
    @Override
    public void close() {
        closed = true;
        for (StoreClientConnection connection = idle.poll(); connection != null; connection = idle.poll()) {
            connection.close();
        }
    }

    @Override
    public String toString() {
        return "TcpStore[" + host + ":" + port + "]";
    }
}
