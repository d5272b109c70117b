package org.symmem.rendezvous;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.symmem.ErrorCode;
import org.symmem.KeyValueStore;
import org.symmem.SymmetricMemoryException;

/**
 * A client of a store in PyTorch's TCPStore protocol: {@link TcpStoreServer}'s or PyTorch's own.
 *
 * <p>Any thread may use it: a request takes an idle connection or opens one, so a thread that waits blocks no other. Methods are
 * local and block until the store has answered, 30 seconds at most, waits apart. Keys are UTF-8, not empty, and at most 4 KiB;
 * values are at most 8 MiB. Owned by whoever connected it.
 *
 * <p>Methods throw {@link SymmetricMemoryException} if the store cannot be reached, breaks off or answers what the protocol does not
 * allow, {@link IllegalArgumentException} for a key or value that a store would refuse, and {@link IllegalStateException} after
 * {@link #close}.
 */
public final class TcpStore implements KeyValueStore, AutoCloseable {
    /** Keys of one request, so that a request stays small however many ranks there are. */
    private static final int KEYS_A_REQUEST = 1024;
    private static final StoreLimits LIMITS = StoreLimits.defaults();

    private final StoreConnections connections;
    private final String prefix;
    private final boolean ownsConnections;

    private TcpStore(StoreConnections connections, String prefix, boolean ownsConnections) {
        this.connections = connections;
        this.prefix = prefix;
        this.ownsConnections = ownsConnections;
    }

    /**
     * Connects, trying again while nobody listens. Blocks until a store has answered.
     *
     * @param host    a name or an address
     * @param port    from 1 to 65535
     * @param timeout how long in all
     * @return the client; the caller closes it
     * @throws SymmetricMemoryException if the host is unknown, nobody listens in time, or what answers is not a store
     */
    public static TcpStore connect(String host, int port, Duration timeout) {
        return connect(host, port, timeout, Optional.empty());
    }

    /**
     * Connects to a store that asks for the job's token, trying again while nobody listens. Blocks until each side has proved to the
     * other that it knows it.
     *
     * @param host    a name or an address
     * @param port    from 1 to 65535
     * @param timeout how long in all
     * @param token   the secret, at least 16 characters
     * @return the client; the caller closes it
     * @throws SymmetricMemoryException if the host is unknown, nobody listens in time, what answers is not a store, or it does not know
     *                                  the token
     */
    public static TcpStore connect(String host, int port, Duration timeout, String token) {
        return connect(host, port, timeout, Optional.of(StoreToken.of(token)));
    }

    static TcpStore connect(String host, int port, Duration timeout, Optional<StoreToken> token) {
        return new TcpStore(StoreConnections.connect(host, port, timeout, token), StoreProtocol.USER_KEY_PREFIX, true);
    }

    /**
     * Says that one more worker is here, as PyTorch's client does when it knows the world size: a server of PyTorch's that was told
     * to wait for its workers waits for that many.
     */
    public void announceWorker() {
        add(StoreProtocol.INIT_KEY.getBytes(StandardCharsets.UTF_8), 1);
    }

    /**
     * A view of this store in which every key has a prefix, as PyTorch's PrefixStore has. Local; shares the connections.
     *
     * @param name the prefix, without a slash
     * @return the view; closing it does nothing, closing this store closes it
     */
    public TcpStore prefixed(String name) {
        return new TcpStore(connections, prefix + name + "/", false);
    }

    /** {@inheritDoc} One round trip, see {@link #store}. */
    @Override
    public void set(String key, byte[] value) {
        byte[] name = bytes(key);
        store("SET " + key, put(put(request(StoreProtocol.SET, name, Long.BYTES + value.length), name), checked(value)));
    }

    /**
     * Sends a request to which the protocol has no answer, and a question behind it, on the same connection: the answer says that the
     * store has served both. Otherwise a rank that is told of the value by another way than this connection might look before it is
     * there, and a store that refuses the value would go unnoticed.
     */
    private void store(String what, ByteBuffer request) {
        request(what, connection -> {
            send(connection, joined(request, StoreClientConnection.buffer(1).put(StoreProtocol.GETNUMKEYS)));
            return receiveLong(connection);
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
        byte[] name = bytes(key);
        return Optional.of(request("GET " + key, connection -> {
            send(connection, put(request(StoreProtocol.GET, name, 0), name));
            return receiveValue(connection);
        }));
    }

    @Override
    public boolean delete(String key) {
        byte[] name = bytes(key);
        return request("DELETE_KEY " + key, connection -> {
            send(connection, put(request(StoreProtocol.DELETE_KEY, name, 0), name));
            return receiveLong(connection) > 0;
        });
    }

    @Override
    public Optional<List<byte[]>> await(List<String> keys, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        List<byte[]> values = new ArrayList<>(keys.size());
        for (List<String> some : parts(keys)) {
            if (!waitUntil(some, deadline)) {
                return Optional.empty();
            }
            values.addAll(multiGet(some));
        }
        return Optional.of(values);
    }

    /** {@inheritDoc} In two round trips for up to 1,024 keys: SET goes with WAIT, and DELETE_KEY with MULTI_GET. */
    @Override
    public Optional<List<byte[]>> exchange(String key, byte[] value, List<String> keys, Optional<String> outworn, Duration timeout) {
        if (keys.size() > KEYS_A_REQUEST) {
            return KeyValueStore.super.exchange(key, value, keys, outworn, timeout);
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        byte[] name = bytes(key);
        ByteBuffer set = put(put(request(StoreProtocol.SET, name, Long.BYTES + value.length), name), checked(value));
        ByteBuffer setAndWait = joined(set, withKeys(StoreProtocol.WAIT, keys));
        return request("SET " + key + " and " + named("WAIT", keys), connection -> {
            send(connection, setAndWait);
            if (!awaited(connection, deadline)) {
                return Optional.empty();
            }
            send(connection, getAndDelete(keys, outworn));
            List<byte[]> values = receiveValues(connection, keys.size());
            if (outworn.isPresent()) {
                receiveLong(connection);
            }
            return Optional.of(values);
        });
    }

    private ByteBuffer getAndDelete(List<String> keys, Optional<String> outworn) {
        ByteBuffer get = withKeys(StoreProtocol.MULTI_GET, keys);
        if (outworn.isEmpty()) {
            return get;
        }
        byte[] old = bytes(outworn.get());
        return joined(get, put(request(StoreProtocol.DELETE_KEY, old, 0), old));
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
        return add(bytes(key), delta);
    }

    private long add(byte[] name, long delta) {
        return request("ADD " + new String(name, StandardCharsets.UTF_8), connection -> {
            send(connection, put(request(StoreProtocol.ADD, name, Long.BYTES), name).putLong(delta));
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
        byte[] name = bytes(key);
        ByteBuffer request = request(StoreProtocol.COMPARE_SET, name, 2 * Long.BYTES + checked(expected).length + checked(desired).length);
        return request("COMPARE_SET " + key, connection -> {
            send(connection, put(put(put(request, name), expected), desired));
            return receiveValue(connection);
        });
    }

    /** Puts bytes behind a value; a missing key counts as empty. Visible to every rank when the call returns. */
    public void append(String key, byte[] more) {
        byte[] name = bytes(key);
        store("APPEND " + key, put(put(request(StoreProtocol.APPEND, name, Long.BYTES + more.length), name), checked(more)));
    }

    /** {@return whether all keys are stored now} */
    public boolean check(List<String> keys) {
        for (List<String> some : parts(keys)) {
            ByteBuffer request = withKeys(StoreProtocol.CHECK, some);
            boolean there = request(named("CHECK", some), connection -> {
                send(connection, request);
                return isReady(connection);
            });
            if (!there) {
                return false;
            }
        }
        return true;
    }

    /**
     * Waits until all keys are stored.
     *
     * @param timeout how long at most
     * @return whether they are; false if the timeout passed first, and the store then waits no more
     */
    public boolean waitFor(List<String> keys, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        for (List<String> some : parts(keys)) {
            if (!waitUntil(some, deadline)) {
                return false;
            }
        }
        return true;
    }

    private boolean waitUntil(List<String> keys, long deadline) {
        ByteBuffer request = withKeys(StoreProtocol.WAIT, keys);
        return request(named("WAIT", keys), connection -> {
            send(connection, request);
            return awaited(connection, deadline);
        });
    }

    /** {@return whether a WAIT that was sent is answered before the deadline; cancels it otherwise} */
    private static boolean awaited(StoreClientConnection connection, long deadline) {
        ByteBuffer answer = StoreClientConnection.buffer(1);
        if (connection.receive(answer, deadline)) {
            return isOne(connection, answer.flip().get(), StoreProtocol.READY);
        }
        send(connection, StoreClientConnection.buffer(1).put(StoreProtocol.CANCEL_WAIT));
        // The keys may have come just before the store read that: then it has answered the wait first.
        boolean came = isReady(connection);
        if (came) {
            isOne(connection, connection.receive(1, answerBy()).get(), StoreProtocol.CANCELED);
        }
        return came;
    }

    /** {@return whether the answer of one byte is the one for "ready", not the one for "not ready" or "cancelled"} */
    private static boolean isReady(StoreClientConnection connection) {
        byte answer = connection.receive(1, answerBy()).get();
        return answer == StoreProtocol.READY || !isOne(connection, answer, StoreProtocol.NOT_READY);
    }

    private static boolean isOne(StoreClientConnection connection, byte answer, byte allowed) {
        if (answer != allowed) {
            throw new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + connection.address() + " answered "
                    + Byte.toUnsignedInt(answer) + " where the protocol has " + allowed + ". Which program serves it?");
        }
        return true;
    }

    /**
     * Reads keys that are known to be stored: a store closes the connection of a client that reads a missing one.
     *
     * @return the values in the order of the keys
     */
    public List<byte[]> multiGet(List<String> keys) {
        List<byte[]> values = new ArrayList<>(keys.size());
        for (List<String> some : parts(keys)) {
            ByteBuffer request = withKeys(StoreProtocol.MULTI_GET, some);
            values.addAll(request(named("MULTI_GET", some), connection -> {
                send(connection, request);
                return receiveValues(connection, some.size());
            }));
        }
        return values;
    }

    private static List<byte[]> receiveValues(StoreClientConnection connection, int number) {
        List<byte[]> values = new ArrayList<>(number);
        for (int i = 0; i < number; i++) {
            values.add(receiveValue(connection));
        }
        return values;
    }

    /**
     * Stores several values, one after the other. Visible to every rank when the call returns.
     *
     * @throws IllegalArgumentException if there are not as many values as keys, or they are more than 65,536 or 32 MiB in all
     */
    public void multiSet(List<String> keys, List<byte[]> values) {
        if (keys.size() != values.size() || keys.size() > LIMITS.keysARequest()) {
            throw new IllegalArgumentException("multiSet with " + keys.size() + " keys and " + values.size()
                    + " values; there must be as many values as keys, at most " + LIMITS.keysARequest());
        }
        long length = 1 + Long.BYTES;
        List<byte[]> names = keys.stream().map(this::bytes).toList();
        for (int i = 0; i < names.size(); i++) {
            length += 2 * Long.BYTES + names.get(i).length + checked(values.get(i)).length;
        }
        if (length > LIMITS.requestBytes()) {
            throw new IllegalArgumentException(
                    "multiSet with " + length + " bytes; a store takes at most " + LIMITS.requestBytes() + " in one request");
        }
        ByteBuffer request = StoreClientConnection.buffer((int) length).put(StoreProtocol.MULTI_SET).putLong(names.size());
        for (int i = 0; i < names.size(); i++) {
            put(put(request, names.get(i)), values.get(i));
        }
        store(named("MULTI_SET", keys), request);
    }

    /** {@return the number of keys in the whole store} */
    public long keyCount() {
        return request("GETNUMKEYS", connection -> {
            send(connection, StoreClientConnection.buffer(1).put(StoreProtocol.GETNUMKEYS));
            return receiveLong(connection);
        });
    }

    private <T> T request(String what, Function<StoreClientConnection, T> exchange) {
        StoreClientConnection connection = connections.borrow();
        try {
            connection.asking(what);
            T answer = exchange.apply(connection);
            connections.giveBack(connection);
            return answer;
        } catch (RuntimeException e) {
            connections.discard(connection);
            // Closing ends requests of other threads; they hear of that rather than of a broken connection.
            connections.ensureOpen();
            throw e;
        }
    }

    private byte[] bytes(String key) {
        byte[] bytes = (prefix + key).getBytes(StandardCharsets.UTF_8);
        if (key.isEmpty() || bytes.length > LIMITS.keyBytes()) {
            throw new IllegalArgumentException("a key of " + bytes.length + " bytes with its prefix " + prefix
                    + "; a store takes keys that are not empty and at most " + LIMITS.keyBytes() + " bytes");
        }
        return bytes;
    }

    private static byte[] checked(byte[] value) {
        if (value.length > LIMITS.valueBytes()) {
            throw new IllegalArgumentException("a value of " + value.length + " bytes; a store takes at most " + LIMITS.valueBytes());
        }
        return value;
    }

    private static List<List<String>> parts(List<String> keys) {
        List<List<String>> parts = new ArrayList<>(1);
        for (int from = 0; from < keys.size(); from += KEYS_A_REQUEST) {
            parts.add(keys.subList(from, Math.min(keys.size(), from + KEYS_A_REQUEST)));
        }
        return parts;
    }

    private static String named(String command, List<String> keys) {
        return keys.isEmpty() ? command : command + " of " + keys.size() + " keys from " + keys.getFirst() + " on";
    }

    private static ByteBuffer request(byte opcode, byte[] key, int more) {
        return StoreClientConnection.buffer(1 + Long.BYTES + key.length + more).put(opcode);
    }

    private ByteBuffer withKeys(byte opcode, List<String> keys) {
        List<byte[]> names = keys.stream().map(this::bytes).toList();
        ByteBuffer request = StoreClientConnection
                .buffer(1 + Long.BYTES + names.stream().mapToInt(name -> Long.BYTES + name.length).sum())
                .put(opcode)
                .putLong(names.size());
        names.forEach(name -> put(request, name));
        return request;
    }

    private static ByteBuffer put(ByteBuffer request, byte[] string) {
        return request.putLong(string.length).put(string);
    }

    private static void send(StoreClientConnection connection, ByteBuffer request) {
        connection.send(request.flip(), answerBy());
    }

    private static long receiveLong(StoreClientConnection connection) {
        return connection.receive(Long.BYTES, answerBy()).getLong();
    }

    private static byte[] receiveValue(StoreClientConnection connection) {
        long length = receiveLong(connection);
        if (length < 0 || length > LIMITS.valueBytes()) {
            throw new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + connection.address() + " announces a value of "
                    + Long.toUnsignedString(length) + " bytes; at most " + LIMITS.valueBytes()
                    + " are allowed. Which program serves it, and what stored that value?");
        }
        byte[] value = new byte[(int) length];
        connection.receive(value.length, answerBy()).get(value);
        return value;
    }

    private static long answerBy() {
        return System.nanoTime() + StoreClientConnection.ANSWER.toNanos();
    }

    /** Closes all connections; requests of other threads end with an {@link IllegalStateException}. Closing twice is fine. */
    @Override
    public void close() {
        if (ownsConnections) {
            connections.close();
        }
    }

    @Override
    public String toString() {
        return connections.toString();
    }
}
