package org.symmem.rendezvous;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.HashSet;
import java.util.Set;
import org.symmem.ErrorCode;
import org.symmem.SymmetricMemoryException;

/**
 * A store that ranks reach over TCP, in PyTorch's TCPStore protocol: PyTorch's own clients can use it too.
 *
 * <p>One thread serves all connections. A connection that is idle, slow or half-open costs its socket and the bytes that really
 * arrived; one that breaks the protocol or a {@link StoreLimits limit} is closed and the others go on. Owned by whoever started
 * it; closing ends all connections.
 */
public final class TcpStoreServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("org.symmem.rendezvous");

    private final ServerSocketChannel listener;
    private final Selector selector;
    private final StoreContents contents;
    private final StoreLimits limits;
    private final Thread thread;
    private final Set<StoreConnection> connections = new HashSet<>();
    private long turnedAway;
    private volatile boolean closing;

    private TcpStoreServer(ServerSocketChannel listener, Selector selector, StoreLimits limits) {
        this.listener = listener;
        this.selector = selector;
        this.limits = limits;
        this.contents = new StoreContents(limits);
        this.thread = Thread.ofPlatform().daemon().name("symmem-store").unstarted(this::serve);
    }

    /**
     * Starts a store.
     *
     * @param address where to listen; port 0 takes a free one. Loopback unless ranks of other hosts must reach it
     * @param limits  what clients may ask for
     * @return the running store; the caller closes it
     * @throws SymmetricMemoryException if the address cannot be listened on
     */
    public static TcpStoreServer start(InetSocketAddress address, StoreLimits limits) {
        try {
            ServerSocketChannel listener = ServerSocketChannel.open();
            try {
                // A port whose last connections still linger in the kernel may be taken at once.
                listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                listener.bind(address, 4096);
                listener.configureBlocking(false);
                Selector selector = Selector.open();
                listener.register(selector, SelectionKey.OP_ACCEPT);
                TcpStoreServer server = new TcpStoreServer(listener, selector, limits);
                server.thread.start();
                return server;
            } catch (IOException | RuntimeException e) {
                listener.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            throw new SymmetricMemoryException(ErrorCode.STORE_LISTEN,
                    "the store cannot listen on " + address.getHostString() + ":" + address.getPort() + ": " + e.getMessage()
                            + ". Choose another MASTER_PORT, or end the program that has this one",
                    e);
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
        ByteBuffer scratch = ByteBuffer.allocateDirect(64 * 1024);
        while (!closing) {
            try {
                selector.select(key -> {
                    if (key.isValid() && key.isAcceptable()) {
                        accept();
                    } else if (key.attachment() instanceof StoreConnection connection) {
                        serve(connection, key, scratch);
                    }
                });
            } catch (IOException e) {
                LOG.log(Level.WARNING, "the store's selector failed once and is tried again", e);
            }
        }
    }

    private void accept() {
        try {
            SocketChannel channel = listener.accept();
            if (channel == null) {
                return;
            }
            if (connections.size() >= limits.connections()) {
                channel.close();
                LOG.log(Level.WARNING, "the store has {0} connections and takes no more", connections.size());
                return;
            }
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            StoreConnection connection = new StoreConnection(channel, key, contents, limits);
            key.attach(connection);
            connections.add(connection);
        } catch (IOException e) {
            // Out of descriptors, most likely; those who are connected go on being served.
            LOG.log(Level.WARNING, "the store could not take a connection: {0}", e.getMessage());
            Thread.onSpinWait();
        }
    }

    private void serve(StoreConnection connection, SelectionKey key, ByteBuffer scratch) {
        try {
            if (key.isValid() && key.isWritable()) {
                connection.resume();
            }
            if (key.isValid() && key.isReadable() && !connection.read(scratch)) {
                drop(connection);
            }
        } catch (StoreRequest.Violation e) {
            // Whoever sends garbage may send much of it: the log must not fill up.
            LOG.log(turnedAway++ < 10 ? Level.WARNING : Level.DEBUG, "the store closes the connection from {0}: {1}", connection,
                    e.getMessage());
            drop(connection);
        } catch (IOException e) {
            drop(connection);
        }
    }

    private void drop(StoreConnection connection) {
        connections.remove(connection);
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
