package org.symmem.rendezvous;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;
import org.symmem.spi.Closers;

/**
 * A store that ranks reach over TCP, in PyTorch's TCPStore protocol: PyTorch's own clients can use it too.
 *
 * <p>One thread serves all connections. A connection that is idle, slow or half-open costs its socket and the bytes that really
 * arrived; one that breaks the protocol or a {@link StoreLimits limit} is closed and the others go on. Owned by whoever started
 * it; closing ends all connections.
 */
public final class TcpStoreServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("org.symmem.rendezvous");

    /** How long it takes no new clients after the system refused to give it one more socket. */
    private static final long ACCEPT_PAUSE_MILLIS = 200;

    private final ServerSocketChannel listener;
    private final Selector selector;
    private final StoreContents contents;
    private final StoreLimits limits;
    private final Thread thread;
    private final StoreConnection.Buffers buffers = StoreConnection.Buffers.allocate();
    private final Optional<StoreToken> token;
    private final Set<StoreConnection> connections = new HashSet<>();
    /** Those who have not greeted, the oldest first. */
    private final SequencedSet<StoreConnection> strangers = new LinkedHashSet<>();
    private long complaints;
    private volatile boolean closing;

    private TcpStoreServer(ServerSocketChannel listener, Selector selector, StoreLimits limits, Optional<StoreToken> token) {
        this.token = token;
        this.listener = listener;
        this.selector = selector;
        this.limits = limits;
        this.contents = new StoreContents(limits);
        this.thread = Thread.ofPlatform().daemon().name("symmem-store").unstarted(this::serve);
    }

    /**
     * Starts a store for whoever reaches it. Local; returns when it listens.
     *
     * @param address where to listen; port 0 takes a free one. Loopback unless ranks of other hosts must reach it
     * @param limits  what clients may ask for
     * @return the running store; the caller closes it
     * @throws SymmetricMemoryException if the address cannot be listened on
     */
    public static TcpStoreServer start(InetSocketAddress address, StoreLimits limits) {
        return start(address, limits, Optional.empty());
    }

    /**
     * Starts a store for clients that know the job's token, which PyTorch's do not. Local; returns when it listens.
     *
     * @param address where to listen; port 0 takes a free one
     * @param limits  what clients may ask for
     * @param token   the secret, at least 16 characters
     * @return the running store; the caller closes it
     * @throws SymmetricMemoryException if the token is too short, or the address cannot be listened on
     */
    public static TcpStoreServer start(InetSocketAddress address, StoreLimits limits, String token) {
        return start(address, limits, Optional.of(StoreToken.of(token)));
    }

    static TcpStoreServer start(InetSocketAddress address, StoreLimits limits, Optional<StoreToken> token) {
        Closers closers = new Closers();
        try {
            if (address.isUnresolved()) {
                throw new UnknownHostException("the host name cannot be resolved");
            }
            ServerSocketChannel listener = closers.add(ServerSocketChannel.open());
            // A port whose last connections still linger in the kernel may be taken at once.
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.bind(address, 4096);
            listener.configureBlocking(false);
            Selector selector = closers.add(Selector.open());
            TcpStoreServer server = new TcpStoreServer(listener, selector, limits, token);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            server.thread.start();
            return server;
        } catch (IOException | RuntimeException e) {
            SymmetricMemoryException error = new SymmetricMemoryException(ErrorCode.STORE_LISTEN,
                    "the store cannot listen on " + address.getHostString() + ":" + address.getPort() + ": " + e.getMessage()
                            + ". If another program has this port, choose another MASTER_PORT or end that program; if this host does not have"
                            + " this address (MASTER_ADDR, unless told otherwise), name one that it has by " + Settings.LISTEN_PROPERTY
                            + " or " + Settings.LISTEN_VARIABLE,
                    e);
            closers.closeBecauseOf(error);
            throw error;
        }
    }

    /** {@return the port that it listens on} */
    public int port() {
        try {
            return ((InetSocketAddress) listener.getLocalAddress()).getPort();
        } catch (IOException e) {
            throw new IllegalStateException("closed: TcpStoreServer", e);
        }
    }

    private void serve() {
        SelectionKey accepting = listener.keyFor(selector);
        while (!closing) {
            try {
                boolean pausing = accepting.interestOps() == 0;
                selector.select(key -> {
                    if (key.attachment() instanceof StoreConnection connection) {
                        serve(connection, key);
                    } else if (key.isValid() && key.isAcceptable()) {
                        accept(key);
                    }
                }, pausing ? ACCEPT_PAUSE_MILLIS : 0);
                if (pausing) {
                    accepting.interestOps(SelectionKey.OP_ACCEPT);
                }
            } catch (IOException e) {
                complain("the store's selector failed once and is tried again: " + e.getMessage());
            }
        }
    }

    private void accept(SelectionKey accepting) {
        try {
            SocketChannel channel = listener.accept();
            if (channel == null) {
                return;
            }
            if (connections.size() >= limits.connections() && !dropSilent()) {
                channel.close();
                complain("the store has " + connections.size() + " connections and takes no more");
                return;
            }
            welcome(channel);
        } catch (IOException e) {
            // Out of descriptors, most likely, and the next try would fail too: those who are connected go on being served.
            accepting.interestOps(0);
            complain("the store could not take a connection: " + e.getMessage());
        }
    }

    /** {@return whether there is room now, since one that has connected and never greeted was given up} */
    private boolean dropSilent() {
        if (strangers.isEmpty() || System.nanoTime() - strangers.getFirst().since() < limits.greeting().toNanos()) {
            return false;
        }
        drop(strangers.getFirst());
        return true;
    }

    private void welcome(SocketChannel channel) throws IOException {
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            // So that the kernel ends a connection whose other host is gone without a word.
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            StoreConnection connection = new StoreConnection(channel, key, contents, limits, token, buffers);
            key.attach(connection);
            connections.add(connection);
            strangers.add(connection);
        } catch (IOException e) {
            channel.close();
        }
    }

    /** Gives one connection one turn: a bounded read or write, so that nobody is kept waiting by another. */
    private void serve(StoreConnection connection, SelectionKey key) {
        try {
            if (key.isValid() && key.isWritable()) {
                connection.resume();
            } else if (key.isValid() && key.isReadable() && !connection.read()) {
                drop(connection);
            }
            if (connection.hasGreeted()) {
                strangers.remove(connection);
            }
        } catch (StoreRequest.Violation e) {
            complain("the store closes the connection from " + connection + ": " + e.getMessage());
            drop(connection);
        } catch (IOException e) {
            drop(connection);
        } catch (RuntimeException | OutOfMemoryError e) {
            // One client's request must not end the store for all; the trace says what to repair.
            LOG.log(Level.ERROR, "the store closes the connection from " + connection + ", which it could not serve", e);
            drop(connection);
        }
    }

    /** Whoever sends garbage may send much of it: the log must not fill up. */
    private void complain(String what) {
        LOG.log(complaints++ < 10 ? Level.WARNING : Level.DEBUG, what);
    }

    private void drop(StoreConnection connection) {
        connections.remove(connection);
        strangers.remove(connection);
        connection.close();
    }

    /** Ends all connections and frees the port. Closing twice is fine. */
    @Override
    public void close() {
        closing = true;
        selector.wakeup();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        connections.forEach(StoreConnection::close);
        connections.clear();
        try {
            listener.close();
            selector.close();
        } catch (IOException e) {
            LOG.log(Level.WARNING, "closing the store's listener failed", e);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
