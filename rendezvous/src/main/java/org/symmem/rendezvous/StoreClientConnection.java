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
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Closers;

/** One connection of a client to a store. Every read and write has a deadline. Used by one thread at a time. */
final class StoreClientConnection implements AutoCloseable {
    /** How long an answer may take that the store gives without waiting for anybody. */
    static final Duration ANSWER = Duration.ofSeconds(30);

    /** How often it looks for an answer before it sleeps: most answers come sooner than a sleeper is woken. */
    private static final int LOOKS = 20;
    private static final int ARRIVED_BYTES = 16 << 10;

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final String address;
    /** What has come and was not asked for yet: answers are many short pieces, and a system call for each would cost most of a step. */
    private final ByteBuffer arrived = ByteBuffer.allocate(ARRIVED_BYTES).flip();
    private String asking = "the connection";

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
    static StoreClientConnection connect(String host, int port, Duration timeout, Optional<StoreToken> token) {
        InetSocketAddress target = resolve(host, port);
        long start = System.nanoTime();
        long deadline = start + timeout.toNanos();
        long pauseNanos = 5_000_000;
        while (true) {
            try {
                return open(target, host + ":" + port, deadline, token);
            } catch (ConnectException e) {
                // Ranks start at different times: the one that serves the store may come later.
                if (System.nanoTime() + pauseNanos - deadline >= 0) {
                    throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE, "nobody listens on " + host + ":" + port
                            + ", tried for " + sinceMillis(start) + " ms of " + timeout.toMillis()
                            + ". Is rank 0 (or the launcher's agent) running, and are MASTER_ADDR and MASTER_PORT the same on all ranks?",
                            e);
                }
                if (Thread.currentThread().isInterrupted()) {
                    throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                            "interrupted while trying to reach the store on " + host + ":" + port, e);
                }
                LockSupport.parkNanos(pauseNanos);
                pauseNanos = Math.min(pauseNanos * 2, 200_000_000);
            } catch (IOException e) {
                throw unreachable(host, port, start, e);
            }
        }
    }

    /** Opens one more connection to a store that has answered before, so that nobody listening means that it has ended. */
    static StoreClientConnection connectAgain(String host, int port, Optional<StoreToken> token) {
        long start = System.nanoTime();
        try {
            return open(resolve(host, port), host + ":" + port, start + ANSWER.toNanos(), token);
        } catch (ConnectException e) {
            throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE, "nobody listens on " + host + ":" + port
                    + " any more. The process that served the store (rank 0, or the launcher's agent) has probably ended; see its output",
                    e);
        } catch (IOException e) {
            throw unreachable(host, port, start, e);
        }
    }

    private static InetSocketAddress resolve(String host, int port) {
        InetSocketAddress target = new InetSocketAddress(host, port);
        if (target.isUnresolved()) {
            throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                    "the store's host name \"" + host + "\" cannot be resolved. Correct MASTER_ADDR, or the host's name service");
        }
        return target;
    }

    private static SymmetricMemoryException unreachable(String host, int port, long start, IOException e) {
        return new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                "the store on " + host + ":" + port + " cannot be reached, tried for "
                        + sinceMillis(start) + " ms: " + e.getMessage() + ". Check MASTER_ADDR, MASTER_PORT and the network",
                e);
    }

    private static long sinceMillis(long start) {
        return (System.nanoTime() - start) / 1_000_000;
    }

    private static StoreClientConnection open(InetSocketAddress target, String address, long deadline, Optional<StoreToken> token)
            throws IOException {
        Closers closers = new Closers();
        try {
            SocketChannel channel = closers.add(SocketChannel.open());
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            Selector selector = closers.add(Selector.open());
            SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT);
            StoreClientConnection connection = new StoreClientConnection(channel, selector, key, address);
            if (!channel.connect(target)) {
                while (!channel.finishConnect()) {
                    connection.ready(SelectionKey.OP_CONNECT, deadline, "the connection");
                }
            }
            if (channel.getLocalAddress().equals(channel.getRemoteAddress())) {
                // The system gave this socket the very port that it was to reach, and TCP connects a socket to itself then.
                throw new ConnectException("only this socket itself is on the port");
            }
            connection.greet(deadline, token);
            return connection;
        } catch (IOException | RuntimeException e) {
            closers.closeBecauseOf(e);
            throw e;
        }
    }

    private void greet(long deadline, Optional<StoreToken> token) {
        long start = System.nanoTime();
        int nonce = (int) ProcessHandle.current().pid();
        long answerBy = Math.min(deadline - start, ANSWER.toNanos()) + start;
        asking("a greeting");
        int answer;
        try {
            ByteBuffer greeting = buffer(64).put(StoreProtocol.VALIDATE).putInt(StoreProtocol.MAGIC);
            if (token.isPresent()) {
                authenticate(token.get(), greeting, answerBy);
                greeting.clear();
            }
            send(greeting.put(StoreProtocol.PING).putInt(nonce).flip(), answerBy);
            answer = receive(Integer.BYTES, answerBy).getInt();
        } catch (SymmetricMemoryException e) {
            throw e.code() == ErrorCode.SETTING ? e
                    : noStore(start, "it gives no answer, or closes the connection. " + (token.isPresent()
                            ? "Perhaps it knows no job token, or another (" + StoreToken.VARIABLE + ")"
                            : "Perhaps it asks for a job token (" + StoreToken.VARIABLE + "), which this process does not have"), e);
        }
        if (answer != nonce) {
            throw noStore(start, "it answers in another protocol", null);
        }
    }

    /** Each side proves to the other that it knows the token; whoever has taken the port of a store cannot. */
    private void authenticate(StoreToken token, ByteBuffer greeting, long answerBy) {
        byte[] own = StoreToken.newNumber();
        send(greeting.put(StoreProtocol.AUTHENTICATE).putLong(own.length).put(own).flip(), answerBy);
        ByteBuffer answer = receive(Long.BYTES + StoreToken.NUMBER_BYTES + StoreToken.PROOF_BYTES, answerBy);
        byte[] theirs = new byte[StoreToken.NUMBER_BYTES];
        byte[] proof = new byte[StoreToken.PROOF_BYTES];
        long length = answer.getLong();
        answer.get(theirs).get(proof);
        if (length != theirs.length + proof.length || !token.proves(proof, StoreToken.Side.STORE, own, theirs)) {
            throw new SymmetricMemoryException(ErrorCode.SETTING,
                    "what listens on " + address + " does not know the job token of this process ("
                            + StoreToken.VARIABLE + "). Give all ranks, and the launcher that serves the store, the same");
        }
        byte[] ownProof = token.proof(StoreToken.Side.CLIENT, own, theirs);
        send(buffer(1 + Long.BYTES + ownProof.length).put(StoreProtocol.AUTHENTICATE).putLong(ownProof.length).put(ownProof).flip(),
                answerBy);
        if (receive(1, answerBy).get() != StoreProtocol.READY) {
            throw new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + address + " did not accept the job token");
        }
    }

    private SymmetricMemoryException noStore(long start, String how, @Nullable Throwable cause) {
        return new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                "what listens on " + address + " does not answer a greeting as a store does, after " + sinceMillis(start) + " ms: " + how
                        + ". Is another program on MASTER_PORT?",
                cause);
    }

    /** {@return an empty buffer for a request} */
    static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** @param what is asked from now on, for errors */
    void asking(String what) {
        asking = what;
    }

    void send(ByteBuffer request, long deadline) {
        try {
            while (request.hasRemaining()) {
                if (channel.write(request) == 0) {
                    ready(SelectionKey.OP_WRITE, deadline, "the store to take a request");
                }
            }
        } catch (IOException e) {
            throw broken(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * @param length how many bytes
     * @return exactly these bytes
     * @throws SymmetricMemoryException if the store closes, or the deadline passes, before they are there
     */
    ByteBuffer receive(int length, long deadline) {
        ByteBuffer answer = buffer(length);
        long start = System.nanoTime();
        if (!receive(answer, deadline)) {
            throw new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + address + " did not answer " + asking
                    + " within "
                    + sinceMillis(start) + " ms: " + answer.position() + " of " + length
                    + " bytes came. The process that serves it (rank 0, or the launcher's agent) is stopped or overloaded, or the network is broken");
        }
        return answer.flip();
    }

    /** {@return whether the buffer is full before the deadline} */
    boolean receive(ByteBuffer answer, long deadline) {
        try {
            int looks = 0;
            takeArrived(answer);
            while (answer.hasRemaining()) {
                int read = readSome(answer);
                if (read < 0) {
                    throw broken("it closed the connection", null);
                }
                if (read == 0 && looks++ < LOOKS) {
                    Thread.yield();
                } else if (read == 0 && !readyBy(SelectionKey.OP_READ, deadline)) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw broken(String.valueOf(e.getMessage()), e);
        }
    }

    private int readSome(ByteBuffer answer) throws IOException {
        if (answer.remaining() >= ARRIVED_BYTES) {
            return channel.read(answer);
        }
        int read = channel.read(arrived.clear());
        arrived.flip();
        takeArrived(answer);
        return read;
    }

    private void takeArrived(ByteBuffer answer) {
        int length = Math.min(answer.remaining(), arrived.remaining());
        answer.put(arrived.slice(arrived.position(), length));
        arrived.position(arrived.position() + length);
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
            throw new SymmetricMemoryException(ErrorCode.STORE_UNREACHABLE,
                    "interrupted while the store on " + address + " was asked for " + asking);
        }
        return true;
    }

    private SymmetricMemoryException broken(String why, @Nullable Throwable cause) {
        return new SymmetricMemoryException(ErrorCode.STORE_PROTOCOL, "the store on " + address + " broke off during " + asking + ": " + why
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
