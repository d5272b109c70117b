package org.symmem.rendezvous;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/** One connection of a client to a store. Every read and write has a deadline. One request at a time. */
final class StoreClientConnection implements AutoCloseable {
    /** How long an answer may take that the store gives without waiting for anybody. */
    static final Duration ANSWER = Duration.ofSeconds(30);

    /** How often it looks for an answer before it sleeps: most answers come sooner than a sleeper is woken. */
    private static final int LOOKS = 20;

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final String address;

    private StoreClientConnection(SocketChannel channel, Selector selector, SelectionKey key, String address) {
        this.channel = channel;
        this.selector = selector;
        this.key = key;
        this.address = address;
    }

    /**
     * Connects, trying again while nobody listens, and makes sure that a store answers.
     *
     * @param timeout how long in all
     */
    static StoreClientConnection connect(String host, int port, Duration timeout) {
        String address = host + ":" + port;
        InetSocketAddress target = new InetSocketAddress(host, port);
        if (target.isUnresolved()) {
            throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                    "the store's host name \"" + host + "\" cannot be resolved. Correct MASTER_ADDR, or the host's name service");
        }
        long deadline = System.nanoTime() + timeout.toNanos();
        long pauseNanos = 5_000_000;
        while (true) {
            try {
                StoreClientConnection connection = open(target, address, deadline);
                connection.greet(deadline);
                return connection;
            } catch (ConnectException e) {
                // Ranks start at different times: the one that serves the store may come later.
                if (System.nanoTime() + pauseNanos >= deadline) {
                    throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE, "nobody listens on " + address + ", tried for "
                            + timeout.toMillis()
                            + " ms. Is rank 0 (or the launcher's agent) running, and are MASTER_ADDR and MASTER_PORT the same on all ranks?",
                            e);
                }
                LockSupport.parkNanos(pauseNanos);
                pauseNanos = Math.min(pauseNanos * 2, 200_000_000);
            } catch (IOException e) {
                throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE, "the store on " + address + " cannot be reached: "
                        + e.getMessage() + ". Check MASTER_ADDR, MASTER_PORT and the network", e);
            }
        }
    }

    private static StoreClientConnection open(InetSocketAddress target, String address, long deadline) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            Selector selector = Selector.open();
            try {
                SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
                StoreClientConnection connection = new StoreClientConnection(channel, selector, key, address);
                if (!channel.connect(target)) {
                    while (!channel.finishConnect()) {
                        connection.ready(SelectionKey.OP_CONNECT, deadline, "the connection");
                    }
                }
                return connection;
            } catch (IOException | RuntimeException e) {
                selector.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private void greet(long deadline) throws IOException {
        int nonce = (int) ProcessHandle.current().pid();
        long answerBy = Math.min(deadline, System.nanoTime() + ANSWER.toNanos());
        try {
            send(buffer(2 + 2 * Integer.BYTES).put(StoreProtocol.VALIDATE)
                    .putInt(StoreProtocol.MAGIC)
                    .put(StoreProtocol.PING)
                    .putInt(nonce)
                    .flip(), answerBy);
            int answer = receive(Integer.BYTES, answerBy, "the answer to the greeting").getInt();
            if (answer != nonce) {
                throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                        "what answers on " + address + " is not a store of this protocol. Is another program on MASTER_PORT?");
            }
        } catch (SymmetricMemoryException e) {
            close();
            if (e.code().equals(ErrorCode.STORE_PROTOCOL)) {
                throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                        "what listens on " + address + " does not answer as a store does. Is another program on MASTER_PORT?", e);
            }
            throw e;
        }
    }

    /** {@return an empty buffer for a request} */
    static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    void send(ByteBuffer request, long deadline) {
        try {
            while (request.hasRemaining()) {
                if (channel.write(request) == 0) {
                    ready(SelectionKey.OP_WRITE, deadline, "that the store takes a request");
                }
            }
        } catch (IOException e) {
            throw broken("a request", e.getMessage(), e);
        }
    }

    /**
     * @param length how many bytes
     * @param what   they are, for errors
     * @return exactly these bytes
     * @throws SymmetricMemoryException if the store closes, or the deadline passes, before they are there
     */
    ByteBuffer receive(int length, long deadline, String what) {
        ByteBuffer answer = buffer(length);
        if (!receive(answer, deadline)) {
            throw new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + address + " did not send " + what + " in time: "
                    + answer.position() + " of " + length + " bytes came");
        }
        return answer.flip();
    }

    /** {@return whether the buffer is full before the deadline} */
    boolean receive(ByteBuffer answer, long deadline) {
        try {
            int looks = 0;
            while (answer.hasRemaining()) {
                int read = channel.read(answer);
                if (read < 0) {
                    throw broken("an answer", "it closed the connection", null);
                }
                if (read == 0 && looks++ < LOOKS) {
                    Thread.yield();
                } else if (read == 0 && !readyBy(SelectionKey.OP_READ, deadline)) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw broken("an answer", e.getMessage(), e);
        }
    }

    private void ready(int operation, long deadline, String what) throws IOException {
        if (!readyBy(operation, deadline)) {
            throw new IOException("waited in vain for " + what);
        }
    }

    private boolean readyBy(int operation, long deadline) throws IOException {
        long leftNanos = deadline - System.nanoTime();
        if (leftNanos <= 0) {
            return false;
        }
        key.interestOps(operation);
        selector.select(leftNanos / 1_000_000 + 1);
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw new IOException("interrupted");
        }
        return true;
    }

    private SymmetricMemoryException broken(String during, String why, @org.jspecify.annotations.Nullable Throwable cause) {
        return new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + address + " broke off during " + during + ": " + why
                + ". The process that serves it (rank 0, or the launcher's agent) has probably ended; see its output", cause);
    }

    String address() {
        return address;
    }

    @Override
    public void close() {
        try {
            channel.close();
            selector.close();
        } catch (IOException e) {
            // Nothing is lost: the connection is over either way.
        }
    }
}
